import { boardOf } from "#lib/market/board";
import { createMarketsReport } from "#lib/market/market-report";
import type { MarketReports } from "#lib/market/reports";
import { type FeedSources, reportFeeds } from "./feed-report";
import { createHealthReport, type HealthSources } from "./health-report";

/** Makes the reports of this process. */
export function createReports(sources: FeedSources & HealthSources): MarketReports {
  const health = createHealthReport();
  const markets = createMarketsReport(sources);
  return {
    board: async () => boardOf(sources.markets.sandbox, sources.clock.now()),
    markets: (venue) => markets.rows(venue),
    market: (venue, ticker) => markets.detail(venue, ticker),
    status: () => health(sources),
    feeds: () => reportFeeds(sources),
  };
}
