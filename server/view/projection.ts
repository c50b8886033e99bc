import type { Clock } from "#lib/clock";
import type { Kline } from "#lib/contract/kline";
import { FEED_GAPS_HOURS } from "#lib/contract/portal-admin";
import { createFeedWatch, type FeedWatch } from "#lib/market/feed-watch";
import type { Catalogue, KlineStore } from "#lib/market/ports";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import type { Listener } from "#server/events/bus";
import { createMemoryBus } from "#server/events/memory-bus";
import { createRing, type Ring } from "./ring";
import { createView, type View } from "./view";

const GAPS_MS = FEED_GAPS_HOURS * HOUR_MS;

/** What a node knows of a venue, made from its events alone. */
export interface Projection {
  readonly view: View;
  readonly recent: Ring;
  readonly watch: FeedWatch;
  /** Its way in: the newest records first, then the recent events, then whoever follows. */
  readonly apply: Listener;
  /** Follows the events, after view and recent events have them; the returned function ends it. */
  follow(listener: Listener): () => void;
  /** Rises when stored history was rewritten. */
  historyRevision(): number;
  /** Drops klines that the store knows better, of one ticker or of all, and voids what was remembered of windows. */
  forget(ticker: string | undefined, keep: (kline: Kline) => boolean): void;
  /** Learns from the store in which minutes of the last day ticks came, in an earlier run or by an import. */
  lookBack(nowMs: number): Promise<void>;
}

interface ProjectionOptions {
  catalogue: Catalogue;
  store: KlineStore;
  clock: Clock;
  /** Named before the first event came. */
  epoch: string;
  /** Nothing is known of before, Unix ms; null for a recording with its own times. */
  sinceMs: number | null;
  /** False where nobody asks for recent events: they are most of what a projection takes of memory. */
  remembers?: boolean;
}

/** Makes an empty projection of one venue. */
export function createProjection({ catalogue, store, clock, epoch, sinceMs, remembers = true }: ProjectionOptions): Projection {
  const bus = createMemoryBus();
  const view = createView();
  const recent = createRing(clock, epoch);
  const watch = createFeedWatch(clock, sinceMs);
  let history = 0;
  bus.subscribe(view.apply);
  if (remembers) bus.subscribe(recent.apply);
  bus.subscribe((events) => {
    for (const { type, record, restored } of events) if (type === "quote" && !restored) watch.tick(record.time_msc);
  });

  return {
    view,
    recent,
    watch,
    apply: bus.publish,
    follow: bus.subscribe,
    historyRevision: () => history,
    forget(ticker, keep) {
      for (const listing of catalogue.list())
        if (ticker === undefined || listing.ticker === ticker) view.forget(listing.ticker, keep);
      history += 1;
    },
    async lookBack(nowMs) {
      const fromMs = Math.floor((nowMs - GAPS_MS) / MINUTE_MS) * MINUTE_MS;
      // A recording that has not begun is nowhere near any day that is stored.
      if (fromMs < 0) return;
      const tickers = catalogue.list().map((listing) => listing.ticker);
      const found = await store.minutesSince?.(tickers, fromMs / 1000);
      const [first] = found?.times ?? [];
      // Minutes that are stored were none without ticks.
      if (found?.earlier) watch.stored(found.times, fromMs);
      else if (found !== undefined && first !== undefined) watch.stored(found.times, first * 1000);
    },
  };
}
