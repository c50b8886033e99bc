import type { PortalKey } from "#lib/contract/portal";
import { Countdown, Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";

const TONES: Record<PortalKey["state"], Tone> = {
  scheduled: "neutral",
  active: "positive",
  grace: "warning",
  expired: "neutral",
  revoked: "neutral",
};
const WORDS: Record<PortalKey["state"], string> = {
  scheduled: "Scheduled",
  active: "Active",
  grace: "Grace period",
  expired: "Expired",
  revoked: "Revoked",
};

/** The stored parts of a key: its start and end. */
export function KeyMark({ apiKey: { prefix, last4 } }: { apiKey: Pick<PortalKey, "prefix" | "last4"> }) {
  return (
    // On the narrowest phones it may break, so that what follows it in a row stays within reach.
    <span className="font-mono text-[13px] text-ink-soft [overflow-wrap:anywhere] min-[360px]:whitespace-nowrap">
      {prefix}…{last4}
    </span>
  );
}

type Ending = Pick<PortalKey, "state" | "not_before" | "grace_until" | "expires_at" | "expires_soon" | "revoked_at">;

/** The word and the time of the next or last change of a key. */
function turnOf({ state, not_before, expires_at, revoked_at }: Ending): readonly [string, string | null] {
  if (state === "scheduled") return ["from", not_before];
  if (state === "revoked") return ["on", revoked_at];
  return [state === "expired" ? "on" : "until", expires_at];
}

/** The state of a key, and when it begins or ends, with a countdown during its grace period. */
export function KeyState({ apiKey }: { apiKey: Ending }) {
  const { state, grace_until, expires_soon } = apiKey;
  const [word, at] = turnOf(apiKey);
  return (
    <>
      <Badge tone={expires_soon ? "warning" : TONES[state]}>{expires_soon ? "Expires soon" : WORDS[state]}</Badge>
      {state === "grace" && grace_until !== null ? (
        <span className="mt-1 block whitespace-nowrap text-warning text-xs leading-5">
          <Countdown until={grace_until} /> left
        </span>
      ) : at === null ? null : (
        <span className="mt-1 block whitespace-nowrap text-ink-faint text-xs leading-5">
          {word} <Instant at={at} to="day" />
        </span>
      )}
    </>
  );
}

/**
 * A key by its name, followed by its stored parts to tell it from others of that name; a deleted key by the start of its id.
 */
export function keyName(keys: readonly PortalKey[], id: string): string {
  const key = keys.find((one) => one.id === id);
  if (key === undefined) return id === "demo" ? "Demo key" : `Key ${id.slice(0, 8)}`;
  const alone = keys.every(({ name }, index) => name !== key.name || keys[index] === key);
  return alone ? key.name : `${key.name} (${key.prefix}…${key.last4})`;
}

type Used = Pick<PortalKey, "last_used_at" | "last_used_address" | "refused_at" | "refused_address">;

/** When a key was last used, and from which network; of a key that ended, when somebody tried to use it. */
export function LastUsed({ apiKey: { last_used_at, last_used_address, refused_at, refused_address } }: { apiKey: Used }) {
  const at = refused_at ?? last_used_at;
  if (at === null) return <span className="text-ink-faint">Never</span>;
  return (
    <>
      <Instant at={at} />
      <span className="block text-ink-faint text-xs leading-5">{refused_at === null ? last_used_address : refused_address}</span>
      {refused_at === null ? null : <span className="block text-warning text-xs leading-5">Rejected</span>}
    </>
  );
}

/** Live or test, as in the key's own text. */
export const VENUE_WORDS: Record<PortalKey["venue"], string> = { live: "Live", sandbox: "Sandbox" };
