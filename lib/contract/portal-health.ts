import type { Venue } from "./primitives";

/** The process that runs the markets, on the node that answers. Counters run since it started. */
export interface NodeReport {
  /** Identifies the process run that the counters belong to; counters of different runs cannot be compared. */
  readonly process: string;
  readonly at_ms: number;
  readonly started_ms: number;
  /** The checks of /api/ready: null for each that is well, else what is wrong. */
  readonly checks: Readonly<Record<string, string | null>>;
  /** REST calls: all, those that the client got wrong, and those that failed here. */
  readonly calls: number;
  readonly rejected: number;
  readonly failed: number;
  /** Open stream connections. */
  readonly connections: number;
  readonly messages: number;
  readonly memory_bytes: number;
  /** How late the event loop runs, at the 99th percentile. */
  readonly loop_lag_ms: number;
}

/** A venue at a glance. */
interface VenueHealth {
  readonly venue: Venue;
  readonly provider: string | null;
  readonly problem: string | null;
  readonly lag_ms: number | null;
  readonly tickers: number;
  readonly live: number;
  readonly taken: number;
}

/** What operators see first. */
export interface HealthReport {
  readonly node: NodeReport;
  readonly venues: readonly VenueHealth[];
  readonly storage: {
    readonly database_bytes: number;
    /** Of the disk that DATA_DIR is on; null where it cannot be read. */
    readonly disk_free_bytes: number | null;
    readonly disk_bytes: number | null;
  };
}
