import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { afterAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { CLOSES } from "#lib/contract/close-codes";
import { ERRORS } from "#lib/contract/errors";
import { UPSTREAM_STATES } from "#lib/contract/portal-feeds";
import { VENUES } from "#lib/contract/primitives";
import { grafanaDashboard } from "#lib/docs/grafana/dashboard";
import { ROWS } from "#lib/docs/grafana/rows";
import { createMetrics } from "#lib/metrics";
import { missing } from "#lib/testing/packages";
import { createProcessMetrics } from "#server/portal/process-metrics";

const RULES = path.join(import.meta.dirname, "rules.yaml");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}
const { groups } = parse(readFileSync(RULES, "utf8")) as { groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
/** Grafana sets the window of a rate, and the chosen nodes. */
const panels = ROWS.flatMap((row) => row.panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))).map((expr) =>
  expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".+"),
);
const expressions = [...rules.map(({ expr }) => expr), ...panels];

interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly op: string; readonly value: string }[];
}

/** The time series that an expression selects, and all labels that it groups or joins by. @throws for a wrong expression */
function readExpression(expr: string): { selectors: Selector[]; grouped: string[] } {
  const selectors: { metric: string; matchers: Selector["matchers"][number][] }[] = [];
  const grouped: string[] = [];
  const textOf = ({ from, to }: { from: number; to: number }) => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`Wrong at ${node.from}: ${expr}`);
      if (node.name === "VectorSelector") selectors.push({ metric: "", matchers: [] });
      const current = selectors.at(-1);
      if (node.name === "Identifier" && current !== undefined && current.metric === "")
        selectors[selectors.length - 1] = { ...current, metric: textOf(node) };
      if (node.name === "UnquotedLabelMatcher") {
        const [, label = "", op = "", value = ""] = /^(\w+)\s*([!=~]+)\s*"(.*)"$/.exec(textOf(node)) ?? [];
        current?.matchers.push({ label, op, value });
      }
      if (node.name === "LabelName" && node.node.parent?.name === "GroupingLabels") grouped.push(textOf(node));
    },
  });
  return { selectors, grouped };
}

const metrics = createMetrics();
metrics.venues(() => []);
metrics.upstreams(() => []);
metrics.precedence(() => ({ providers: [] }) as never);
metrics.streamConnections(() => 0);
metrics.database({ totalCount: 0, idleCount: 0, waitingCount: 0 });
metrics.damagedHistory(() => 0);
metrics.lastBackup(0);
metrics.disk(0, () => null);

/** Added to each sample by Prometheus, by the library for a part of a histogram, or by an edge worker. */
const ADDED_LABELS = ["instance", "job", "le", "quantile", "worker"];
const PARTS = /_(bucket|sum|count)$/;

function labelsOf(metric: string): readonly string[] | undefined {
  if (metric === "up" || metric.startsWith("spotwire_portal_")) return ADDED_LABELS;
  const { registry } = metrics;
  const found = registry.getSingleMetric(metric) ?? registry.getSingleMetric(metric.replace(PARTS, ""));
  return found && [...ADDED_LABELS, ...(found as unknown as { labelNames: string[] }).labelNames];
}

