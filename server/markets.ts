import path from "node:path";
import type pg from "pg";
import { createSealer } from "#lib/access/sealer";
import type { Clock } from "#lib/clock";
import type { PrecedenceChange } from "#lib/contract/portal-feeds";
import type { Venue } from "#lib/contract/primitives";
import { createAlignment } from "#lib/domain/timeframe";
import type { Env } from "#lib/env";
import { liveProvider } from "#lib/env-feeds";
import type { Logger } from "#lib/log";
import type { Catalogue } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { MINUTE_MS } from "#lib/units";
import { createFeedFilter } from "#server/feed/filter/feed-filter";
import { type AuditedChange, audit, auditOn, SYSTEM } from "#server/store/access/audit";
import type { Database, StartUp } from "#server/store/database/db";
import type { Redis } from "#server/store/database/redis";
import { createFileThread } from "#server/store/files/file-thread";
import { createKlineFiles } from "#server/store/files/kline-files";
import { createMadeFiles } from "#server/store/files/made-files";
import { createTickFiles } from "#server/store/files/tick-files";
import { createMinuteMender } from "#server/store/klines/mended-minutes";
import { openLive } from "#server/store/klines/open-live";
import { readPin } from "#server/store/market/feed-pin";
import { leadWithLease, NEVER_LEAD_NODES } from "./cluster/leased";
import { takeJournals } from "./engine/journal";
import type { EventLog } from "./event-log/event-log";
import { createRedisLog } from "./event-log/redis-log";
import type { MarketFeed } from "./feed/feed";
import { replayFeed, type TickSources } from "./feed/replay";
import { fileSources } from "./feed/replay-files";
import { storedSources } from "./feed/replay-stored";
import { createBlockStore } from "./feed/sandbox/block-store";
import { startBlockThread } from "./feed/sandbox/block-thread";
import { type DayBlocks, readDays, writeDays } from "./feed/sandbox/days-file";
import { sandboxFeed } from "./feed/sandbox/feed";
import { createSandboxFiles } from "./feed/sandbox/files";
import { createSandboxKlines } from "./feed/sandbox/klines";
import { createSandboxPrices } from "./feed/sandbox/prices";
import { severalFeed } from "./feed/several";
import { openUpstream } from "./feed/upstream/choose";
import { createKeptSecrets } from "./feed/upstream/kept-secrets";
import { createProvider, type Provider, providerFeed } from "./feed/upstream/provider";
import { type MarketOptions, type RunningMarket, startMarket } from "./market/market";
import { leadAlone, NEVER_LEAD } from "./market/turn";

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
  /** Throws the fault with which pushes are refused while the disk lacks room. */
  requireRoom: () => void;
  /** What the nodes of a cluster share. */
  shared?: Shared | undefined;
}

/** What a venue needs in a cluster. */
interface Shared extends Required<Pick<MarketOptions, "address" | "leaderAt">> {
  readonly redis: Redis;
}

/** Starts both venues: the same parts, with different feeds and kline stores. */
export async function startMarkets(options: MarketsOptions): Promise<Record<Venue, RunningMarket>> {
  const making = openFileMaking(options);
  const [live, sandbox] = await Promise.all([startLive(options, making), startSandbox(options, making)]);
  return { live, sandbox };
}

/** Starts a venue: led by this process alone or, in a cluster, by the node that holds its lease. */
function startVenue({ env, db, shared, clock, log }: MarketsOptions, options: MarketOptions): Promise<RunningMarket> {
  const { venue } = options;
  const announceHistoryChange: MarketOptions["announceHistoryChange"] = (ticker, minutes) =>
    void db.control.publish({ kind: "klines", venue, ticker, minutes });
  // Also where nothing is taken now: an earlier process may have left ticks.
  const openJournals = () => takeJournals({ folder: path.join(env.DATA_DIR, "journal"), clock, log });
  if (shared === undefined) {
    const leadership = leadAlone(clock, options.writer && openJournals);
    return startMarket({ ...options, announceHistoryChange, leadership });
  }
  const { redis, address, leaderAt } = shared;
  const inCluster = { venue, redis, pool: db.pool, address, clock, log };
  return startMarket({
    ...options,
    announceHistoryChange,
    address,
    leaderAt,
    events: createRedisLog(inCluster),
    leadership: env.ROLE === "edge" ? NEVER_LEAD_NODES : leadWithLease(inCluster),
  });
}

