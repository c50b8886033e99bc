import type { NodeReport } from "#lib/contract/portal-health";
import type { Metrics } from "#lib/metrics";
import { SECOND_MS } from "#lib/units";
import type { FeedSources } from "./feed-report";

/** Codes are the HTTP status times 100 and more. */
const CLIENT_ERRORS_FROM = 40_000;
const SERVER_ERRORS_FROM = 50_000;

async function seriesOf({ registry }: Pick<Metrics, "registry">, name: string) {
  return (await registry.getSingleMetric(name)?.get())?.values ?? [];
}

const sumOf = (series: readonly { readonly value: number }[]) => series.reduce((sum, { value }) => sum + value, 0);

/** Reports this process by its own metrics. */
export async function reportNode({
  metrics,
  clock,
  ready,
}: Pick<FeedSources, "metrics" | "clock" | "ready">): Promise<NodeReport> {
  const sum = async (name: string) => sumOf(await seriesOf(metrics, name));
  const calls = await seriesOf(metrics, "spotwire_http_requests_total");
  const from = (least: number, below: number) =>
    sumOf(calls.filter(({ labels }) => Number(labels.code) >= least && Number(labels.code) < below));
  const started = await sum("process_start_time_seconds");
  // Reading this one measures the event loop, and sets its percentiles.
  await sum("nodejs_eventloop_lag_seconds");
  return {
    process: `${process.pid}.${started}`,
    at_ms: clock.now(),
    started_ms: started * SECOND_MS,
    checks: (await ready()).checks,
    calls: sumOf(calls),
    rejected: from(CLIENT_ERRORS_FROM, SERVER_ERRORS_FROM),
    failed: from(SERVER_ERRORS_FROM, Number.POSITIVE_INFINITY),
    connections: await sum("spotwire_stream_connections"),
    messages: await sum("spotwire_stream_messages_total"),
    memory_bytes: await sum("process_resident_memory_bytes"),
    loop_lag_ms: (await sum("nodejs_eventloop_lag_p99_seconds")) * SECOND_MS,
  };
}
