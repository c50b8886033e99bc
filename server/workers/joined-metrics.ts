import { AggregatorRegistry, type Registry } from "prom-client";
import type { MetricTable } from "./questions";

/** Tells the metrics of edge workers from those of the market process, and from each other. */
export const WORKER_LABEL = "worker";

/** The metrics of several processes as Prometheus text: all series of a metric together, none added up. */
export async function joinMetrics(own: Registry, others: readonly MetricTable[]): Promise<string> {
  const tables = [await own.getMetricsAsJSON(), ...others] as unknown as MetricTable[];
  // Series with different labels stay what they are when they are added up, also those that could not be.
  const joined = tables.map((table) => table.map((metric) => ({ ...metric, aggregator: "sum" })));
  return AggregatorRegistry.aggregate(joined).metrics();
}