/** What makes files of both venues. */
function openFileMaking({ env, onStop, clock, log }: Pick<MarketsOptions, "env" | "onStop" | "clock" | "log">) {
  const thread = createFileThread(clock);
  onStop("files", thread.close);
  return { made: createMadeFiles({ folder: path.join(env.DATA_DIR, "files"), clock, log }), thread };
}

type FileMaking = ReturnType<typeof openFileMaking>;
function openLiveFiles({ db, clock }: Pick<MarketsOptions, "db" | "clock">, making: FileMaking) {
  return { klines: createKlineFiles({ ...making, db, clock }), ticks: createTickFiles({ ...making, db, clock }) };
}

type SandboxOptions = Pick<MarketsOptions, "env" | "catalogues" | "onStop" | "clock">;

/** The klines of the sandbox, which are computed in a thread of its own. */
async function openSandbox({ env, catalogues, onStop, clock }: SandboxOptions, making: FileMaking) {
  const catalogue = catalogues.sandbox;
  const prices = createSandboxPrices({ catalogue, seed: env.SANDBOX_SEED });
  const maker = startBlockThread(clock);
  onStop("sandbox history", maker.close);
  const restored = await readDays(env.DATA_DIR);
  const blocks = createBlockStore(maker, restored);
  const store = createSandboxKlines({ prices, clock, alignment: createAlignment(), blocks });
  const files = createSandboxFiles({ ...making, prices, blocks, clock });
  return { catalogue, prices, store, files, restored, blocks };
}

