import { StatusBadge } from "#components/board/status-badge";
import type { MarketStatus } from "#lib/contract/status";

/** What the live venue is fed by, and the state of its markets. */
export interface LiveVenueState {
  /** Slug of the bound provider, null where none is. */
  readonly provider: string | null;
  readonly statuses: readonly MarketStatus[];
}

const NEXT = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** When the calendar turns next; nothing where that is unknown or never. */
function NextTurn({ status: { calendar_state, next_open_at, next_close_at } }: { status: MarketStatus }) {
  const isOpen = calendar_state === "open";
  const at = isOpen ? next_close_at : next_open_at;
  if (at === null) return null;
  return (
    <time dateTime={at} title={at}>
      {isOpen ? "closes" : "opens"} {NEXT.format(new Date(at))} UTC
    </time>
  );
}

/** The live venue in a few lines, honest about a missing provider. */
export function LiveVenue({ provider, statuses }: LiveVenueState) {
  return (
    <div className="mt-8">
      <h2 className="font-medium">Live venue</h2>
      <p className="mt-1 text-ink-soft text-sm">
        {provider === null ? (
          <>
            No provider is bound. Set <code className="font-mono">LIVE_FEED</code> and restart to bring your own feed.
          </>
        ) : (
          <>
            Fed by <code className="font-mono">{provider}</code>.
          </>
        )}
      </p>
      <ul className="mt-3 divide-y divide-line rounded-lg border border-line bg-surface text-sm">
        {statuses.map((status) => (
          <li key={status.ticker} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 py-2.5">
            <span className="font-medium font-mono">{status.ticker}</span>
            <span className="ml-auto text-ink-faint">
              <NextTurn status={status} />
            </span>
            <StatusBadge state={status.final_display_state} reason={status.reason} />
          </li>
        ))}
      </ul>
    </div>
  );
}