/** The closed sets of values that matchers name. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  code: Object.values(ERRORS).map(({ code }) => String(code)),
  state: [...UPSTREAM_STATES, "idle", "busy"],
  reason: Object.keys(CLOSES),
  venue: VENUES,
  check: ["process", "store", "disk", "redis", ...VENUES.flatMap((venue) => [`feed_${venue}`, `prices_${venue}`])],
  quantile: ["0.5", "0.99"],
};

describe("the dashboard and the alert rules", () => {
  test("every expression is PromQL", () => {
    for (const expr of expressions) expect(readExpression(expr).selectors.length, expr).toBeGreaterThan(0);
    expect(() => readExpression("sum(rate(up[5m])")).toThrow("Wrong at");
  });

  test("every metric is one of the service's, with labels that it has and values that occur", async () => {
    const portal = await createProcessMetrics().metrics();
    for (const expr of expressions) {
      const { selectors, grouped } = readExpression(expr);
      for (const { metric, matchers } of selectors) {
        const labels = labelsOf(metric);
        expect(labels, `${metric} in ${expr}`).toBeDefined();
        if (metric.startsWith("spotwire_portal_")) expect(portal).toContain(`# TYPE ${metric} `);
        const used = [...matchers.map(({ label }) => label), ...grouped];
        expect(labels, expr).toEqual(expect.arrayContaining(used));
        for (const { label, op, value } of matchers) {
          const known = VALUES[label];
          if (known === undefined) continue;
          const wanted = new RegExp(op.endsWith("~") ? `^(?:${value})$` : `^${value.replaceAll(".", "\\.")}$`);
          expect(
            known.some((each) => wanted.test(each)),
            `${label}="${value}" in ${expr}`,
          ).toBe(true);
        }
      }
    }
  });

  test("every metric of the service is shown or alerted on", () => {
    const used = new Set(
      expressions.flatMap((expr) => readExpression(expr).selectors.map(({ metric }) => metric.replace(PARTS, ""))),
    );
    const own = metrics.registry.getMetricsAsArray().map(({ name }) => name);
    expect(own.filter((name) => name.startsWith("spotwire_") && !used.has(name))).toEqual([]);
  });

  test("each row and panel of the dashboard has its place on the grid", () => {
    const places = grafanaDashboard("Spotwire").panels.map(({ id, gridPos: { x, y, w } }) => ({ id, x, y, w }));
    expect(places).toHaveLength(ROWS.length + ROWS.flatMap(({ panels }) => panels).length);
    expect(new Set(places.map(({ id }) => id)).size).toBe(places.length);
    expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(places.length);
    for (const { x, w } of places) expect(x + w).toBeLessThanOrEqual(24);
  });

  test("each alert says what is wrong and where to look, and who is to be woken", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(alert).toMatch(/^Spotwire[A-Z]/);
      expect(labels.severity, alert).toMatch(/^(page|ticket)$/);
      for (const text of [annotations.summary, annotations.description]) expect(text, alert).toMatch(/\.$/);
    }
  });
});

const MINUTES = 90;
/** A value that stays. */
const stays = (value: number) => `${value}x${MINUTES}`;
/** A counter that grows by so much a minute. */
const grows = (perMinute: number) => `0+${perMinute}x${MINUTES}`;
const NODE = 'instance="a",job="spotwire"';

