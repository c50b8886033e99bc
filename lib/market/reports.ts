import type { BoardRow } from "#lib/contract/board";
import type { MarketDetail, MarketRow } from "#lib/contract/markets";
import type { FeedsReport } from "#lib/contract/portal-admin";
import type { Venue } from "#lib/contract/primitives";
import type { ServiceStatus } from "#lib/contract/service-status";

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

export const REPORTS = ["board", "markets", "market", "status", "feeds"] as const satisfies readonly (keyof MarketReports)[];
