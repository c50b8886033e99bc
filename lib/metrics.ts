import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { TickRejection } from "#lib/contract/ingest";
import {
  type ChangeReason,
  type HeldBackReason,
  type LossReason,
  type ODD_REASONS,
  type PrecedenceReport,
  UPSTREAM_STATES,
  type UpstreamReport,
} from "#lib/contract/portal-feeds";
import type { Venue } from "#lib/contract/primitives";

/** Upper bounds of the latency buckets, seconds. */
const LATENCY_BUCKETS_S = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Gauges of Node whose names end in `_total`, which is for counters. The same by type remain, without that ending. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** Collects memory, processor time and event loop lag of this process. */
export function collectProcess(register: Registry, prefix = ""): void {
  collectDefaultMetrics({ register, prefix });
  for (const name of MISNAMED) register.removeSingleMetric(prefix + name);
}

/** What the metrics of a venue are read from. */
interface VenueFeed {
  readonly venue: Venue;
  readonly expected: number;
  readonly fresh: number;
  readonly lastTickMs: number | null;
}

/** The counters of this process. Labels have fixed sets of values, so their number is limited. */
export interface Metrics {
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
  /** Counts what came from a provider: ticks, and messages that were not used by reason. */
  upstreamMessages(upstream: string, outcome: "tick" | (typeof ODD_REASONS)[number], count: number): void;
  /** Counts a connection to a provider that ended, or did not come about. */
  upstreamLost(upstream: string, reason: LossReason): void;
  /** Counts minutes that were stored from a provider's history. */
  upstreamRepaired(upstream: string, minutes: number): void;
  /** Sets how the providers are read. */
  upstreams(read: () => readonly UpstreamReport[]): void;
  /** Counts tickers for which a provider began to speak. */
  upstreamChanged(upstream: string, reason: ChangeReason, tickers: number): void;
  /** Sets how the precedence of several providers is read. */
  precedence(read: () => PrecedenceReport): void;
  /** Counts a tick that was kept out of a venue. */
  quarantined(upstream: string, reason: HeldBackReason | "not_a_quote"): void;
  /** Counts a tick with an unusually wide spread, which was let through. */
  wideSpread(upstream: string): void;
  /** Sets how the size of the recorded ticks is read, bytes. */
  recordingBytes(read: () => number): void;
  /** Sets when the last backup that succeeded ended: Unix milliseconds, 0 before the first. There is no metric until it is known. */
  lastBackup(endedMs: number): void;
  /** Counts ticks that could not be recorded. */
  recordingLeftOut(ticks: number): void;
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

/** The metrics of the providers; their names are those of PROVIDER_SETTINGS, and all other labels are of closed sets. */
function upstreamMetrics(
  registers: Registry[],
): Pick<Metrics, "upstreamMessages" | "upstreamLost" | "upstreamRepaired" | "upstreams" | "quarantined" | "wideSpread"> {
  const messages = new Counter({
    name: "spotwire_feed_messages_total",
    help: "Ticks of a provider, and its messages that were not used by reason.",
    labelNames: ["upstream", "outcome"],
    registers,
  });
  const repaired = new Counter({
    name: "spotwire_feed_repaired_minutes_total",
    help: "Minutes that were stored from the history of a provider.",
    labelNames: ["upstream"],
    registers,
  });
  const losses = new Counter({
    name: "spotwire_feed_reconnects_total",
    help: "Connections to a provider that ended and are opened again, by reason.",
    labelNames: ["upstream", "reason"],
    registers,
  });
  const quarantined = new Counter({
    name: "spotwire_feed_quarantined_total",
    help: "Ticks that were kept out because they cannot be true, by reason.",
    labelNames: ["upstream", "reason"],
    registers,
  });
  const wide = new Counter({
    name: "spotwire_feed_wide_spreads_total",
    help: "Ticks with an unusually wide spread; they were let through.",
    labelNames: ["upstream"],
    registers,
  });
  return {
    upstreamMessages: (upstream, outcome, count) => messages.inc({ upstream, outcome }, count),
    quarantined: (upstream, reason) => quarantined.inc({ upstream, reason }),
    wideSpread: (upstream) => wide.inc({ upstream }),
    upstreamLost: (upstream, reason) => losses.inc({ upstream, reason }),
    upstreamRepaired: (upstream, minutes) => repaired.inc({ upstream }, minutes),
    upstreams(read) {
      new Gauge({
        name: "spotwire_feed_state",
        help: "1 for the state of a provider, 0 for the others.",
        labelNames: ["upstream", "state"],
        registers,
        collect() {
          for (const { name: upstream, state: current } of read())
            for (const state of UPSTREAM_STATES) this.set({ upstream, state }, state === current ? 1 : 0);
        },
      });
      const gauge = (name: string, help: string, seconds: (report: UpstreamReport) => readonly [string, number | null][]) => {
        new Gauge({
          ...{ name, help, registers, labelNames: ["upstream", "quantile"] },
          collect() {
            this.reset();
            for (const report of read())
              for (const [quantile, ms] of seconds(report))
                if (ms !== null) this.set({ upstream: report.name, ...(quantile !== "" && { quantile }) }, ms / 1_000);
          },
        });
      };
      gauge("spotwire_feed_lag_seconds", "Arrival of ticks minus their time, in the last minute.", ({ lag }) => [
        ["0.5", lag?.median_ms ?? null],
        ["0.99", lag?.p99_ms ?? null],
      ]);
      gauge("spotwire_feed_clock_offset_seconds", "Smallest arrival minus tick time of five minutes.", ({ clock_offset_ms }) => [
        ["", clock_offset_ms],
      ]);
    },
  };
}

/** The metrics of the venues, from which an alarm for a silent feed is made. */
function venueMetrics(registers: Registry[]): Pick<Metrics, "venues"> {
  return {
    venues(read) {
      const gauge = (name: string, help: string, measured: (feed: VenueFeed) => number | null) => {
        new Gauge({
          ...{ name, help, registers, labelNames: ["venue"] },
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
        "Instruments whose market is open and that the venue's feed should deliver, without test tickers.",
        ({ expected }) => expected,
      );
      gauge("spotwire_market_fresh_instruments", "Those of the open instruments that have a fresh quote.", ({ fresh }) => fresh);
      gauge("spotwire_market_last_tick_timestamp_seconds", "Time of the newest tick, Unix seconds.", ({ lastTickMs }) =>
        lastTickMs === null ? null : lastTickMs / 1_000,
      );
    },
  };
}

/** The metrics of the recording of ticks. */
function recordingMetrics(registers: Registry[]): Pick<Metrics, "recordingBytes" | "recordingLeftOut"> {
  const leftOut = new Counter({
    name: "spotwire_feed_recording_left_out_total",
    help: "Ticks that could not be recorded: the disk is slow, full or not there.",
    registers,
  });
  return {
    recordingLeftOut: (ticks) => leftOut.inc(ticks),
    recordingBytes(read) {
      new Gauge({
        name: "spotwire_feed_recording_bytes",
        help: "Size of the recorded ticks.",
        registers,
        collect() {
          this.set(read());
        },
      });
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
      lastBackup.set(endedMs / 1_000);
    },
  };
}

/** The metrics of a venue with several providers. */
function precedenceMetrics(registers: Registry[]): Pick<Metrics, "upstreamChanged" | "precedence"> {
  const changed = new Counter({
    name: "spotwire_feed_changes_total",
    help: "Instruments for which this provider began to speak, by reason.",
    labelNames: ["upstream", "reason"],
    registers,
  });
  return {
    upstreamChanged: (upstream, reason, tickers) => changed.inc({ upstream, reason }, tickers),
    precedence(read) {
      const gauge = (name: string, help: string, count: (provider: PrecedenceReport["providers"][number]) => number) => {
        new Gauge({
          ...{ name, help, registers, labelNames: ["upstream"] },
          collect() {
            for (const provider of read().providers) this.set({ upstream: provider.name }, count(provider));
          },
        });
      };
      gauge("spotwire_feed_speaks", "Instruments that a provider speaks for.", ({ speaks }) => speaks);
      gauge(
        "spotwire_feed_divergent",
        "Instruments of which the prices of a provider differ from those that are taken.",
        ({ divergent }) => divergent,
      );
    },
  };
}

/** Creates the counters of one process, with those of Node itself. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectProcess(registry);

  const requests = new Counter({
    name: "spotwire_http_requests_total",
    help: "REST answers by operation and envelope code.",
    labelNames: ["operation", "code"],
    registers,
  });
  const latency = new Histogram({
    name: "spotwire_http_request_seconds",
    help: "Time from the call of a route to its answer.",
    labelNames: ["operation"],
    buckets: LATENCY_BUCKETS_S,
    registers,
  });
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
  const sent = new Counter({ name: "spotwire_stream_messages_total", help: "Messages handed to stream connections.", registers });
  const merged = new Counter({ name: "spotwire_stream_merged_total", help: "Records merged for slow connections.", registers });
  const closes = new Counter({
    name: "spotwire_stream_closes_total",
    help: "Stream connections the service ended, by reason.",
    labelNames: ["reason"],
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

  /** Cached per operation and code: looking labels up costs more than counting. */
  const answers = new Map<string, { requests: Counter.Internal; latency: Histogram.Internal<string> }>();

  return {
    registry,
    request(operation, code, seconds) {
      const name = `${operation} ${code}`;
      let bound = answers.get(name);
      if (bound === undefined) {
        bound = { requests: requests.labels(operation, String(code)), latency: latency.labels(operation) };
        answers.set(name, bound);
      }
      bound.requests.inc();
      bound.latency.observe(seconds);
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
    ...upstreamMetrics(registers),
    ...recordingMetrics(registers),
    ...precedenceMetrics(registers),
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
    ...backupMetrics(registers),
    recorderFlush: (venue, count, failed) => rows.inc({ venue, outcome: failed ? "failed" : "written" }, count),
    usageDropped: (what, count) => usageDropped.inc({ what }, count),
  };
}