/** An installation that is well, with a live market open, from second 0 on. */
const HEALTHY: Readonly<Record<string, string>> = {
  [`up{${NODE}}`]: stays(1),
  [`spotwire_check_ok{${NODE},check="process"}`]: stays(1),
  [`spotwire_check_ok{${NODE},check="store"}`]: stays(1),
  [`spotwire_http_requests_total{${NODE},operation="klines",code="0"}`]: grows(600),
  [`spotwire_http_requests_total{${NODE},operation="klines",code="40401"}`]: grows(30),
  [`spotwire_http_request_seconds_count{${NODE},operation="klines"}`]: grows(600),
  [`spotwire_http_request_seconds_bucket{${NODE},operation="klines",le="0.01"}`]: grows(600),
  [`spotwire_http_request_seconds_bucket{${NODE},operation="klines",le="2.5"}`]: grows(600),
  [`spotwire_http_request_seconds_bucket{${NODE},operation="klines",le="+Inf"}`]: grows(600),
  [`nodejs_eventloop_lag_p99_seconds{${NODE}}`]: stays(0.021),
  [`process_resident_memory_bytes{${NODE}}`]: stays(300e6),
  [`spotwire_portal_process_resident_memory_bytes{${NODE}}`]: stays(300e6),
  [`process_open_fds{${NODE}}`]: stays(500),
  [`process_max_fds{${NODE}}`]: stays(65_536),
  [`process_start_time_seconds{${NODE}}`]: stays(1),
  [`spotwire_portal_process_start_time_seconds{${NODE}}`]: stays(2),
  [`spotwire_market_open_instruments{${NODE},venue="live"}`]: stays(40),
  [`spotwire_market_fresh_instruments{${NODE},venue="live"}`]: stays(40),
  [`spotwire_market_last_tick_timestamp_seconds{${NODE},venue="live"}`]: grows(60),
  [`spotwire_ticks_total{${NODE},venue="live",outcome="accepted"}`]: grows(6_000),
  [`spotwire_ticks_total{${NODE},venue="live",outcome="duplicate"}`]: grows(500),
  [`spotwire_feed_state{${NODE},upstream="oanda",state="live"}`]: stays(1),
  [`spotwire_feed_state{${NODE},upstream="oanda",state="refused"}`]: stays(0),
  [`spotwire_feed_state{${NODE},upstream="oanda",state="quiet"}`]: stays(0),
  [`spotwire_feed_lag_seconds{${NODE},upstream="oanda",quantile="0.99"}`]: stays(0.2),
  [`spotwire_feed_clock_offset_seconds{${NODE},upstream="oanda"}`]: stays(0.05),
  [`spotwire_feed_messages_total{${NODE},upstream="oanda",outcome="tick"}`]: grows(6_000),
  [`spotwire_feed_messages_total{${NODE},upstream="oanda",outcome="no_price"}`]: stays(0),
  [`spotwire_feed_reconnects_total{${NODE},upstream="oanda",reason="lost"}`]: stays(1),
  [`spotwire_feed_quarantined_total{${NODE},upstream="oanda",reason="spike"}`]: stays(3),
  [`spotwire_feed_wide_spreads_total{${NODE},upstream="oanda"}`]: grows(10),
  [`spotwire_feed_divergent{${NODE},upstream="oanda"}`]: stays(0),
  [`spotwire_feed_speaks{${NODE},upstream="oanda"}`]: stays(40),
  [`spotwire_feed_changes_total{${NODE},upstream="oanda",reason="lost"}`]: stays(40),
  [`spotwire_feed_repaired_minutes_total{${NODE},upstream="oanda"}`]: grows(1),
  [`spotwire_ticks_left_out_total{${NODE}}`]: stays(0),
  [`spotwire_stream_connections{${NODE}}`]: stays(5_000),
  [`spotwire_stream_messages_total{${NODE}}`]: grows(100_000),
  [`spotwire_stream_merged_total{${NODE}}`]: grows(1_000),
  [`spotwire_stream_closes_total{${NODE},reason="slow_consumer"}`]: stays(4),
  [`spotwire_auth_failures_total{${NODE}}`]: grows(3),
  [`spotwire_rate_limited_total{${NODE}}`]: grows(3),
  [`spotwire_refused_total{${NODE},where="http",reason="too_many_pipelined"}`]: grows(3),
  [`spotwire_recorder_rows_total{${NODE},venue="live",outcome="written"}`]: grows(3_000),
  [`spotwire_recorder_rows_total{${NODE},venue="live",outcome="failed"}`]: stays(0),
  [`spotwire_usage_dropped_total{${NODE},what="calls"}`]: stays(0),
  [`spotwire_history_damaged_files{${NODE}}`]: stays(0),
  [`spotwire_database_connections{${NODE},state="idle"}`]: stays(4),
  [`spotwire_database_waiting{${NODE}}`]: stays(0),
  [`spotwire_disk_free_bytes{${NODE},disk="data"}`]: stays(500e6),
  [`spotwire_disk_bytes{${NODE},disk="data"}`]: stays(2e9),
  [`spotwire_disk_reserve_bytes{${NODE}}`]: stays(300e6),
  [`spotwire_backup_last_timestamp_seconds{${NODE}}`]: stays(1),
};

