import type { Clock } from "#lib/clock";
import { FEED_GAPS_HOURS } from "#lib/contract/portal-admin";
import type { Kline } from "#lib/domain/kline";
import { createFeedWatch, type FeedWatch } from "#lib/market/feed-watch";
import type { Catalogue, KlineStore } from "#lib/market/ports";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import type { Listener } from "#server/events/event";
import { createRing, type Ring } from "./ring";
import { createView, type View } from "./view";

const GAPS_MS = FEED_GAPS_HOURS * HOUR_MS;

/** A node's state of a venue, built only from its events. */
export interface Projection {
  readonly view: View;
  readonly recent: Ring;
  readonly watch: FeedWatch;
  /** Applies events: first to the newest records, then to the recent events, then to the followers. */
  readonly apply: Listener;
  /** Subscribes to the events, after view and recent events have them; returns the function that unsubscribes. */
  follow(listener: Listener): () => void;
  /** Rises when stored history was rewritten. */
  historyRevision(): number;
  /** Drops klines that are outdated by the store, of one ticker or all, and invalidates cached windows. */
  forget(ticker: string | undefined, keep: (kline: Kline) => boolean): void;
  /** Reads from the store in which minutes of the last day ticks came, from an earlier run or an import. */
  lookBack(nowMs: number): Promise<void>;
}

interface ProjectionOptions {
  catalogue: Catalogue;
  store: KlineStore;
  clock: Clock;
  /** The epoch before the first event. */
  epoch: string;
  /** Nothing before this is known, Unix ms; null for a recording with its own times. */
  sinceMs: number | null;
  /** False where recent events are never requested: they take most of a projection's memory. */
  remembers?: boolean;
}

/** Makes an empty projection of one venue. */
export function createProjection({ catalogue, store, clock, epoch, sinceMs, remembers = true }: ProjectionOptions): Projection {
  const view = createView();
  const recent = createRing(clock, epoch);
  const watch = createFeedWatch(clock, sinceMs);
  let history = 0;
  let listeners: readonly Listener[] = [];

  return {
    view,
    recent,
    watch,
    apply(events) {
      if (events.length === 0) return;
      view.apply(events);
      if (remembers) recent.apply(events);
      for (const event of events) if (event.type === "quote" && !event.restored) watch.tick(event.record.time_msc);
      for (const listener of listeners) listener(events);
    },
    follow(listener) {
      listeners = [...listeners, listener];
      return () => {
        listeners = listeners.filter((other) => other !== listener);
      };
    },
    historyRevision: () => history,
    forget(ticker, keep) {
      for (const listing of catalogue.list())
        if (ticker === undefined || listing.ticker === ticker) view.forget(listing.ticker, keep);
      history += 1;
    },
    async lookBack(nowMs) {
      const fromMs = Math.floor((nowMs - GAPS_MS) / MINUTE_MS) * MINUTE_MS;
      // A recording that has not started has no current day to look back from.
      if (fromMs < 0) return;
      const tickers = catalogue.list().map((listing) => listing.ticker);
      const found = await store.stored?.minutesSince(tickers, fromMs / 1000);
      const [first] = found?.times ?? [];
      // When nothing earlier is stored, the time before the first stored minute is unknown.
      if (found?.earlier) watch.stored(found.times, fromMs);
      else if (found !== undefined && first !== undefined) watch.stored(found.times, first * 1000);
    },
  };
}
