import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import type { Catalogue, KlineStore, Market } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { startProducer } from "#server/engine/producer";
import type { KlineWriter } from "#server/engine/recorder";
import { newEpoch } from "#server/events/event";
import type { MarketFeed } from "#server/feed/feed";
import { createProjection, type Projection } from "#server/view/projection";
import type { Ring } from "#server/view/ring";
import type { Listener } from "./events/bus";

export interface MarketOptions {
  venue: Venue;
  catalogue: Catalogue;
  store: KlineStore;
  /** Absent where nothing is stored: the sandbox computes its klines. */
  writer?: KlineWriter;
  feed?: MarketFeed;
  /** True where ticks may be pushed over HTTP. */
  acceptsPush: boolean;
  provider: string | null;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Rows that may wait to be written before feeders are held up; the recorder's own bound unless given. */
  pendingMaxRows?: number;
}

/** A venue that runs. */
export interface RunningMarket extends Market {
  /**
   * Stored history of a ticker (undefined: perhaps of any) was rewritten behind the view: cached windows are void, closed
   * klines are the store's to tell again, open ones and the trading day are recomputed.
   */
  historyChanged(ticker?: string): Promise<void>;
  /** Of the sequences now; another one after a restart of what makes the events. */
  readonly epoch: string;
  /** Recent events, for readers that were away for a moment. */
  readonly recent: Pick<Ring, "seq" | "since">;
  /** Follows the events, after view and recent events have them; the returned function ends it. */
  follow(listener: Listener): () => void;
  /** What is wrong with the feed, null when it is well or none is bound. */
  feedProblem(): string | null;
  /** Lets another node make the events, where there are others; what is left is written first. */
  handOver(): Promise<void>;
  /** Stops the feed, closes the clock and writes what is left. */
  stop(): Promise<void>;
}

/** What a market shows of its projection, whoever makes the events. */
export function known(
  { venue, catalogue, store, provider }: Pick<MarketOptions, "venue" | "catalogue" | "store" | "provider">,
  { view, recent, watch, follow, historyRevision }: Projection,
): Pick<
  RunningMarket,
  "venue" | "catalogue" | "store" | "provider" | "view" | "recent" | "sight" | "follow" | "historyRevision"
> {
  return { venue, catalogue, store, provider, view, recent, sight: watch.sight, follow, historyRevision };
}

/** Starts a venue within this process: fills it from the store, then follows the feed. Answers are right when it resolves. */
export async function startMarket(options: MarketOptions): Promise<RunningMarket> {
  const { catalogue, store, feed, clock } = options;
  const epoch = newEpoch();
  const originMs = clock.now();
  const startMs = feed?.startMs ?? originMs;
  const projection = createProjection({ catalogue, store, clock, epoch, sinceMs: startMs > 0 ? startMs : null });
  const producer = await startProducer({
    ...options,
    start: { originMs },
    epoch,
    projection,
    onStoredLate: () => projection.forget(undefined, () => true),
  });
  await projection.lookBack(producer.now());

  return {
    ...known(options, projection),
    epoch,
    ...(feed?.keepsTime && { now: producer.now }),
    async historyChanged(ticker) {
      await producer.historyChanged(ticker);
      await projection.lookBack(producer.now());
    },
    feedProblem: producer.feedProblem,
    ...(options.acceptsPush && { push: producer.push }),
    handOver: async () => undefined,
    stop: producer.stop,
  };
}