/** What goes wrong for each alert: series that replace, or with null end, those of the healthy installation with the same text in them. */
const FAULTS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  SpotwireDown: { "up{": stays(0) },
  SpotwireAbsent: { "up{": null },
  SpotwireCheckFailing: { 'check="store"': stays(0) },
  SpotwireHistoryDamaged: { spotwire_history_damaged: stays(2) },
  SpotwireInternalErrors: {
    'code="40401"': "",
    [`spotwire_http_requests_total{${NODE},operation="klines",code="50001"}`]: grows(1),
  },
  SpotwireCallsFail: { [`spotwire_http_requests_total{${NODE},operation="klines",code="50302"}`]: grows(20) },
  SpotwireSlow: { 'le="0.01"': grows(590), 'le="2.5"': grows(592) },
  SpotwireEventLoopSlow: { nodejs_eventloop: stays(0.2) },
  SpotwireMemoryHigh: { spotwire_portal_process_resident: stays(1.2e9) },
  SpotwireFilesRunOut: { process_open_fds: stays(60_000) },
  SpotwireRestarts: { "process_start_time_seconds{": grows(60), spotwire_portal_process_start: stays(2) },
  SpotwirePortalRestarts: { spotwire_portal_process_start: grows(60) },
  SpotwireFeedSilent: { last_tick: stays(60) },
  SpotwireQuotesStale: { fresh_instruments: stays(30) },
  SpotwireTicksRejected: { [`spotwire_ticks_total{${NODE},venue="live",outcome="crossed_quote"}`]: grows(100) },
  SpotwireFeedRefused: { 'state="refused"': stays(1) },
  SpotwireFeedQuiet: { 'state="quiet"': stays(1) },
  SpotwireFeedReconnects: { spotwire_feed_reconnects: grows(1) },
  SpotwireFeedLag: { 'quantile="0.99"': stays(3) },
  SpotwireFeedClock: { spotwire_feed_clock: stays(-2) },
  SpotwireFeedUnreadable: { 'outcome="no_price"': grows(2) },
  SpotwireTicksHeldBack: { spotwire_feed_quarantined: grows(2) },
  SpotwireSpreadsWide: { spotwire_feed_wide: grows(600) },
  SpotwireProvidersDiffer: { spotwire_feed_divergent: stays(2) },
  SpotwireProvidersChange: { spotwire_feed_changes: grows(4) },
  SpotwireHistoryRepaired: { spotwire_feed_repaired: grows(40) },
  SpotwireTicksLeftOut: { spotwire_ticks_left: grows(1) },
  SpotwireSlowConsumers: { 'reason="slow_consumer"': grows(2) },
  SpotwireStreamsMerged: { spotwire_stream_merged: grows(30_000) },
  SpotwireStreamsFull: { spotwire_stream_connections: stays(9_500) },
  SpotwireManyRejectedKeys: { spotwire_auth_failures: grows(900) },
  SpotwireManyOverLimit: { spotwire_rate_limited: grows(300) },
  SpotwireRefusing: { spotwire_refused: grows(900) },
  SpotwireWritesFail: { 'outcome="failed"': grows(5) },
  SpotwireUsageDropped: { spotwire_usage_dropped: grows(1) },
  SpotwireDatabaseBusy: { 'state="idle"': stays(0), spotwire_database_waiting: stays(6) },
  SpotwireDiskFull: { spotwire_disk_free: stays(250e6) },
  SpotwireDiskLow: { "spotwire_disk_bytes{": stays(8e9) },
  SpotwireBackupTooOld: { spotwire_backup_last: stays(-200_000) },
};

/** The series of an installation with this fault. */
function seriesWith(fault: Readonly<Record<string, string | null>>): { series: string; values: string }[] {
  const all: Record<string, string> = { ...HEALTHY };
  for (const [part, values] of Object.entries(fault)) {
    const replaced = Object.keys(HEALTHY).filter((series) => series.includes(part));
    for (const series of replaced) {
      if (values === null) delete all[series];
      else if (values !== "") all[series] = values;
    }
    if (replaced.length === 0 && values) all[part] = values;
  }
  return Object.entries(all).map(([series, values]) => ({ series, values }));
}

describe("promtool", () => {
  const scratch = mkdtempSync(path.join(tmpdir(), "spotwire-rules-"));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  const promtool = (...args: string[]) => spawnSync("promtool", args, { encoding: "utf8" });
  const absent = missing("prometheus");

  /** Whether promtool finds exactly these alerts firing in the last minute. */
  function tested(cases: readonly (readonly [alerts: readonly string[], fault: Readonly<Record<string, string | null>>])[]) {
    const file = path.join(scratch, "rules.test.yaml");
    const tests = cases.map(([alerts, fault]) => ({
      name: alerts.join(", ") || "healthy",
      interval: "1m",
      input_series: seriesWith(fault),
      promql_expr_test: [
        {
          expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${MINUTES}m`,
          exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
        },
      ],
    }));
    writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: "5m", tests }));
    const { status, stdout, stderr } = promtool("test", "rules", file);
    return { status, said: `${stdout}${stderr}` };
  }

  test("the rules, and the panels as rules, pass `promtool check rules`", ({ skip }) => {
    skip(absent !== null, absent ?? "");
    const file = path.join(scratch, "panels.yaml");
    writeFileSync(
      file,
      stringify({ groups: [{ name: "panels", rules: panels.map((expr, id) => ({ record: `panel:${id}`, expr })) }] }),
    );
    const { status, stdout, stderr } = promtool("check", "rules", RULES, file);
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  test("an installation that is well raises no alert, and each fault raises its own alone", ({ skip }) => {
    skip(absent !== null, absent ?? "");
    expect(Object.keys(FAULTS).sort()).toEqual(rules.map(({ alert }) => alert).sort());
    const faults = Object.entries(FAULTS).map(([alert, fault]) => [[alert], fault] as const);
    const { status, said } = tested([[[], {}], ...faults]);
    expect(status, said).toBe(0);
    expect(tested([[["SpotwireDown"], {}]]).status).not.toBe(0);
  });
});
