import { expect, test } from "vitest";
import { createMetrics } from "#lib/metrics";
import { joinMetrics, WORKER_LABEL } from "./joined-metrics";
import type { MetricTable } from "./questions";

async function tableOf(worker: number, requests: number): Promise<MetricTable> {
  const metrics = createMetrics();
  metrics.registry.setDefaultLabels({ [WORKER_LABEL]: String(worker) });
  for (let index = 0; index < requests; index += 1) metrics.request("klines", 0, 0.001);
  metrics.streamConnections(() => requests);
  // As it goes from process to process.
  return JSON.parse(JSON.stringify(await metrics.registry.getMetricsAsJSON())) as MetricTable;
}

test("one scrape has the metrics of every process, each series once, and each metric with one head", async () => {
  const own = createMetrics();
  own.request("ingestTicks", 0, 0.002);
  own.venues(() => [{ venue: "live", expected: 3, fresh: 2, unoffered: 0, lastTickMs: null }]);
  const lines = (await joinMetrics(own.registry, [await tableOf(1, 2), await tableOf(2, 5)])).split("\n");
  for (const line of [
    'spotwire_http_requests_total{operation="ingestTicks",code="0"} 1',
    'spotwire_http_requests_total{operation="klines",code="0",worker="1"} 2',
    'spotwire_http_requests_total{operation="klines",code="0",worker="2"} 5',
    'spotwire_http_request_seconds_count{operation="klines",worker="2"} 5',
    'spotwire_stream_connections{worker="1"} 2',
    'spotwire_market_open_instruments{venue="live"} 3',
  ])
    expect(lines).toContain(line);
  expect(lines.filter((line) => line.startsWith("process_start_time_seconds"))).toHaveLength(3);
  const names = lines.filter((line) => line.startsWith("# TYPE")).map((line) => line.split(" ")[2]);
  expect(new Set(names).size).toBe(names.length);
});
