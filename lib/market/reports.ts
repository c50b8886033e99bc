import type { BoardRow } from "#lib/contract/board";
import type { MarketDetail, MarketRow } from "#lib/contract/markets";
import type { FeedsReport } from "#lib/contract/portal-admin";
import type { Venue } from "#lib/contract/primitives";
import type { ServiceStatus } from "#lib/contract/service-status";
import { boardOf } from "./board";
import { type FeedSources, reportFeeds } from "./feed-report";
import { createHealthReport, type HealthSources } from "./health-report";
import { createMarketsReport } from "./market-report";

/** What pages show of the markets. In the portal's process each call asks the market process. */
export interface MarketReports {
  /** The rows of the board. */
  board(): Promise<BoardRow[]>;
  /** All instruments of a venue with their prices. */
  markets(venue: Venue): Promise<MarketRow[]>;
  /** One instrument of a venue; undefined when it is not listed. */
  market(venue: Venue, ticker: string): Promise<MarketDetail | undefined>;
  /** The state of the service and its health history. */
  status(): Promise<ServiceStatus>;
  /** The feeds of the process that runs the markets, and all backfills. */
  feeds(): Promise<FeedsReport>;
}

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
