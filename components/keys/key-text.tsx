import type { PortalKey } from "#lib/contract/portal";
import { Countdown, Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";

const TONES: Record<PortalKey["state"], Tone> = { active: "positive", grace: "warning", expired: "neutral", revoked: "neutral" };
const WORDS: Record<PortalKey["state"], string> = { active: "Active", grace: "In grace", expired: "Expired", revoked: "Revoked" };

/** What is left of a key's text: its beginning and end. */
export function KeyMark({ apiKey: { prefix, last4 } }: { apiKey: Pick<PortalKey, "prefix" | "last4"> }) {
  return (
    <span className="whitespace-nowrap font-mono text-[13px] text-ink-soft">
      {prefix}…{last4}
    </span>
  );
}

/** The state of a key, with what is left of its grace running down. */
export function KeyState({ apiKey: { state, grace_until } }: { apiKey: Pick<PortalKey, "state" | "grace_until"> }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge tone={TONES[state]}>{WORDS[state]}</Badge>
      {state === "grace" && grace_until !== null ? (
        <span className="text-warning text-xs">
          <Countdown until={grace_until} /> left
        </span>
      ) : null}
    </span>
  );
}

/** When a key was used last, and from which network. */
export function LastUsed({ apiKey }: { apiKey: Pick<PortalKey, "last_used_at" | "last_used_address"> }) {
  if (apiKey.last_used_at === null) return <span className="text-ink-faint">Never</span>;
  return (
    <>
      <Instant at={apiKey.last_used_at} />
      <span className="block text-ink-faint text-xs">{apiKey.last_used_address ?? ""}</span>
    </>
  );
}

/** Live or test, in the words of the key's own text. */
export const VENUE_WORDS: Record<PortalKey["venue"], string> = { live: "Live", sandbox: "Test" };
