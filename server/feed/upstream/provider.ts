import type { Clock } from "#lib/clock";
import type { UpstreamReport } from "#lib/contract/portal-feeds";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import type { Catalogue } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import type { Database } from "#server/store/database/db";
import { mendableMinutes } from "#server/store/klines/mendable-minutes";
import type { Feed, FeedStart, MarketFeed } from "../feed";
import type { Upstream } from "./port";
import { createRepair, type Repair, withRepair } from "./repair";
import { reportRepair } from "./repair-report";
import { upstreamFeed } from "./runner";
import { createUpstreamWatch, lossReasonOf } from "./state";
import { asksFor } from "./symbols";

interface ProviderOptions {
  readonly upstream: Upstream;
  readonly catalogue: Catalogue;
  readonly env: Pick<Env, "FEED_SYMBOLS" | "FEED_TICKERS" | "FEED_REPAIR_DAYS">;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface ProviderStart extends Pick<FeedStart, "life" | "lacks" | "mend"> {
  readonly connected?: FeedStart["connected"];
  /** Learns when prices come, and when they no longer do. */
  readonly follower?: { live(matched: Parameters<Repair["live"]>[0]): void; lost(): void };
  /** Whether it mends the minutes of a ticker now; absent: of all. */
  readonly mends?: (ticker: string) => boolean;
}

/** A provider with its watch and its repair. */
export interface Provider {
  readonly name: string;
  readonly hasHistory: boolean;
  /** @returns its feed, and its repair where minutes are stored and it has history */
  open(start: ProviderStart): { readonly feed: Feed; readonly repair: Repair | undefined };
  lost(error: unknown, untilMs: number): void;
  /** False for a ticker that it is not asked for, or did not list when it was last asked. */
  offers(ticker: string): boolean;
  report(): UpstreamReport;
}

/** Makes a provider of an upstream. */
export function createProvider(options: ProviderOptions): Provider {
  const { upstream, catalogue, env, db, clock, log, metrics } = options;
  const { name } = upstream;
  const chosen = env.FEED_SYMBOLS.filter(({ feed }) => feed === name);
  const named = new Map(chosen.map(({ ticker, symbol }) => [ticker, symbol]));
  const watch = createUpstreamWatch({
    upstream,
    calendarOf: catalogue.calendar,
    isListed: (ticker) => catalogue.find(ticker) !== undefined,
    nowMs: clock.now(),
  });
  let current: Repair | undefined;
  const isAsked = asksFor(name, env);
  const listings = () => catalogue.list().filter(({ ticker }) => isAsked(ticker));
  const hasHistory = upstream.minutes !== undefined && env.FEED_REPAIR_DAYS > 0;

  function openRepair(mend: NonNullable<FeedStart["mend"]>, mends: (ticker: string) => boolean): Repair {
    return createRepair({
      upstream,
      days: env.FEED_REPAIR_DAYS,
      mend,
      clock,
      log,
      mendable: async (ticker, span) =>
        mends(ticker) ? mendableMinutes(db.pool, db.segments, ticker, span, catalogue.calendar(ticker)) : [],
      report: () => reportRepair(db, clock, name),
      repaired: (minutes) => metrics.upstreamRepaired(name, minutes),
    });
  }

  return {
    name,
    hasHistory,
    open({ connected, life, lacks, mend, follower, mends = () => true }) {
      const repair = mend && hasHistory ? openRepair(mend, mends) : undefined;
      current = repair;
      const lives: Pick<Repair, "live" | "lost" | "since"> = {
        live(matched) {
          follower?.live(matched);
          repair?.live(matched);
        },
        lost(sinceMs) {
          follower?.lost();
          repair?.lost(sinceMs);
        },
        since: (fromMs) => repair?.since(fromMs),
      };
      const base = { upstream, listings, calendarOf: catalogue.calendar, named, watch, metrics, clock, log };
      const hears = { ...(connected && { connected }), ...(lacks && { lacks }), life };
      const feed = upstreamFeed({ ...base, ...hears, repair: lives });
      return { feed: withRepair(feed, repair), repair };
    },
    lost(error, untilMs) {
      watch.lost(error, clock.now(), untilMs);
      metrics.upstreamLost(name, lossReasonOf(error));
    },
    offers: (ticker) => isAsked(ticker) && watch.offers(ticker),
    report: () => ({ ...watch.report(clock.now()), repairs: current?.waiting() ?? null }),
  };
}

/** The feed of one provider alone. */
export function providerFeed(provider: Provider): MarketFeed {
  const { name, lost, offers, report } = provider;
  return {
    name,
    keepsTime: false,
    lost,
    open: (start) => provider.open(start).feed,
    providers: () => [report()],
    offers,
  };
}
