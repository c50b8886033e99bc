import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import { createAlignment } from "#lib/domain/timeframe";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { createKlineStore } from "#lib/market/kline-store";
import type { Catalogue } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { replayFeed } from "./feed/replay";
import { sandboxFeed } from "./feed/sandbox/feed";
import { createSandboxKlines } from "./feed/sandbox/klines";
import { createSandboxPrices } from "./feed/sandbox/prices";
import { type MarketFeed, type RunningMarket, startMarket } from "./market";

const MINUTE_MS = 60_000;

interface MarketsOptions {
  env: Env;
  db: Database;
  catalogues: Record<Venue, Catalogue>;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

/** Starts both venues: the same parts, with different feeds and kline stores. */
export async function startMarkets(options: MarketsOptions): Promise<Record<Venue, RunningMarket>> {
  const [live, sandbox] = await Promise.all([startLive(options), startSandbox(options)]);
  return { live, sandbox };
}

/** The sandbox computes its klines; nothing of it is stored. */
async function startSandbox({ env, catalogues, clock, log, metrics }: MarketsOptions): Promise<RunningMarket> {
  const catalogue = catalogues.sandbox;
  const prices = createSandboxPrices({ catalogue, seed: env.SANDBOX_SEED });
  // From the start of the running minute, so that its kline is whole.
  const startMs = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
  const onSkip = (fromMs: number, toMs: number) => {
    log.warn({ from: new Date(fromMs), to: new Date(toMs) }, "the sandbox stood still too long; its open klines are recomputed");
    void market.skipped(toMs);
  };
  const market = await startMarket({
    venue: "sandbox",
    catalogue,
    store: createSandboxKlines({ prices, clock, alignment: createAlignment() }),
    feed: { name: "sandbox", open: sandboxFeed({ prices, clock, startMs, onSkip }), keepsTime: true, startMs: startMs - 1 },
    acceptsPush: false,
    provider: "sandbox",
    clock,
    log,
    metrics,
  });
  return market;
}

/** The live venue is fed by what the configuration binds; with nothing bound it is honest about it. */
function startLive({ env, db, catalogues, clock, log, metrics }: MarketsOptions): Promise<RunningMarket> {
  const feed = env.LIVE_FEED === "replay" ? openReplay(env, catalogues.live, clock, log) : undefined;
  const store = createKlineStore(db.pool, "live");
  return startMarket({
    venue: "live",
    catalogue: catalogues.live,
    store,
    writer: store,
    ...(feed && { feed }),
    acceptsPush: env.LIVE_FEED === "push",
    provider: env.LIVE_FEED === "none" ? null : (env.LIVE_PROVIDER ?? env.LIVE_FEED),
    clock,
    log,
    metrics,
  });
}

function openReplay(env: Env, catalogue: Catalogue, clock: Clock, log: Logger): MarketFeed {
  const { REPLAY_FILES: files, REPLAY_PACE: pace, REPLAY_SHIFT: shift } = env;
  const open = replayFeed({ files, pace, shift, listings: catalogue.list, clock, log });
  // A recording with its own times is its own clock, and starts from nothing: what is stored is newer than its first tick.
  return shift === "none" ? { name: "replay", open, keepsTime: true, startMs: 0 } : { name: "replay", open, keepsTime: false };
}
