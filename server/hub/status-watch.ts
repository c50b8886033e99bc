import type { Clock } from "#lib/clock";
import { STREAM_HEARTBEAT_INTERVAL_S } from "#lib/contract/limits";
import type { MarketStatus } from "#lib/contract/status";
import type { QuietTicker } from "#lib/contract/stream";
import type { Market } from "#lib/market/ports";
import { statusAt } from "#lib/market/status";
import { repeat } from "#lib/repeat";
import type { Hub } from "./hub";
import { sharedOf } from "./outgoing";

/** Interval at which the status of subscribed tickers is checked. */
const CHECK_INTERVAL_MS = 250;

/** Watches the market status of subscribed tickers in one venue, and notifies their subscribers of changes. */
export interface StatusWatch {
  /**
   * Why a ticker delivers no records now; undefined when its market is open and quoted, or when it is not listed.
   * Subscribers of the ticker are notified of later changes.
   */
  quiet(ticker: string): QuietTicker | undefined;
  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface StatusWatchOptions {
  market: Market;
  hub: Hub;
  clock: Clock;
}

/** The fields of a status that matter for a change, as text. */
function signature({ updated_at: _, ...rest }: MarketStatus): string {
  return JSON.stringify(rest);
}

/** Creates the watch of one venue. */
export function createStatusWatch({ market, hub, clock }: StatusWatchOptions): StatusWatch {
  /** The status of each ticker that its subscribers were last sent. */
  let known = new Map<string, string>();
  /** Cache of answers since the last check: many connections ask for the same tickers at once. */
  const answered = new Map<string, QuietTicker | undefined>();

  function statusOf(ticker: string): MarketStatus | undefined {
    const listing = market.catalogue.find(ticker);
    return listing && statusAt({ market, nowMs: clock.now() }, listing);
  }

  function look(): void {
    const seen = new Map<string, string>();
    for (const ticker of hub.tickers()) {
      const status = statusOf(ticker);
      if (status === undefined) continue;
      const now = signature(status);
      seen.set(ticker, now);
      const before = known.get(ticker);
      if (before !== undefined && before !== now) hub.notify(ticker, sharedOf({ type: "market_status", ticker, data: status }));
    }
    known = seen;
    answered.clear();
  }

  function quietNow(ticker: string): QuietTicker | undefined {
    const status = statusOf(ticker);
    if (status === undefined) return undefined;
    if (!known.has(ticker)) known.set(ticker, signature(status));
    const { final_display_state, reason, next_open_at } = status;
    const lastMs = market.view.quote(ticker)?.time_msc ?? Number.NEGATIVE_INFINITY;
    const recent = clock.now() - lastMs < STREAM_HEARTBEAT_INTERVAL_S * 1000;
    if (final_display_state === "open" && reason === null && recent) return undefined;
    return { ticker, final_display_state, reason, next_open_at };
  }

  return {
    quiet(ticker) {
      if (!answered.has(ticker)) answered.set(ticker, quietNow(ticker));
      return answered.get(ticker);
    },
    run: (signal) => repeat({ clock, signal, pause: CHECK_INTERVAL_MS }, look),
  };
}
