import type { Access } from "#lib/access/access";
import type { MarketReports } from "#lib/market/reports";
import type { ParentAnswers } from "#server/processes/parent";

/** The reports of the market process, as other processes ask for them. */
export type AskedReports = Pick<MarketReports, keyof MarketReports>;

/** What the market process answers to the portal, which says at which socket it serves pages. */
export type MarketAnswers = ParentAnswers<string> &
  AskedReports &
  Pick<Access, "remaining" | "takeForPage"> & {
    /** What is wrong with the mail server that it sends to, or null. */
    noteMailServer(problem: string | null): void;
  };

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
  /** Path of the socket at which the market process answers calls of its REST API. */
  readonly requestsPath: string;
  /** Base URL of links in emails. */
  readonly base: string;
}
