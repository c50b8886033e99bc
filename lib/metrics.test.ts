import { expect, test } from "vitest";
import type { PrecedenceReport, UpstreamReport } from "./contract/portal-feeds";
import { collectProcess, createMetrics } from "./metrics";

test("a provider has one state, and its delays are seconds", async () => {
  const metrics = createMetrics();
  const report = { name: "oanda", state: "quiet", lag: { median_ms: 120, p99_ms: 2_500 }, clock_offset_ms: -40 };
  metrics.upstreams(() => [report as UpstreamReport]);
  metrics.upstreamLost("oanda", "silent");
  metrics.upstreamRepaired("oanda", 5);
  metrics.upstreamMessages("oanda", "tick", 12);
  metrics.upstreamMessages("oanda", "unreadable", 1);
  const text = await metrics.registry.metrics();
  for (const line of [
    'spotwire_feed_state{upstream="oanda",state="quiet"} 1',
    'spotwire_feed_state{upstream="oanda",state="live"} 0',
    'spotwire_feed_repaired_minutes_total{upstream="oanda"} 5',
    'spotwire_feed_lag_seconds{upstream="oanda",quantile="0.99"} 2.5',
    'spotwire_feed_clock_offset_seconds{upstream="oanda"} -0.04',
    'spotwire_feed_reconnects_total{upstream="oanda",reason="silent"} 1',
    'spotwire_feed_messages_total{upstream="oanda",outcome="tick"} 12',
    'spotwire_feed_messages_total{upstream="oanda",outcome="unreadable"} 1',
  ])
    expect(text).toContain(line);
});

test("an alarm for a silent feed can be written: open and fresh instruments, and the time of the newest tick", async () => {
  const metrics = createMetrics();
  let lastTickMs: number | null = 1_767_225_600_500;
  metrics.venues(() => [
    { venue: "live", expected: 40, fresh: 38, lastTickMs, unoffered: 1 },
    { venue: "sandbox", expected: 0, fresh: 0, lastTickMs: null, unoffered: 0 },
  ]);
  const text = await metrics.registry.metrics();
  for (const line of [
    'spotwire_market_open_instruments{venue="live"} 40',
    'spotwire_market_open_instruments{venue="sandbox"} 0',
    'spotwire_market_fresh_instruments{venue="live"} 38',
    'spotwire_market_unoffered_instruments{venue="live"} 1',
    'spotwire_market_last_tick_timestamp_seconds{venue="live"} 1767225600.5',
  ])
    expect(text).toContain(line);
  expect(text).not.toContain('last_tick_timestamp_seconds{venue="sandbox"}');
  lastTickMs = null;
  expect(await metrics.registry.metrics()).not.toContain("last_tick_timestamp_seconds{");
});

test("counters end in _total, and nothing else does", async () => {
  const { registry } = createMetrics();
  collectProcess(registry, "spotwire_portal_");
  const types = [...(await registry.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => ({
    name,
    type,
  }));
  expect(types.length).toBeGreaterThan(40);
  const wrong = types.filter(({ name, type }) => name.endsWith("_total") !== (type === "counter"));
  expect(wrong).toEqual([]);
});

test("several providers are counted by the instruments that they speak for, and that they began to speak for", async () => {
  const metrics = createMetrics();
  const providers = [
    { name: "oanda", speaks: 40, divergent: 0 },
    { name: "push", speaks: 2, divergent: 1 },
  ];
  metrics.precedence(() => ({ providers }) as unknown as PrecedenceReport);
  metrics.upstreamChanged("push", "lost", 2);
  const text = await metrics.registry.metrics();
  for (const line of [
    'spotwire_feed_speaks{upstream="oanda"} 40',
    'spotwire_feed_speaks{upstream="push"} 2',
    'spotwire_feed_divergent{upstream="push"} 1',
    'spotwire_feed_changes_total{upstream="push",reason="lost"} 2',
  ])
    expect(text).toContain(line);
});

test("metrics are printed by operation, code, venue and outcome", async () => {
  const metrics = createMetrics();
  metrics.request("latestQuotes", 0, 0.001);
  metrics.request("latestQuotes", 42901, 0.001);
  metrics.authFailed();
  metrics.ticks("live", [null, null, "duplicate"]);
  metrics.recorderFlush("live", 12, false);
  metrics.ticksLeftOut(3);
  const text = await metrics.registry.metrics();
  for (const line of [
    'spotwire_http_requests_total{operation="latestQuotes",code="0"} 1',
    'spotwire_http_requests_total{operation="latestQuotes",code="42901"} 1',
    "spotwire_rate_limited_total 1",
    "spotwire_auth_failures_total 1",
    'spotwire_ticks_total{venue="live",outcome="accepted"} 2',
    'spotwire_ticks_total{venue="live",outcome="duplicate"} 1',
    'spotwire_recorder_rows_total{venue="live",outcome="written"} 12',
    "spotwire_ticks_left_out_total 3",
    'spotwire_http_request_seconds_count{operation="latestQuotes"} 2',
  ])
    expect(text).toContain(line);
});

test("requests are timed by operation in buckets whose bounds belong to them, and reading changes nothing", async () => {
  const metrics = createMetrics();
  for (const seconds of [0.0001, 0.001, 0.0011, 7]) metrics.request("klines", 0, seconds);
  await metrics.registry.metrics();
  const text = await metrics.registry.metrics();
  for (const line of [
    "# TYPE spotwire_http_request_seconds histogram",
    'spotwire_http_request_seconds_bucket{le="0.00025",operation="klines"} 1',
    'spotwire_http_request_seconds_bucket{le="0.001",operation="klines"} 2',
    'spotwire_http_request_seconds_bucket{le="0.0025",operation="klines"} 3',
    'spotwire_http_request_seconds_bucket{le="5",operation="klines"} 3',
    'spotwire_http_request_seconds_bucket{le="+Inf",operation="klines"} 4',
    'spotwire_http_request_seconds_sum{operation="klines"} 7.0022',
    'spotwire_http_request_seconds_count{operation="klines"} 4',
    'spotwire_http_requests_total{operation="klines",code="0"} 4',
  ])
    expect(text).toContain(line);
});

test("connections to the database are counted by what they do, and so are the queries that wait for one", async () => {
  const metrics = createMetrics();
  metrics.database({ totalCount: 10, idleCount: 3, waitingCount: 2 });
  const text = await metrics.registry.metrics();
  expect(text).toContain('spotwire_database_connections{state="idle"} 3\n');
  expect(text).toContain('spotwire_database_connections{state="busy"} 7\n');
  expect(text).toContain("spotwire_database_waiting 2\n");
});
