import type { BoardRow } from "#lib/contract/board";
import type { FeedsReport } from "#lib/contract/portal-admin";
import type { ServiceStatus } from "#lib/contract/service-status";
import { boardOf } from "./board";
import { type FeedSources, reportFeeds } from "./feed-report";
import { createHealthReport, type HealthSources } from "./health-report";

/** What pages show of the markets. In the portal's process each call asks the market process. */
export interface MarketReports {
  /** The rows of the board. */
  board(): Promise<BoardRow[]>;
  /** The state of the service and its health history. */
  status(): Promise<ServiceStatus>;
  /** The feeds of the process that runs the markets, and all backfills. */
  feeds(): Promise<FeedsReport>;
}

/** Makes the reports of this process. */
export function createReports(sources: FeedSources & HealthSources): MarketReports {
  const health = createHealthReport();
  return {
    board: async () => boardOf(sources.markets.sandbox, sources.clock.now()),
    status: () => health(sources),
    feeds: () => reportFeeds(sources),
  };
}
