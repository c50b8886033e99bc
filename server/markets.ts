import path from "node:path";
import type pg from "pg";
import { type AuditedChange, auditOn } from "#lib/access/audit";
import { createSealer } from "#lib/access/sealer";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Database, StartUp } from "#lib/db";
import { createAlignment } from "#lib/domain/timeframe";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { createKlineStore, type KlineTable } from "#lib/market/kline-store";
import { mendableMinutes } from "#lib/market/mendable-minutes";
import { createMinuteMender } from "#lib/market/mended-minutes";
import type { Catalogue } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { MINUTE_MS } from "#lib/units";
import { type SharedMarketOptions, startSharedMarket } from "./cluster/shared-market";
import type { FeedStart, MarketFeed } from "./feed/feed";
import { createGuard } from "./feed/filter/guard";
import { createRecording, type TickRecording } from "./feed/recording/recording";
import { replayFeed } from "./feed/replay";
import { createBlockStore } from "./feed/sandbox/block-store";
import { startBlockThread } from "./feed/sandbox/block-thread";
import { type DayBlocks, readDays, writeDays } from "./feed/sandbox/days-file";
import { sandboxFeed } from "./feed/sandbox/feed";
import { createSandboxKlines } from "./feed/sandbox/klines";
import { createSandboxPrices } from "./feed/sandbox/prices";
import { chosenUpstream } from "./feed/upstream/choose";
import { createKeptSecrets } from "./feed/upstream/kept-secrets";
import type { Upstream } from "./feed/upstream/port";
import { createRepair, type Repair, withRepair } from "./feed/upstream/repair";
import { reportRepair } from "./feed/upstream/repair-report";
import { upstreamFeed } from "./feed/upstream/runner";
import { createUpstreamWatch, lossReasonOf } from "./feed/upstream/state";
import { type MarketOptions, type RunningMarket, startMarket } from "./market";

const MIB_BYTES = 1_048_576;

interface MarketsOptions {
  env: Env;
  db: Database;
  /** The installation's secret. */
  secret: string;
  startUp: StartUp;
  catalogues: Record<Venue, Catalogue>;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Registers what must be stopped after the venues. */
  onStop: (name: string, stop: () => Promise<void>) => void;
  /** What the nodes of a cluster share. */
  shared?: Shared | undefined;
}

/** What a venue needs in a cluster. */
type Shared = Pick<SharedMarketOptions, "redis" | "address" | "forwardPush" | "forwardKlines">;

/** Starts both venues: the same parts, with different feeds and kline stores. */
export async function startMarkets(options: MarketsOptions): Promise<Record<Venue, RunningMarket>> {
  const [live, sandbox] = await Promise.all([startLive(options), startSandbox(options)]);
  return { live, sandbox };
}

/** Starts a venue: in this process alone (startMarket), or as one of several nodes (startSharedMarket). */
function startVenue(
  options: MarketsOptions,
  market: Omit<MarketOptions, "writer">,
  table: KlineTable | undefined,
): Promise<RunningMarket> {
  const { env, db, shared } = options;
  const announceHistoryChange: MarketOptions["announceHistoryChange"] = (ticker, minutes) =>
    void db.control.publish({ kind: "klines", venue: market.venue, ticker, minutes });
  if (shared === undefined) return startMarket({ ...market, announceHistoryChange, ...(table && { writer: table }) });
  const produces = env.ROLE !== "edge";
  return startSharedMarket({
    ...market,
    ...shared,
    announceHistoryChange,
    ...(table && { writer: table }),
    pool: db.pool,
    produces,
  });
}

/** The sandbox computes its klines, in a thread of its own. */
async function startSandbox(options: MarketsOptions): Promise<RunningMarket> {
  const { env, catalogues, onStop, clock, log, metrics } = options;
  const catalogue = catalogues.sandbox;
  const prices = createSandboxPrices({ catalogue, seed: env.SANDBOX_SEED });
  const maker = startBlockThread();
  onStop("sandbox history", maker.close);
  const restored = await readDays(env.DATA_DIR);
  const blocks = createBlockStore(maker, restored);
  // From the start of the current minute, so that its kline is complete.
  const startMs = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
  const open: MarketFeed["open"] = ({ fromMs = startMs, skipped }) =>
    sandboxFeed({ prices, clock, startMs: fromMs, onSkip: skipped });
  const market = {
    venue: "sandbox" as const,
    catalogue,
    store: createSandboxKlines({ prices, clock, alignment: createAlignment(), blocks }),
    feed: { name: "sandbox", open, keepsTime: true, startMs: startMs - 1 },
    acceptsPush: false,
    provider: "sandbox",
    clock,
    log,
    metrics,
  };
  const running = await startVenue(options, market, undefined);
  void leaveDays(env.DATA_DIR, restored, blocks.days(), log);
  return running;
}

/** Leaves the days that this start needed for the next one. */
async function leaveDays(folder: string, restored: DayBlocks, needed: DayBlocks, log: Logger): Promise<void> {
  if ([...needed.keys()].every((name) => restored.has(name))) return;
  try {
    await writeDays(folder, needed);
  } catch (error) {
    // Without a place for them, as in a container with an external database, every start computes them.
    log.debug({ err: error }, "the days of the sandbox are not kept for the next start");
  }
}

