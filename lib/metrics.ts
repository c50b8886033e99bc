import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { TickRejection } from "#lib/contract/ingest";
import type { DiskSpace } from "#lib/contract/portal-health";
import type { Venue } from "#lib/contract/primitives";
import type { IdleReason } from "./contract/service-status";
import { type FeedMetrics, feedMetrics } from "./metrics-feeds";
import { requestMetrics } from "./metrics-requests";
import { SECOND_MS } from "./units";

/** Gauges of Node whose names end in `_total`, which is for counters. The same by type remain, without that ending. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** Measuring the event loop wakes the process this often; every 10 ms, the default, takes 0.7 % of a core when idle. */
export const LOOP_SAMPLE_MS = 20;
/** Read by the report of the node, from each of its processes. */
export const DAMAGED_HISTORY = "spotwire_history_damaged_files";

/** Collects memory, processor time and event loop lag of this process. The lag includes the time between two samples. */
export function collectProcess(register: Registry, prefix = ""): void {
  collectDefaultMetrics({ register, prefix, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  for (const name of MISNAMED) register.removeSingleMetric(prefix + name);
}

/** What the metrics of a venue are read from. */
interface VenueFeed {
  readonly venue: Venue;
  readonly expected: number;
  readonly fresh: number;
  readonly unoffered: number;
  readonly lastTickMs: number | null;
}

/** The part of pg's pool that is measured: connections, those of them that nobody uses, and callers that wait for one. */
interface ConnectionPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** The counters of this process. Labels have fixed sets of values, so their number is limited. */
export interface Metrics extends FeedMetrics {
  /** The text of /metrics. */
  readonly registry: Registry;
  /**
   * Counts one REST response.
   * @param operation an operation's id, or "none" for a path that serves nothing
   * @param code the envelope's code: 0 for success, else the number of the error
   */
  request(operation: string, code: number, seconds: number): void;
  /** Counts one refused authentication. */
  authFailed(): void;
  /** Counts a request or connection that a bound refused before anything else looked at it, by where and why. */
  refused(where: string, reason: string): void;
  /** Counts the ticks of a venue that its engine judged: null for each accepted tick, else the reason. */
  ticks(venue: Venue, judged: readonly (TickRejection | null)[]): void;
  /** Sets how the health of the venues' feeds is read. */
  venues(read: () => readonly VenueFeed[]): void;
  /** Sets the outcome of the checks of /api/ready, by name: null when well, else the problem. Those of `idle` have none. */
  checked(checks: Readonly<Record<string, string | null>>, idle?: Readonly<Record<string, IdleReason>>): void;
  /** Sets how the connections to the database are read. */
  database(pool: ConnectionPool): void;
  /** Sets how the files of history are counted that this process found damaged or missing. */
  damagedHistory(count: () => number): void;
  /** Sets how the free space of the disk of DATA_DIR is read, and the bytes below which pushes are refused. */
  disk(reserveBytes: number, read: () => DiskSpace | null): void;
  /** Sets when the last backup that succeeded ended: Unix milliseconds, 0 before the first. There is no metric until it is known. */
  lastBackup(endedMs: number): void;
  /** Counts messages passed to stream connections. */
  streamSent(messages: number): void;
  /** Counts records merged into newer ones because a connection was slow. */
  streamMerged(records: number): void;
  /** Counts one stream connection that the service ended, by the name of its close. */
  streamClosed(close: string): void;
  /** Sets how the open stream connections are counted. */
  streamConnections(count: () => number): void;
  /** Counts one batch of the recorder. */
  recorderFlush(venue: Venue, rows: number, failed: boolean): void;
  /** Counts usage that could not be recorded: calls, streams, or lines of the request log. */
  usageDropped(what: string, count: number): void;
}

/** The metrics of the venues, from which an alarm for a silent feed is made. */
function venueMetrics(registers: Registry[]): Pick<Metrics, "venues"> {
  return {
    venues(read) {
      const gauge = (name: string, help: string, measured: (feed: VenueFeed) => number | null) => {
        new Gauge({
          name,
          help,
          registers,
          labelNames: ["venue"],
          collect() {
            this.reset();
            for (const feed of read()) {
              const value = measured(feed);
              if (value !== null) this.set({ venue: feed.venue }, value);
            }
          },
        });
      };
      gauge(
        "spotwire_market_open_instruments",
        "Instruments that the venue's feed offers and whose market is open, without test tickers.",
        ({ expected }) => expected,
      );
      gauge("spotwire_market_fresh_instruments", "Those of the open instruments that have a fresh quote.", ({ fresh }) => fresh);
      gauge(
        "spotwire_market_unoffered_instruments",
        "Listed instruments that the venue's feed is known not to bring.",
        ({ unoffered }) => unoffered,
      );
      gauge("spotwire_market_last_tick_timestamp_seconds", "Time of the newest tick, Unix seconds.", ({ lastTickMs }) =>
        lastTickMs === null ? null : lastTickMs / SECOND_MS,
      );
    },
  };
}

/** The metrics of what this process depends on. */
function dependencyMetrics(registers: Registry[]): Pick<Metrics, "checked" | "database" | "damagedHistory"> {
  const check = new Gauge({
    name: "spotwire_check_ok",
    help: "1 for a check of /api/ready that is well, 0 for one that is not; none for one with nothing to judge, such as a feed without a provider. Read every 10 seconds.",
    labelNames: ["check"],
    registers,
  });
  return {
    checked(checks, idle = {}) {
      for (const [name, problem] of Object.entries(checks))
        if (idle[name] === undefined) check.set({ check: name }, problem === null ? 1 : 0);
        else check.remove({ check: name });
    },
    damagedHistory(count) {
      new Gauge({
        name: DAMAGED_HISTORY,
        help: "Files of history that could not be read because they are damaged or missing, in each process that reads them.",
        registers,
        collect() {
          this.set(count());
        },
      });
    },
    database(pool) {
      new Gauge({
        name: "spotwire_database_connections",
        help: "Connections of the market process to the database, by what they do.",
        labelNames: ["state"],
        registers,
        collect() {
          this.set({ state: "idle" }, pool.idleCount);
          this.set({ state: "busy" }, pool.totalCount - pool.idleCount);
        },
      });
      new Gauge({
        name: "spotwire_database_waiting",
        help: "Queries that wait for a free connection to the database.",
        registers,
        collect() {
          this.set(pool.waitingCount);
        },
      });
    },
  };
}

/** The metrics of the disk. */
function diskMetrics(registers: Registry[]): Pick<Metrics, "disk"> {
  return {
    disk(reserveBytes, read) {
      const gauge = (name: string, help: string, measured: (space: DiskSpace) => number) => {
        new Gauge({
          name,
          help,
          registers,
          labelNames: ["disk"],
          collect() {
            this.reset();
            const space = read();
            if (space) this.set({ disk: "data" }, measured(space));
          },
        });
      };
      gauge("spotwire_disk_free_bytes", "Free space of the disk of DATA_DIR.", (space) => space.free_bytes);
      gauge("spotwire_disk_bytes", "Size of the disk of DATA_DIR.", ({ bytes }) => bytes);
      new Gauge({
        name: "spotwire_disk_reserve_bytes",
        help: "Free space of data below which pushes are refused.",
        registers,
      }).set(reserveBytes);
    },
  };
}

/** The metrics of backups. */
function backupMetrics(registers: Registry[]): Pick<Metrics, "lastBackup"> {
  let lastBackup: Gauge | undefined;
  return {
    lastBackup(endedMs) {
      lastBackup ??= new Gauge({
        name: "spotwire_backup_last_timestamp_seconds",
        help: "When the last backup that succeeded ended, Unix seconds; 0 before the first.",
        registers,
      });
      lastBackup.set(endedMs / SECOND_MS);
    },
  };
}

/** The metrics of the stream connections. */
function streamMetrics(
  registers: Registry[],
): Pick<Metrics, "streamSent" | "streamMerged" | "streamClosed" | "streamConnections"> {
  const sent = new Counter({ name: "spotwire_stream_messages_total", help: "Messages handed to stream connections.", registers });
  const merged = new Counter({ name: "spotwire_stream_merged_total", help: "Records merged for slow connections.", registers });
  const closes = new Counter({
    name: "spotwire_stream_closes_total",
    help: "Stream connections the service ended, by reason.",
    labelNames: ["reason"],
    registers,
  });
  return {
    streamSent: (messages) => sent.inc(messages),
    streamMerged: (records) => merged.inc(records),
    streamClosed: (reason) => closes.inc({ reason }),
    streamConnections(count) {
      new Gauge({
        name: "spotwire_stream_connections",
        help: "Open stream connections.",
        registers,
        collect() {
          this.set(count());
        },
      });
    },
  };
}

/** Creates the counters of one process, with those of Node itself. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectProcess(registry);

  const countRequest = requestMetrics(registry);
  const rateLimited = new Counter({ name: "spotwire_rate_limited_total", help: "Requests refused with 429.", registers });
  const authFailures = new Counter({ name: "spotwire_auth_failures_total", help: "Keys that were not accepted.", registers });
  const refusals = new Counter({
    name: "spotwire_refused_total",
    help: "Requests and connections that a bound refused, by where and why.",
    labelNames: ["where", "reason"],
    registers,
  });
  const ticks = new Counter({
    name: "spotwire_ticks_total",
    help: "Ticks by venue and outcome.",
    labelNames: ["venue", "outcome"],
    registers,
  });
  const rows = new Counter({
    name: "spotwire_recorder_rows_total",
    help: "Rows the recorder wrote, or failed to write and kept.",
    labelNames: ["venue", "outcome"],
    registers,
  });
  const usageDropped = new Counter({
    name: "spotwire_usage_dropped_total",
    help: "Use of keys that could not be written: calls, streams, requests of the log.",
    labelNames: ["what"],
    registers,
  });

  return {
    registry,
    request(operation, code, seconds) {
      countRequest(operation, code, seconds);
      if (Math.floor(code / 100) === 429) rateLimited.inc();
    },
    authFailed: () => authFailures.inc(),
    refused: (where, reason) => refusals.inc({ where, reason }),
    ticks(venue, judged) {
      let accepted = 0;
      for (const reason of judged) {
        if (reason === null) accepted += 1;
        else ticks.inc({ venue, outcome: reason });
      }
      if (accepted > 0) ticks.inc({ venue, outcome: "accepted" }, accepted);
    },
    ...venueMetrics(registers),
    ...dependencyMetrics(registers),
    ...feedMetrics(registers),
    ...streamMetrics(registers),
    ...backupMetrics(registers),
    ...diskMetrics(registers),
    recorderFlush: (venue, count, failed) => rows.inc({ venue, outcome: failed ? "failed" : "written" }, count),
    usageDropped: (what, count) => usageDropped.inc({ what }, count),
  };
}
