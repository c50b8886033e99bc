import type { AddressInfo } from "node:net";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { Access } from "#lib/access/access";
import type { BankCall, Lent } from "#lib/access/limits/bucket-bank";
import type { Readiness } from "#lib/runtime";
import type { PageReader } from "#server/portal/page-cache";
import type { AskedReports } from "#server/portal/questions";
import type { ParentAnswers } from "#server/processes/parent";

/** The metrics of a process, as they go from process to process. */
export type MetricTable = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What the market process answers to an edge worker, which says where it listens. */
export type WorkerQuestions = ParentAnswers<AddressInfo> &
  AskedReports &
  Pick<Access, "useTicket"> & {
    /** Lends units of a bucket. */
    lend(key: string, call: BankCall): Lent;
    /** Takes a place for a connection, which the worker names. */
    openConnection(id: number, owner: string, max: number): boolean;
    hasConnectionRoom(owner: string, max: number): boolean;
    closeConnection(id: number): void;
    /** The text of a shared page. */
    page(path: string, reader: PageReader): Promise<string | undefined>;
    readiness(): Promise<Readiness>;
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
  /** Path of the socket to which it passes requests on. */
  readonly requestsPath: string;
  /** Folder of the sockets of this node: from those of the venues come events, at others workers serve sessions of their own to each other. */
  readonly folder: string;
}
