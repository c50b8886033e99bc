/** A line of a panel: a PromQL expression, and its name by labels as `{{label}}`. */
interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** A graph over time; `unit` is Grafana's name of the unit of its lines. */
interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly help?: string;
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const NODES = 'instance=~"$instance"';
const RATE = "[$__rate_interval]";

/** A rate per second, summed over the chosen nodes by these labels. `metric` may end in matchers, as `name{code="0"`. */
function perSecond(metric: string, ...by: readonly string[]): Query {
  const selected = metric.includes("{") ? `${metric},${NODES}}` : `${metric}{${NODES}}`;
  const legend = by.map((label) => `{{${label}}}`).join(" ");
  if (by.length === 0) return { expr: `sum(rate(${selected}${RATE}))`, legend: "all" };
  return { expr: `sum by (${by.join(", ")}) (rate(${selected}${RATE}))`, legend };
}

/** A gauge of the chosen nodes; the legend names the labels that tell its lines apart. */
function value(metric: string, ...labels: readonly string[]): Query {
  return { expr: `${metric}{${NODES}}`, legend: ["instance", ...labels].map((label) => `{{${label}}}`).join(" ") };
}

/** A quantile of the time of calls by operation, seconds. */
function latency(quantile: number): Query {
  return {
    expr: `histogram_quantile(${quantile}, sum by (le, operation) (rate(spotwire_http_request_seconds_bucket{${NODES}}${RATE})))`,
    legend: "{{operation}}",
  };
}

const failedCalls = 'spotwire_http_requests_total{code=~"5...."';
const rejectedTicks = 'spotwire_ticks_total{outcome!="accepted"';