/** The live venue gets its ticks from LIVE_FEED: a provider, a replay, pushes over HTTP, or none. */
function startLive(options: MarketsOptions): Promise<RunningMarket> {
  const { env, db, startUp, catalogues, clock, log, metrics } = options;
  const feed = env.LIVE_FEED === "replay" ? openReplay(env, catalogues.live, clock, log) : openProvider(options, catalogues.live);
  const store = awaitedStore(createKlineStore(db.pool, "live"), startUp);
  const market = {
    venue: "live" as const,
    catalogue: catalogues.live,
    store,
    ...(feed && { feed }),
    // A recording is taken as it was recorded.
    ...(env.LIVE_FEED !== "replay" &&
      env.LIVE_FEED !== "none" && { guard: createGuard({ name: env.LIVE_FEED, off: env.TICK_FILTERS_OFF, metrics }) }),
    recording: recordingOf(options),
    acceptsPush: env.LIVE_FEED === "push",
    provider: env.LIVE_FEED === "none" ? null : (env.LIVE_PROVIDER ?? env.LIVE_FEED),
    mender: createMinuteMender({ pool: db.pool, clock, record: recordPush }),
    clock,
    log,
    metrics,
  };
  return startVenue(options, market, store);
}

/** Records the ticks of a provider or of pushes; a replay is recorded already. */
function recordingOf({ env, clock, log, metrics }: MarketsOptions): TickRecording | undefined {
  const { LIVE_FEED, FEED_RECORD, FEED_RECORD_DIR, FEED_RECORD_DAYS: days, FEED_RECORD_MAX_MIB } = env;
  if (FEED_RECORD === "off" || LIVE_FEED === "none" || LIVE_FEED === "replay") return undefined;
  const recording = createRecording({
    ...{ days, clock, log },
    folder: FEED_RECORD_DIR ?? path.join(env.DATA_DIR, "recordings"),
    maxBytes: FEED_RECORD_MAX_MIB * MIB_BYTES,
    upstreamOf: () => LIVE_FEED,
    leftOut: metrics.recordingLeftOut,
  });
  metrics.recordingBytes(() => recording.report().bytes);
  return recording;
}

/** The audit entry of an import that pushed klines begin. */
function recordPush(client: pg.ClientBase, change: Pick<AuditedChange, "action" | "target" | "after">): Promise<void> {
  return auditOn(client, { ...change, actor: { name: "system" }, accountId: null, address: null });
}

/** The table; during the start its reads wait for the database like all other reads of the start. */
function awaitedStore(table: KlineTable, { run }: StartUp): KlineTable {
  return {
    ...table,
    read: (query) => run(() => table.read(query)),
    lastQuotes: (atMs) => run(() => table.lastQuotes(atMs)),
    writeBatch: (klines, quotes) => run(() => table.writeBatch(klines, quotes)),
  };
}

/** The feed of a provider; undefined when LIVE_FEED names none. */
function openProvider(options: MarketsOptions, catalogue: Catalogue): MarketFeed | undefined {
  const { env, db, secret, clock, log, metrics } = options;
  const upstream = chosenUpstream(env, createKeptSecrets(db.pool, createSealer(secret, "provider secrets")));
  if (upstream === undefined) return undefined;
  const chosen = env.FEED_SYMBOLS.filter(({ feed }) => feed === upstream.name);
  const named = new Map(chosen.map(({ ticker, symbol }) => [ticker, symbol]));
  const { name } = upstream;
  const watch = createUpstreamWatch({ upstream, calendarOf: catalogue.calendar, nowMs: clock.now() });
  const providers = () => [watch.report(clock.now())];
  metrics.upstreams(providers);
  return {
    name,
    keepsTime: false,
    open({ connected, heard, mend }) {
      const repair = mend && openRepair(options, upstream, catalogue, mend);
      const base = { upstream, listings: catalogue.list, named, watch, metrics, clock, log };
      return withRepair(upstreamFeed({ ...base, connected, heard, repair }), repair);
    },
    lost(error, untilMs) {
      watch.lost(error, clock.now(), untilMs);
      metrics.upstreamLost(name, lossReasonOf(error));
    },
    providers,
  };
}

/** The repair of a provider that has history; undefined where it has none, or FEED_REPAIR_DAYS is 0. */
function openRepair(
  { env, db, clock, log, metrics }: MarketsOptions,
  upstream: Upstream,
  catalogue: Catalogue,
  mend: NonNullable<FeedStart["mend"]>,
): Repair | undefined {
  if (upstream.minutes === undefined || env.FEED_REPAIR_DAYS === 0) return undefined;
  return createRepair({
    ...{ upstream, days: env.FEED_REPAIR_DAYS, mend, clock, log },
    mendable: (ticker, span) => mendableMinutes(db.pool, ticker, span, catalogue.calendar(ticker)),
    report: () => reportRepair(db, clock, upstream.name),
    repaired: (minutes) => metrics.upstreamRepaired(upstream.name, minutes),
  });
}

function openReplay(env: Env, catalogue: Catalogue, clock: Clock, log: Logger): MarketFeed {
  const { REPLAY_FILES: files, REPLAY_PACE: pace, REPLAY_SHIFT: shift } = env;
  const open = replayFeed({ files, pace, shift, listings: catalogue.list, clock, log });
  // A recording with its original times is its own clock and restores nothing: stored klines are newer than its first tick.
  return shift === "none" ? { name: "replay", open, keepsTime: true, startMs: 0 } : { name: "replay", open, keepsTime: false };
}
