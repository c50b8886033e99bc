import type { Clock } from "#lib/clock";
import { TICK_MAX_AHEAD_MS } from "#lib/contract/limits";
import type { Venue } from "#lib/contract/primitives";
import { isClosed, type Kline } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import { createAlignment, TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import type { Logger } from "#lib/log";
import type { Mended, Mending } from "#lib/market/mending";
import type { Catalogue, ChangedMinutes, KlineStore, Outcome } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { repeat } from "#lib/repeat";
import { MINUTE_MS } from "#lib/units";
import type { MarketEvent } from "#server/events/event";
import { type FeedStart, type MarketFeed, PUSH } from "#server/feed/feed";
import type { FeedFilter } from "#server/feed/filter/feed-filter";
import { superviseFeed } from "#server/feed/supervise";
import type { Projection } from "#server/view/projection";
import { readCorrections } from "./corrections";
import { createEngine, type RestoredTicker } from "./engine";
import { hydrateAll, hydrateTicker } from "./hydrate";
import { createIntake, type Intake, type Keep } from "./intake";
import { createRefusals, reportInterruption } from "./interruptions";
import type { Journal } from "./journal";
import { createJudge } from "./judge";
import { createMinuteKeeper, type LeasedMender, type MinuteKeeper } from "./mending";
import { createRecorder, type KlineWriter, type Recorder } from "./recorder";

/** How often the engine sees the clock, so that klines close and sessions change without a tick. */
const ADVANCE_INTERVAL_MS = 100;
/** How long a takeover waits for a feed to deliver the time before it; after this the clock continues without. */
const BACKFILL_MAX_MS = 2_000;

interface ProducerOptions {
  venue: Venue;
  catalogue: Catalogue;
  store: KlineStore;
  /** Absent where nothing is stored: the sandbox computes its klines. */
  writer?: KlineWriter | undefined;
  /** Writes minutes after the fact; absent where nothing is stored. */
  mender?: LeasedMender | undefined;
  feed?: MarketFeed | undefined;
  filter?: FeedFilter | undefined;
  /** Who sends the ticks of a ticker now: a provider, or push; absent where ticks are not kept. */
  sourceOf?: ((ticker: string) => string) | undefined;
  /** Gets each tick that was taken; absent where ticks are not journaled. */
  journal?: Pick<Journal, "add"> | undefined;
  /** True where ticks are pushed. */
  acceptsPush: boolean;
  /** Throws the fault with which pushes are refused while nothing more may be stored; absent where nothing is pushed. */
  requireRoom?: (() => void) | undefined;
  /** Keeps what is pushed; absent where nothing is. */
  keep?: Keep | undefined;
  /** The last ticks that an earlier process took, where they are known. */
  recent?: ReadonlyMap<string, readonly Tick[]> | undefined;
  /** Where the feed starts, and whether this is a takeover from another producer. */
  start: Pick<FeedStart, "originMs" | "fromMs">;
  epoch: string;
  /** The state before the first event, then updated by the events. */
  projection: Projection;
  /**
   * Receives the events, in order; the projection has them when it returns. Must not throw or block.
   * @param reachedMs the instant (Unix ms) up to which klines have been closed
   */
  append: (events: readonly MarketEvent[], reachedMs: number) => void;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Called once rows that waited for an unavailable store are written: windows read before that may lack some of them. */
  onStoredLate?: () => void;
  /** Rows that may wait to be written before feeders are slowed down; defaults to the recorder's own bound. */
  pendingMaxRows?: number | undefined;
}

/** Produces the events of a venue from feed, engine and recorder; one per venue in an installation. */
export interface Producer extends Pick<Intake, "push"> {
  /** Unix ms the venue has reached: the clock, or the position of a feed with its own time. */
  now(): number;
  /** Stores closed minutes after the fact, as MinuteKeeper does; absent where nothing is stored. */
  mend?: ((klines: readonly Kline[], mending: Mending) => Promise<Mended>) | undefined;
  /**
   * Recomputes open klines; call it after stored history of a ticker (undefined: of any) was rewritten. Closed klines of these
   * minutes are published as corrections.
   */
  historyChanged(ticker?: string, minutes?: ChangedMinutes): Promise<void>;
  /** What is wrong with the feed; null when it is healthy or none is configured. */
  feedProblem(): string | null;
  /** Stops the feed and writes what is pending. */
  stop(): Promise<void>;
}

function recorderOf(options: ProducerOptions, log: Logger, stopping: AbortSignal): Recorder | undefined {
  const { writer, venue, clock, metrics, pendingMaxRows, onStoredLate } = options;
  if (writer === undefined) return undefined;
  let late = false;
  const onFlush = (rows: number, failed: boolean) => {
    metrics.recorderFlush(venue, rows, failed);
    if (late && !failed) void recorder.written(stopping).then(() => stopping.aborted || onStoredLate?.());
    late = failed;
  };
  const recorder = createRecorder({ writer, clock, log, pendingMaxRows, onFlush, leftOut: metrics.ticksLeftOut });
  return recorder;
}

function keeperOf(options: ProducerOptions, recorder: Recorder | undefined, log: Logger, stopping: AbortSignal) {
  const { mender, clock } = options;
  return mender && recorder && createMinuteKeeper({ mender, recorder, clock, log, stopping });
}

/** What a feed tells the keeper of minutes. */
function keptBy({ watch, mend, lacks }: MinuteKeeper): Pick<FeedStart, "life" | "mend" | "lacks"> {
  return { life: watch, mend, lacks: (ticker, fromMs, toMs) => lacks([ticker], fromMs, toMs, "feed") };
}

/** Notes what became of ticks, and what they say about their minutes. */
function createNotes(options: ProducerOptions, keeper: MinuteKeeper | undefined, recorder: Recorder | undefined) {
  const { feed, sourceOf, journal, clock } = options;
  const isPushed = ({ ticker }: Tick) => feed === undefined || feed.choice?.providerOf(ticker) === PUSH;
  function keep(tick: Tick, outcome: Outcome, receivedMs: number, source = sourceOf?.(tick.ticker)): void {
    // There is no end of unknown tickers; and a duplicate is kept already.
    if (sourceOf === undefined || source === undefined || outcome === "unknown_ticker" || outcome === "duplicate") return;
    recorder?.keep(tick, outcome, receivedMs, source);
  }
  return {
    decided(tick: Tick, rejection: Outcome, receivedMs: number): void {
      if (rejection === null) journal?.add(tick);
      if (rejection === "too_late") keeper?.watch.late(tick.ticker, tick.time_msc);
      else if (rejection === null && isPushed(tick)) keeper?.watch.pushed(tick.ticker, tick.time_msc);
      keep(tick, rejection, receivedMs);
    },
    standby: (tick: Tick, source: string) => keep(tick, "standby", clock.now(), source),
  };
}

/** The clock of an engine: wall time, or the time its feed has reached. */
function createEngineClock({ feed, start, clock }: Pick<ProducerOptions, "feed" | "start" | "clock">) {
  const begunMs = clock.now();
  let reachedMs = start.fromMs ?? feed?.startMs ?? begunMs;
  // Ticks that the feed delivers from before the takeover must find their klines open.
  let catchingUp = feed !== undefined && start.fromMs !== undefined;
  return {
    now(): number {
      if (feed?.keepsTime) return reachedMs;
      if (catchingUp && clock.now() > begunMs + BACKFILL_MAX_MS) catchingUp = false;
      return catchingUp ? reachedMs : clock.now();
    },
    reach(toMs: number): void {
      reachedMs = Math.max(reachedMs, toMs);
      if (toMs >= begunMs) catchingUp = false;
    },
  };
}

/** Restores engine and view from the store and the view, then runs the feed. The view is correct once it resolves. */
export async function startProducer(options: ProducerOptions): Promise<Producer> {
  const { venue, catalogue, store, writer, feed, start, epoch, projection, clock, metrics } = options;
  const { view, watch } = projection;
  const log = options.log.child({ venue });
  const stopping = new AbortController();
  const alignment = createAlignment();
  const engine = createEngine({ listingOf: catalogue.find, calendarOf: catalogue.calendar, alignment, epoch });
  const recorder = recorderOf(options, log, stopping.signal);
  const keeper = keeperOf(options, recorder, log, stopping.signal);
  const notes = createNotes(options, keeper, recorder);
  const time = createEngineClock(options);
  /** Klines have been closed up to here, by this producer or its predecessor. */
  let advancedMs = start.fromMs ?? time.now();
  let recording: Recorder["record"] = () => undefined;

  /** After a takeover, the first record of a topic starts its sequence as a baseline: nothing before it was missed. */
  const isFirst = ({ seq }: MarketEvent) => seq === 1;
  const opening = (event: MarketEvent) => (isFirst(event) ? { ...event, restored: true } : event);

  function publish(given: readonly MarketEvent[]): void {
    const events = start.fromMs !== undefined && given.some(isFirst) ? given.map(opening) : given;
    options.append(events, advancedMs);
    recording(events);
  }

  function advance(): void {
    const nowMs = time.now();
    const events = engine.advance(nowMs);
    advancedMs = nowMs;
    publish(events);
    judging.expire(nowMs);
  }

  /** Forgets open klines whose minutes are all gone, because an import was undone. */
  function forgetGone({ ticker, openKlines }: RestoredTicker): void {
    const gone = (kline: Kline) =>
      !isClosed(kline, advancedMs, alignment) &&
      !openKlines.some(({ timeframe, time }) => timeframe === kline.timeframe && time === kline.time);
    if (TIMEFRAMES_ORDER.some((timeframe) => view.recentKlines(ticker, timeframe).some(gone)))
      projection.forget(ticker, (kline) => !gone(kline));
  }

  const judging = createJudge({
    engine,
    publish,
    filter: options.filter,
    catalogue,
    view,
    wallMs: clock.now,
    decided: notes.decided,
    count: (outcomes) => metrics.ticks(venue, outcomes),
    nowMs(tick) {
      if (feed !== undefined) time.reach(tick.time_msc);
      return time.now();
    },
  });
  let starting = true;
  const restore = (restored: RestoredTicker, latestClosed: readonly Kline[]) => {
    watch.restored();
    if (!starting) forgetGone(restored);
    view.fill(latestClosed);
    const events = engine.restore(starting ? { ...restored, recent: options.recent?.get(restored.ticker) } : restored);
    publish(starting ? events.map((event) => ({ ...event, restored: true })) : events);
  };
  const hydration = () => ({
    store,
    view,
    calendarOf: catalogue.calendar,
    alignment,
    nowMs: time.now() + (writer ? TICK_MAX_AHEAD_MS : 0),
    closedMs: () => advancedMs,
    restore,
  });
  watch.fill(catalogue.list().length);
  const missed = await hydrateAll(catalogue.list(), hydration());
  if (missed.length > 0) await writer?.writeBatch(missed, [], [], 0);
  watch.filled();
  starting = false;
  reportInterruption(options, keeper?.lacks);
  if (recorder) recording = recorder.record;

  async function historyChanged(ticker?: string, minutes?: ChangedMinutes): Promise<void> {
    advance();
    const changedMs = advancedMs;
    // Until they are written, only the view has them.
    if (recorder) await recorder.written(stopping.signal);
    const touched = catalogue.list().filter((listing) => ticker === undefined || listing.ticker === ticker);
    watch.fill(touched.length);
    const wasClosed = (kline: Kline) => isClosed(kline, changedMs, alignment);
    projection.forget(ticker, (kline) => !wasClosed(kline));
    try {
      for (const listing of touched) {
        await hydrateTicker(listing, undefined, hydration());
        if (minutes) publish(engine.correct(await readCorrections(store, listing, minutes, wasClosed, alignment)));
      }
    } finally {
      watch.filled();
    }
  }

  function skipped(fromMs: number, toMs: number): void {
    log.warn({ from: new Date(fromMs), to: new Date(toMs) }, "feed stalled for too long; recomputing open klines");
    time.reach(toMs - 1);
    historyChanged().catch((error: unknown) => log.error({ err: error }, "cannot recompute open klines"));
  }

  let feedProblem: string | null = null;
  const onState = (problem: string | null) => {
    feedProblem = problem;
  };
  const refusals = createRefusals(catalogue, keeper?.lacks);
  const intake = createIntake({ ...options, judge: judging.judge, recorder, refusals, stopping: stopping.signal });
  const turning = repeat({ clock, signal: stopping.signal, pause: ADVANCE_INTERVAL_MS }, advance).then(advance);
  const running: Promise<void>[] = [turning, keeper?.run() ?? Promise.resolve()];
  const recordingUntil = new AbortController();
  const recorded = recorder?.run(recordingUntil.signal);
  if (feed) {
    const opened = feed.open({
      ...start,
      skipped,
      failing: onState,
      connected: () => onState(null),
      standby: notes.standby,
      ...(keeper && keptBy(keeper)),
    });
    const supervised = { feed: opened, name: feed.name, take: intake.feed, onState, onLost: feed.lost, clock, log };
    running.push(superviseFeed(supervised, stopping.signal));
  }

  return {
    now: time.now,
    push: intake.push,
    mend: keeper?.mend,
    historyChanged,
    feedProblem: () => feedProblem,
    async stop() {
      stopping.abort();
      await Promise.all(running);
      judging.expire(time.now() + MINUTE_MS);
      recordingUntil.abort();
      await recorded;
      await keeper?.save();
    },
  };
}
