import { randomUUID } from "node:crypto";
import type { Clock } from "#lib/clock";
import type { TickRejection } from "#lib/contract/ingest";
import type { Kline } from "#lib/contract/kline";
import { FEED_GAPS_HOURS } from "#lib/contract/portal-admin";
import type { Venue } from "#lib/contract/primitives";
import { isClosed } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import { createFeedWatch, type FeedWatch } from "#lib/market/feed-watch";
import type { Catalogue, KlineStore, Market } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import type { Listener } from "#server/bus/bus";
import { createMemoryBus } from "#server/bus/memory";
import { createEngine, type RestoredTicker } from "#server/engine/engine";
import { hydrateAll, hydrateTicker } from "#server/engine/hydrate";
import { createRecorder, type KlineWriter } from "#server/engine/recorder";
import type { Feed } from "#server/feed/feed";
import { superviseFeed } from "#server/feed/supervise";
import { createRing, type Ring } from "#server/view/ring";
import { createView } from "#server/view/view";

/** How often the clock is shown to the engine, so that klines close and sessions turn without a tick. */
const ADVANCE_INTERVAL_MS = 100;
/** A feeder whose ticks find no room is told so after this. */
const PUSH_WAIT_MAX_MS = 5_000;
const PUSH_RETRY_AFTER_S = 5;
/** Enough chance that no two runs share a name. */
const EPOCH_CHARACTERS = 8;
const MINUTE_MS = 60_000;
const GAPS_MS = FEED_GAPS_HOURS * 3_600_000;

/** What fills a venue by itself. */
export interface MarketFeed {
  readonly name: string;
  readonly open: Feed;
  /**
   * True where the feed is the clock: a computed or recorded source delivers all there is, in order, so klines close by
   * the time its ticks have reached and none comes too late, however long this process was held up.
   */
  readonly keepsTime: boolean;
  /** The instant (Unix ms) the feed starts from; history is filled up to it. Undefined: now. */
  readonly startMs?: number;
}

interface MarketOptions {
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
  /** A feed that keeps time goes on from `toMs` (Unix ms) without the ticks before it: the store has to tell them. */
  skipped(toMs: number): Promise<void>;
  /** Of the sequences of this run. */
  readonly epoch: string;
  /** Recent events, for readers that were away for a moment. */
  readonly recent: Pick<Ring, "seq" | "since">;
  /** Follows the events, after view and recent events have them; the returned function ends it. */
  follow(listener: Listener): () => void;
  /** What is wrong with the feed, null when it is well or none is bound. */
  feedProblem(): string | null;
  /** Stops the feed, closes the clock and writes what is left. */
  stop(): Promise<void>;
}

function recorderOf(writer: KlineWriter, { venue, clock, metrics, pendingMaxRows }: MarketOptions, log: Logger) {
  return createRecorder({ writer, clock, log, pendingMaxRows, onFlush: metrics.recorderFlush.bind(null, venue) });
}

/** Minutes of the last day that are stored, by an earlier run or an import, were none without ticks. */
async function lookBack(watch: FeedWatch, { catalogue, store }: MarketOptions, nowMs: number): Promise<void> {
  const fromMs = Math.floor((nowMs - GAPS_MS) / MINUTE_MS) * MINUTE_MS;
  // A recording that has not begun is nowhere near any day that is stored.
  if (fromMs < 0) return;
  const tickers = catalogue.list().map(({ ticker }) => ticker);
  const found = await store.minutesSince?.(tickers, fromMs / 1000);
  const [first] = found?.times ?? [];
  if (found?.earlier) watch.stored(found.times, fromMs);
  else if (found !== undefined && first !== undefined) watch.stored(found.times, first * 1000);
}