/** The sandbox: prices of a formula. */
async function startSandbox(options: MarketsOptions, making: FileMaking): Promise<RunningMarket> {
  const { env, clock, log, metrics } = options;
  const { catalogue, prices, store, files, restored, blocks } = await openSandbox(options, making);
  // From the start of the current minute, so that its kline is complete.
  const startMs = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
  const open: MarketFeed["open"] = ({ fromMs = startMs, skipped }) =>
    sandboxFeed({ prices, clock, startMs: fromMs, onSkip: skipped });
  const market = {
    venue: "sandbox" as const,
    catalogue,
    store,
    files,
    feed: { name: "sandbox", open, keepsTime: true, startMs: startMs - 1 },
    acceptsPush: false,
    provider: "sandbox",
    clock,
    log,
    metrics,
  };
  const running = await startVenue(options, market);
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
async function startLive(options: MarketsOptions, making: FileMaking): Promise<RunningMarket> {
  const { env, db, catalogues, clock, log, metrics } = options;
  const feed = env.LIVE_FEED.includes("replay") ? openReplay(options) : openProviders(options, catalogues.live);
  const store = await openLive(options);
  const name = env.LIVE_FEED.join(",");
  const named = liveProvider(env);
  const upstreamOf = (ticker: string) => (feed?.choice === undefined ? name : (feed.choice.providerOf(ticker) ?? "none"));
  const market = {
    venue: "live" as const,
    catalogue: catalogues.live,
    store,
    files: openLiveFiles(options, making),
    ...(feed && { feed }),
    // A replay is taken as it was recorded, and not recorded again.
    ...(named !== null &&
      name !== "replay" && {
        filter: createFeedFilter({ name: upstreamOf, off: env.TICK_FILTERS_OFF, metrics }),
        ...(env.FEED_RECORD === "on" && { sourceOf: upstreamOf }),
      }),
    writer: store,
    acceptsPush: env.LIVE_FEED.includes("push"),
    requireRoom: options.requireRoom,
    provider: named,
    namesProviders: env.LIVE_PROVIDER === undefined,
    mender: createMinuteMender({ db, clock, record: recordPush }),
    clock,
    log,
    metrics,
  };
  return startVenue(options, market);
}

interface FollowOptions extends SandboxOptions, Pick<MarketsOptions, "db" | "startUp" | "log" | "metrics"> {
  readonly events: (venue: Venue) => EventLog;
  readonly leaderAt: Shared["leaderAt"];
}

/** Starts both venues of an edge worker: they have no feed, because the market process has it. */
export async function followMarkets(options: FollowOptions): Promise<Record<Venue, RunningMarket>> {
  const { env, catalogues, events, leaderAt, clock, log, metrics } = options;
  const making = openFileMaking(options);
  const { store, files } = await openSandbox(options, making);
  const common = { acceptsPush: false, leadership: NEVER_LEAD, leaderAt, clock, log, metrics };
  const [live, sandbox] = await Promise.all([
    startMarket({
      ...common,
      venue: "live",
      catalogue: catalogues.live,
      store: await openLive(options),
      files: openLiveFiles(options, making),
      provider: liveProvider(env),
      namesProviders: env.LIVE_PROVIDER === undefined,
      keepsTime: isReplayOfOwnTime(env),
      events: events("live"),
    }),
    startMarket({
      ...common,
      venue: "sandbox",
      catalogue: catalogues.sandbox,
      store,
      files,
      provider: "sandbox",
      keepsTime: true,
      events: events("sandbox"),
    }),
  ]);
  return { live, sandbox };
}

/** The audit entry of an import that pushed klines begin. */
function recordPush(client: pg.ClientBase, change: Pick<AuditedChange, "action" | "target" | "after">): Promise<void> {
  return auditOn(client, { ...change, ...SYSTEM, accountId: null });
}

/** The feed of the providers that LIVE_FEED names; undefined when it names none. */
function openProviders(options: MarketsOptions, catalogue: Catalogue): MarketFeed | undefined {
  const { env, db, secret, clock, log, metrics } = options;
  const kept = createKeptSecrets(db.pool, createSealer(secret, "provider secrets"));
  const members = env.LIVE_FEED.flatMap((name): (Provider | null)[] => {
    if (name === "push") return [null];
    if (name === "none" || name === "replay") return [];
    return [createProvider({ upstream: openUpstream(name, env, kept), catalogue, env, db, clock, log, metrics })];
  });
  const [first, second] = members;
  if (!first && second === undefined) return undefined;
  const feed =
    first && second === undefined
      ? providerFeed(first)
      : severalFeed({
          members,
          catalogue,
          clock,
          log,
          metrics,
          pin: () => readPin(db),
          record: (change) => recordChange(db, change),
        });
  metrics.upstreams(() => feed.providers?.() ?? []);
  return feed;
}

/** The audit entry of a change of the provider that speaks. */
function recordChange(db: Database, { from, to, reason, tickers, some }: PrecedenceChange): Promise<void> {
  const system = { ...SYSTEM, accountId: null };
  const [before, after] = [{ provider: from }, { provider: to, reason, tickers, some }];
  return audit(db.prisma, { ...system, action: "feed.change", target: "live", before, after });
}

/** A recording with its original times is its own clock. */
const isReplayOfOwnTime = ({ LIVE_FEED, REPLAY_SHIFT }: Env) => LIVE_FEED.includes("replay") && REPLAY_SHIFT === "none";

type ReplayOptions = Pick<MarketsOptions, "env" | "db" | "catalogues" | "clock" | "log">;

/** What a replay reads: files or, with REPLAY_FROM, stored ticks. */
function replaySources({ env, db, catalogues, clock, log }: ReplayOptions): TickSources {
  const { REPLAY_FILES: files, REPLAY_FROM: from, REPLAY_TO: to = clock.now(), REPLAY_TICKERS: tickers } = env;
  const listings = catalogues.live.list;
  if (from === undefined) return fileSources({ files, listings, clock, log });
  if (files.length > 0) throw new Error("REPLAY_FILES and REPLAY_FROM: set one of them");
  if (from >= to) throw new Error("REPLAY_FROM is not before REPLAY_TO");
  return storedSources({ db, tickers, listings, from, to });
}

function openReplay(options: ReplayOptions): MarketFeed {
  const { env, clock } = options;
  const { REPLAY_PACE: pace, REPLAY_SHIFT: shift } = env;
  const open = replayFeed({ sources: replaySources(options), pace, shift, clock });
  // It then restores nothing: stored klines are newer than its first tick.
  return isReplayOfOwnTime(env)
    ? { name: "replay", open, keepsTime: true, startMs: 0 }
    : { name: "replay", open, keepsTime: false };
}
