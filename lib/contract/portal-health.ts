import { z } from "zod";
import { HOUR_S } from "#lib/units";
import { VENUES, type Venue } from "./primitives";
import { IDLE_REASONS, type ServiceStatus } from "./service-status";
import type { IncidentNote } from "./uptime";

/** How often a node reports; its rates are those since the report before. */
export const NODE_REPORT_INTERVAL_S = 10;
/** A node that did not report for this long counts as silent. */
export const NODE_SILENT_AFTER_S = 60;
/** A silent node is shown for this long. */
export const NODE_FORGOTTEN_AFTER_S = HOUR_S;
/** Nodes that are shown: those that reported last. */
export const NODES_MAX_COUNT = 100;
/** Runs of a backup that are kept. */
export const BACKUP_RUNS_MAX_COUNT = 100;
/** A longer reason of a failed backup is cut. */
export const BACKUP_PROBLEM_MAX_CHARACTERS = 1_000;

const Rate = z.number();

const DiskSpace = z.object({ free_bytes: z.number(), bytes: z.number() });
export type DiskSpace = z.infer<typeof DiskSpace>;

/**
 * What a node says of its market process. Nodes of two releases run side by side during a deployment: a field that is added must
 * be optional.
 */
export const NodeReport = z.object({
  version: z.string(),
  role: z.string(),
  started_ms: z.number(),
  /** The checks of /api/ready: null for each that is well, else what is wrong. */
  checks: z.record(z.string(), z.string().nullable()),
  /** What will need an operator, as `checks`; absent from an earlier release. */
  warnings: z.record(z.string(), z.string().nullable()).optional(),
  /** Those of both that have nothing to judge, and why; absent from an earlier release. */
  idle: z.record(z.string(), z.enum(IDLE_REASONS)).optional(),
  /** Per minute, since the report before; null in the first one. */
  rates: z
    .object({
      calls: Rate,
      /** Calls that the client got wrong, and those that failed here. */
      rejected: Rate,
      failed: Rate,
      /** Messages to streams. */
      messages: Rate,
      /** Ticks that were taken; of several nodes, one takes those of a venue. */
      ticks: z.record(z.enum(VENUES), Rate),
    })
    .nullable(),
  /** Open stream connections. */
  connections: z.number(),
  /** Age of the newest tick of each venue; null before the first. */
  lag_ms: z.record(z.enum(VENUES), z.number().nullable()),
  /** Since when each venue has had no fresh price, Unix milliseconds; null while it has one. Absent from an earlier release. */
  quiet_since_ms: z.record(z.enum(VENUES), z.number().nullable()).optional(),
  memory_bytes: z.number(),
  /** Listed tickers that the feed of each venue is known not to bring; absent from an earlier release. */
  not_offered: z.record(z.enum(VENUES), z.array(z.string())).optional(),
  /** How late the event loop runs, at the 99th percentile. */
  loop_lag_ms: z.number(),
  /** Of the disk that DATA_DIR is on; null where it cannot be read. */
  disk: DiskSpace.nullable(),
});
export type NodeReport = z.infer<typeof NodeReport>;

/** A node, and when it last reported. */
export interface NodeHealth extends NodeReport {
  readonly name: string;
  readonly age_ms: number;
  /** It did not report for NODE_SILENT_AFTER_S: its figures are old. */
  readonly silent: boolean;
}

/** One run of `npm run backup`. */
export interface BackupRun {
  readonly started_at: string;
  readonly ended_at: string;
  /** Size of the file, and rows in it; null when it failed. */
  readonly bytes: number | null;
  readonly rows: number | null;
  /** Why it failed. */
  readonly problem: string | null;
}

/** A venue at a glance. */
interface VenueHealth {
  readonly venue: Venue;
  readonly provider: string | null;
  readonly lag_ms: number | null;
  /** Instruments that its feed offers, without those for tests, how many of them have a live quote, and how many others are listed. */
  readonly tickers: number;
  readonly live: number;
  readonly not_offered: number;
}

/** What operators see first. */
export interface HealthReport {
  readonly at_ms: number;
  /** By name. */
  readonly nodes: readonly NodeHealth[];
  /** As the node that answers sees them. */
  readonly venues: readonly VenueHealth[];
  /** The latest self-check, as of ServiceStatus. */
  readonly checked: ServiceStatus["checked"];
  /** The newest notes of the status page. */
  readonly notes: readonly IncidentNote[];
  /** Since when each problem lasts, by the name of its check; a new one is known within a minute. */
  readonly since: Readonly<Record<string, string>>;
  /** Accounts that wait for an operator, for approval or for live access. */
  readonly accounts_waiting: number;
  readonly database_bytes: number;
  readonly backups: {
    /** The last one that succeeded. */
    readonly last: BackupRun | null;
    /** The last one that failed, if it is newer. */
    readonly failed: BackupRun | null;
    /** From this age on the last one is too old; 0 for never. */
    readonly max_age_s: number;
  };
}