/** What the dashboard shows, from top to bottom. */
export const ROWS: readonly Row[] = [
  {
    title: "Traffic",
    panels: [
      { title: "Calls", unit: "reqps", queries: [perSecond("spotwire_http_requests_total", "operation")] },
      {
        title: "Checks",
        unit: "bool_on_off",
        help: "The checks of /api/ready.",
        queries: [value("spotwire_check_ok", "check")],
      },
    ],
  },
  {
    title: "Errors",
    panels: [
      {
        title: "Failed calls, by code",
        unit: "reqps",
        help: "Errors of the service. 50001 is an internal error.",
        queries: [perSecond(failedCalls, "code")],
      },
      {
        title: "Rejected calls, by code",
        unit: "reqps",
        help: "Errors of callers.",
        queries: [perSecond('spotwire_http_requests_total{code=~"4...."', "code")],
      },
    ],
  },
  {
    title: "Latency",
    panels: [
      { title: "Median, by operation", unit: "s", queries: [latency(0.5)] },
      { title: "99th percentile, by operation", unit: "s", queries: [latency(0.99)] },
      {
        title: "Mean, all operations",
        unit: "s",
        queries: [
          {
            expr: `sum(rate(spotwire_http_request_seconds_sum{${NODES}}${RATE})) / sum(rate(spotwire_http_request_seconds_count{${NODES}}${RATE}))`,
            legend: "mean",
          },
        ],
      },
    ],
  },
  {
    title: "Limits",
    panels: [
      { title: "Calls over a rate limit", unit: "reqps", queries: [perSecond("spotwire_rate_limited_total")] },
      { title: "Keys that were not accepted", unit: "reqps", queries: [perSecond("spotwire_auth_failures_total")] },
      {
        title: "Refused by a bound",
        unit: "ops",
        help: "Requests and connections that were refused before anything else looked at them.",
        queries: [perSecond("spotwire_refused_total", "where", "reason")],
      },
    ],
  },
  {
    title: "Streams",
    panels: [
      { title: "Connections", unit: "short", queries: [value("spotwire_stream_connections")] },
      { title: "Messages", unit: "ops", queries: [perSecond("spotwire_stream_messages_total", "instance")] },
      {
        title: "Merged for slow connections",
        unit: "ops",
        queries: [perSecond("spotwire_stream_merged_total", "instance")],
      },
      { title: "Ended by the service, by reason", unit: "ops", queries: [perSecond("spotwire_stream_closes_total", "reason")] },
    ],
  },
  {
    title: "Market",
    panels: [
      {
        title: "Instruments that should and do have fresh quotes",
        unit: "short",
        help: "Open is 0 while all markets are closed.",
        queries: [
          { expr: `max by (venue) (spotwire_market_open_instruments{${NODES}})`, legend: "{{venue}} open" },
          { expr: `max by (venue) (spotwire_market_fresh_instruments{${NODES}})`, legend: "{{venue}} fresh" },
          { expr: `max by (venue) (spotwire_market_unoffered_instruments{${NODES}})`, legend: "{{venue}} not offered" },
        ],
      },
      {
        title: "Age of the newest tick",
        unit: "s",
        queries: [
          { expr: `time() - max by (venue) (spotwire_market_last_tick_timestamp_seconds{${NODES}})`, legend: "{{venue}}" },
        ],
      },
      { title: "Ticks", unit: "ops", queries: [perSecond('spotwire_ticks_total{outcome="accepted"', "venue")] },
      { title: "Rejected ticks, by reason", unit: "ops", queries: [perSecond(rejectedTicks, "venue", "outcome")] },
    ],
  },
  {
    title: "Feeds",
    panels: [
      {
        title: "State of providers",
        unit: "short",
        queries: [{ expr: `max by (upstream, state) (spotwire_feed_state{${NODES}}) == 1`, legend: "{{upstream}} {{state}}" }],
      },
      { title: "Lag of ticks", unit: "s", queries: [value("spotwire_feed_lag_seconds", "upstream", "quantile")] },
      {
        title: "Clock offset",
        unit: "s",
        help: "Below zero: the provider's clock is ahead of this server's.",
        queries: [value("spotwire_feed_clock_offset_seconds", "upstream")],
      },
      { title: "Messages", unit: "ops", queries: [perSecond("spotwire_feed_messages_total", "upstream", "outcome")] },
      { title: "Lost connections", unit: "ops", queries: [perSecond("spotwire_feed_reconnects_total", "upstream", "reason")] },
      {
        title: "Held back and wide ticks",
        unit: "ops",
        queries: [
          perSecond("spotwire_feed_quarantined_total", "upstream", "reason"),
          { ...perSecond("spotwire_feed_wide_spreads_total", "upstream"), legend: "{{upstream}} wide spread" },
        ],
      },
      {
        title: "Who speaks",
        unit: "short",
        help: "Instruments that each of several providers speaks for.",
        queries: [value("spotwire_feed_speaks", "upstream")],
      },
      {
        title: "Changes between providers, and prices that differ",
        unit: "short",
        queries: [
          perSecond("spotwire_feed_changes_total", "upstream", "reason"),
          { expr: `spotwire_feed_divergent{${NODES}}`, legend: "{{upstream}} divergent" },
        ],
      },
      {
        title: "Minutes repaired from history",
        unit: "ops",
        queries: [perSecond("spotwire_feed_repaired_minutes_total", "upstream")],
      },
      { title: "Ticks that are not kept", unit: "ops", queries: [perSecond("spotwire_ticks_left_out_total")] },
    ],
  },
  {
    title: "Database and Redis",
    panels: [
      {
        title: "Connections of the market process",
        unit: "short",
        queries: [
          value("spotwire_database_connections", "state"),
          { expr: `spotwire_database_waiting{${NODES}}`, legend: "{{instance}} waiting queries" },
        ],
      },
      { title: "Rows written and failed", unit: "ops", queries: [perSecond("spotwire_recorder_rows_total", "venue", "outcome")] },
      { title: "Usage that could not be written", unit: "ops", queries: [perSecond("spotwire_usage_dropped_total", "what")] },
      {
        title: "Redis",
        unit: "bool_on_off",
        help: "Whether Redis answers; empty without Redis.",
        queries: [{ expr: `spotwire_check_ok{check="redis",${NODES}}`, legend: "{{instance}}" }],
      },
    ],
  },
  {
    title: "Disk and backup",
    panels: [
      {
        title: "Free disk space",
        unit: "bytes",
        help: "Below the reserve, pushes are refused.",
        queries: [
          value("spotwire_disk_free_bytes", "disk"),
          { expr: `max(spotwire_disk_reserve_bytes{${NODES}})`, legend: "reserve" },
        ],
      },
      {
        title: "Used disk space",
        unit: "percentunit",
        queries: [
          {
            expr: `1 - spotwire_disk_free_bytes{${NODES}} / spotwire_disk_bytes{${NODES}}`,
            legend: "{{instance}} {{disk}}",
          },
        ],
      },
      {
        title: "Age of the last backup",
        unit: "s",
        queries: [{ expr: `time() - max(spotwire_backup_last_timestamp_seconds{${NODES}} > 0)`, legend: "age" }],
      },
    ],
  },
  {
    title: "Process",
    panels: [
      {
        title: "Processor",
        unit: "percentunit",
        help: "1 is a whole core. JavaScript runs on one.",
        queries: [
          { ...perSecond("process_cpu_seconds_total", "instance"), legend: "{{instance}} market" },
          { ...perSecond("spotwire_portal_process_cpu_seconds_total", "instance"), legend: "{{instance}} portal" },
        ],
      },
      {
        title: "Memory",
        unit: "bytes",
        queries: [
          { expr: `process_resident_memory_bytes{${NODES}}`, legend: "{{instance}} market" },
          { expr: `spotwire_portal_process_resident_memory_bytes{${NODES}}`, legend: "{{instance}} portal" },
        ],
      },
      {
        title: "Event loop lag, 99th percentile",
        unit: "s",
        queries: [
          { expr: `nodejs_eventloop_lag_p99_seconds{${NODES}}`, legend: "{{instance}} market" },
          { expr: `spotwire_portal_nodejs_eventloop_lag_p99_seconds{${NODES}}`, legend: "{{instance}} portal" },
        ],
      },
      { title: "Open files", unit: "short", queries: [value("process_open_fds")] },
    ],
  },
];