/** Starts a venue: fills engine and view from the store, then follows the feed. Answers are right when it resolves. */
export async function startMarket(options: MarketOptions): Promise<RunningMarket> {
  const { venue, catalogue, store, writer, feed, provider, clock, metrics } = options;
  const log = options.log.child({ venue });
  const stopping = new AbortController();
  const bus = createMemoryBus();
  const view = createView();
  const epoch = randomUUID().slice(0, EPOCH_CHARACTERS);
  const ring = createRing(epoch, clock);
  bus.subscribe(view.apply);
  bus.subscribe(ring.apply);
  const alignment = createAlignment();
  const engine = createEngine({ listingOf: catalogue.find, alignment, epoch });
  const recorder = writer && recorderOf(writer, options, log);

  let reachedMs = feed?.startMs ?? clock.now();
  /** The time the engine goes by: the wall clock, or where the feed is. */
  const engineNow = () => (feed?.keepsTime ? reachedMs : clock.now());
  const watch = createFeedWatch(clock, reachedMs > 0 ? reachedMs : null);
  const restore = (restored: RestoredTicker, latestClosed: readonly Kline[]) => {
    watch.restored();
    view.fill(latestClosed);
    bus.publish(engine.restore(restored));
  };
  const hydration = () => ({ store, view, alignment, nowMs: engineNow(), repair: writer !== undefined, restore });
  watch.fill(catalogue.list().length);
  const missed = await hydrateAll(catalogue.list(), hydration());
  if (missed.length > 0) await writer?.writeBatch(missed, []);
  await lookBack(watch, options, engineNow());
  watch.filled();
  if (recorder) bus.subscribe(recorder.record);

  let history = 0;

  /** For the feed, which is held up for as long as it takes. */
  async function takeFed(ticks: readonly Tick[]): Promise<void> {
    await recorder?.room(stopping.signal);
    take(ticks);
  }

  /** For a feeder that waits for an answer. @throws Fault service_unavailable when there is no room in time */
  async function takePushed(ticks: readonly Tick[]): Promise<(TickRejection | null)[]> {
    if (recorder === undefined || recorder.hasRoom()) return take(ticks);
    await Promise.race([recorder.room(stopping.signal), clock.wait(PUSH_WAIT_MAX_MS, stopping.signal)]);
    if (recorder.hasRoom()) return take(ticks);
    throw new Fault("service_unavailable", { detail: "The store takes no more ticks now.", retry_after: PUSH_RETRY_AFTER_S });
  }

  function take(ticks: readonly Tick[]): (TickRejection | null)[] {
    const judged = ticks.map((tick) => {
      if (feed?.keepsTime) reachedMs = Math.max(reachedMs, tick.time_msc);
      const rejection = engine.judge(tick, engineNow());
      if (rejection === null) {
        watch.tick(tick.time_msc);
        bus.publish(engine.ingest(tick));
      }
      return rejection;
    });
    metrics.ticks(venue, judged);
    return judged;
  }

  async function turn(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.wait(ADVANCE_INTERVAL_MS, stopping.signal);
      bus.publish(engine.advance(engineNow()));
    }
  }

  async function historyChanged(ticker?: string): Promise<void> {
    const changedMs = engineNow();
    bus.publish(engine.advance(changedMs));
    // Until they are written only the view has them.
    if (recorder) await recorder.written(stopping.signal);
    const touched = catalogue.list().filter((listing) => ticker === undefined || listing.ticker === ticker);
    watch.fill(touched.length);
    for (const listing of touched) view.forget(listing.ticker, (kline) => !isClosed(kline, changedMs, alignment));
    history += 1;
    try {
      for (const listing of touched) await hydrateTicker(listing, undefined, { ...hydration(), repair: false });
      await lookBack(watch, options, engineNow());
    } finally {
      watch.filled();
    }
  }

  let feedProblem: string | null = null;
  const onState = (problem: string | null) => {
    feedProblem = problem;
  };
  const running: Promise<void>[] = [turn()];
  const recording = new AbortController();
  const recorded = recorder?.run(recording.signal);
  if (feed) {
    running.push(superviseFeed({ feed: feed.open, name: feed.name, take: takeFed, onState, clock, log }, stopping.signal));
  }

  return {
    venue,
    catalogue,
    view,
    store,
    provider,
    epoch,
    recent: ring,
    sight: watch.sight,
    follow: bus.subscribe,
    ...(feed?.keepsTime && { now: engineNow }),
    historyRevision: () => history,
    historyChanged,
    skipped(toMs) {
      reachedMs = Math.max(reachedMs, toMs - 1);
      return historyChanged();
    },
    feedProblem: () => feedProblem,
    ...(options.acceptsPush && { push: takePushed }),
    async stop() {
      stopping.abort();
      await Promise.all(running);
      recording.abort();
      await recorded;
    },
  };
}
