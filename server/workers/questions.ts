import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { Access } from "#lib/access/access";
import type { BankCall, Lent } from "#lib/access/limits/bucket-bank";
import type { MarketReports } from "#lib/market/reports";
import type { Readiness } from "#lib/runtime";
import type { PageReader } from "#server/portal/page-cache";

/** The metrics of a process, as they go from process to process. */
export type MetricTable = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What the market process answers to an edge worker. */
export type WorkerQuestions = Pick<MarketReports, keyof MarketReports> &
  Pick<Access, "useTicket"> & {
    /** What the worker needs to start; it asks when it can hear the answer. */
    begin(): WorkerStart;
    /** Lends units of a bucket. */
    lend(key: string, call: BankCall): Lent;
    /** Takes a place for a connection, which the worker names. */
    openPlace(id: number, owner: string, max: number): boolean;
    hasPlace(owner: string, max: number): boolean;
    closePlace(id: number): void;
    /** The text of a shared page. */
    page(path: string, reader: PageReader): Promise<string | undefined>;
    readiness(): Promise<Readiness>;
    /** The worker could not start, and ends. */
    failed(reason: string): void;
  };

/** What a worker needs to start. */
export interface WorkerStart {
  /** Its number, from 1; a worker that takes the place of another one has the same. */
  readonly worker: number;
  /** Contains the password: never logged. */
  readonly databaseUrl: string;
  /** Its share of the database connections. */
  readonly poolSize: number;
  /** The installation's secret: never logged. */
  readonly secret: string;
  /** Path of the socket from which the events come. */
  readonly eventsPath: string;
  /** Path of the socket to which it passes requests on. */
  readonly requestsPath: string;
  /** Folder of the sockets at which workers serve the sessions of their own to each other. */
  readonly sessionsFolder: string;
}

/** What an edge worker answers to the market process. */
export type WorkerAnswers = {
  /** Proves that its event loop runs. */
  ping(): void;
  metrics(): Promise<MetricTable>;
  /** Stops it after the requests in flight. */
  stop(): void;
};
