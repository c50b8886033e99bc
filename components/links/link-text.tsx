import type { LinkInfo } from "#lib/contract/portal-links";
import { KeyMark, VENUE_WORDS } from "../keys/key-text";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { MiddleCut } from "../ui/middle-cut";
import type { Column } from "../ui/table";

const STATES: Readonly<Record<LinkInfo["state"], { readonly tone: Tone; readonly word: string }>> = {
  active: { tone: "positive", word: "Active" },
  expired: { tone: "neutral", word: "Expired" },
  no_key: { tone: "danger", word: "Key not usable" },
};

/** The columns of a table of links. */
export const LINK_COLUMNS: readonly Column<LinkInfo>[] = [
  {
    head: "Name",
    grow: true,
    cell: ({ name, operation, query }) => (
      <>
        <span className="line-clamp-2 font-medium leading-5 [overflow-wrap:anywhere]">{name}</span>
        <code className="line-clamp-2 break-all font-mono text-ink-soft text-xs leading-5" title={`${operation}?${query}`}>
          {operation}?{decodeURIComponent(query)}
        </code>
      </>
    ),
  },
  {
    head: "Key",
    from: "md",
    cell: ({ key_name, key_prefix, key_last4, venue }) => (
      <>
        <div className="max-w-40">
          <MiddleCut text={key_name} />
        </div>
        <KeyMark apiKey={{ prefix: key_prefix, last4: key_last4 }} />
        <span className="block text-ink-faint text-xs leading-5">{VENUE_WORDS[venue]}</span>
      </>
    ),
  },
  {
    head: "Last used",
    from: "lg",
    cell: ({ last_used_at, last_used_address }) =>
      last_used_at === null ? (
        <span className="text-ink-faint">Never</span>
      ) : (
        <>
          <Instant at={last_used_at} />
          <span className="block text-ink-faint text-xs leading-5">{last_used_address}</span>
        </>
      ),
  },
  {
    head: "State",
    cell: ({ state, expires_at }) => (
      <>
        <Badge tone={STATES[state].tone}>{STATES[state].word}</Badge>
        <span className="mt-1 block whitespace-nowrap text-ink-faint text-xs leading-5">
          {state === "expired" ? "on" : "until"} <Instant at={expires_at} to="day" />
        </span>
      </>
    ),
  },
];
