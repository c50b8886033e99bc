import type { Access } from "#lib/access/access";
import type { MarketReports } from "#lib/market/reports";

/** What the market process answers to the portal. */
export type MarketAnswers = Pick<MarketReports, keyof MarketReports> & Pick<Access, "remaining" | "takeFor">;

/** What the portal needs to start. */
export interface PortalStart {
  /** Contains the password: never logged. */
  readonly databaseUrl: string;
  /** Its share of the database connections. */
  readonly poolSize: number;
  /** The installation's secret: never logged. */
  readonly secret: string;
  /** Path of the socket to listen on. */
  readonly socketPath: string;
  /** Base URL of links in emails. */
  readonly base: string;
}

/** What the portal answers to the market process. */
export type PortalAnswers = {
  /** Starts it; it asks `ready` when pages are served. */
  start(options: PortalStart): void;
  /** Proves that its event loop runs. */
  ping(): void;
  /** The metrics of its process, as Prometheus text. */
  metrics(): Promise<string>;
  /** Stops it after the requests in flight. */
  stop(): void;
};
