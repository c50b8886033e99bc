import type { FeedReport, FeedsReport, HistoryFill, LastPusher } from "#lib/contract/portal-admin";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { marketDataState } from "#lib/domain/status";
import { feedGaps } from "#lib/market/feed-gaps";
import type { NodeSources } from "#lib/market/node-report";
import type { Market } from "#lib/market/ports";
import { unofferedOf } from "#lib/market/status";
import type { Metrics } from "#lib/metrics";
import { isTest } from "#lib/service-state";
import type { Database } from "#server/store/database/db";
import { listBackfills } from "./backfills";

/** The parts of a running process that the report is made from. */
export interface FeedSources extends Pick<NodeSources, "markets" | "metrics" | "clock" | "ready"> {
  readonly db: Pick<Database, "prisma" | "pool">;
}

/** Counts the quotes of a venue by age. */
function quotesOf({ catalogue, view, timeAt, isOffered }: Market, wallMs: number) {
  const nowMs = timeAt(wallMs);
  const counts = { live: 0, stale: 0, missing: 0 };
  // Test tickers show states like stale on purpose.
  const listings = catalogue.list().filter(({ ticker, assetClass }) => isOffered(ticker) && !isTest({ asset_class: assetClass }));
  const not_offered = unofferedOf({ catalogue, isOffered });
  let newest: { ticker: string; time_msc: number } | undefined;
  for (const { ticker, staleAfterS } of listings) {
    const quote = view.quote(ticker);
    counts[marketDataState(quote?.time_msc ?? null, nowMs, staleAfterS)] += 1;
    if (quote !== undefined && (newest === undefined || quote.time_msc > newest.time_msc)) newest = quote;
  }
  // By the wall clock even where the feed sets the venue's time: a feed that stands still falls behind.
  const lag = newest === undefined ? null : Math.max(0, wallMs - newest.time_msc);
  return { not_offered, newest_ticker: newest?.ticker ?? null, lag_ms: lag, tickers: listings.length, ...counts };
}

type TickCounts = Pick<FeedReport, "taken" | "refused" | "reasons">;

/** The number of ticks of each venue since the process started. */
async function tickCounts({ registry }: Pick<Metrics, "registry">): Promise<Record<Venue, TickCounts>> {
  const none = () => ({ taken: 0, refused: 0, reasons: {} as Record<string, number> });
  const counts = { live: none(), sandbox: none() };
  const series = await registry.getSingleMetric("spotwire_ticks_total")?.get();
  for (const { labels, value } of series?.values ?? []) {
    const venue = VENUES.find((name) => name === labels.venue);
    if (venue === undefined) continue;
    const count = counts[venue];
    if (labels.outcome === "accepted") count.taken += value;
    else {
      count.refused += value;
      count.reasons[String(labels.outcome)] = value;
    }
  }
  return counts;
}

function historyOf({ coverage }: Market): HistoryFill {
  const { restored, tickers, startedMs, endedMs } = coverage.filling();
  const iso = (ms: number) => new Date(ms).toISOString();
  return { restored, tickers, started_at: iso(startedMs), ended_at: endedMs === null ? null : iso(endedMs) };
}

const PUSHER = `
  SELECT k.name AS key, a.name AS account, greatest(k.last_used_at, k.refused_at) AS at, refused,
         CASE WHEN refused THEN k.refused_address ELSE k.last_used_address END AS address
    FROM api_key k JOIN account a ON a.id = k.account_id,
         LATERAL (SELECT k.refused_at IS NOT NULL AND k.refused_at >= coalesce(k.last_used_at, k.refused_at) AS refused) was
   WHERE k.venue = 'live' AND 'market:ingest' = ANY (k.scopes) AND (k.last_used_at IS NOT NULL OR k.refused_at IS NOT NULL)
   ORDER BY at DESC LIMIT 1`;

/** The last call of a key that may push to the live venue. @throws pg's error */
async function lastPusher({ pool }: FeedSources["db"]): Promise<LastPusher | null> {
  const { rows } = await pool.query<LastPusher & { at: Date }>(PUSHER);
  return rows[0] === undefined ? null : { ...rows[0], at: rows[0].at.toISOString() };
}

/** Reports the feeds of this process, and the progress of all backfills, including those of other processes. */
export async function reportFeeds({ markets, metrics, db, clock, ready }: FeedSources): Promise<FeedsReport> {
  const [{ checks }, ticks, backfills, pusher] = await Promise.all([
    ready(),
    tickCounts(metrics),
    listBackfills(db, clock),
    lastPusher(db),
  ]);
  const started = await metrics.registry.getSingleMetric("process_start_time_seconds")?.get();
  const leftOut = await metrics.registry.getSingleMetric("spotwire_ticks_left_out_total")?.get();
  const nowMs = clock.now();
  const feeds = VENUES.map((venue): FeedReport => {
    const market = markets[venue];
    const { providers, precedence, heldBack, keepsTicks } = market.feed();
    return {
      venue,
      provider: market.provider,
      providers,
      precedence,
      held_back: heldBack,
      kept: keepsTicks ? { left_out: leftOut?.values[0]?.value ?? 0 } : null,
      problem: checks[`feed_${venue}`] ?? null,
      prices_problem: checks[`prices_${venue}`] ?? null,
      pusher: venue === "live" ? pusher : null,
      ...quotesOf(market, nowMs),
      ...ticks[venue],
      gaps: market.provider === null ? null : feedGaps(market.coverage, market.catalogue, market.timeAt(nowMs)),
      history: historyOf(market),
    };
  });
  return { process: `${process.pid}.${started?.values[0]?.value ?? 0}`, at_ms: nowMs, feeds, backfills };
}
