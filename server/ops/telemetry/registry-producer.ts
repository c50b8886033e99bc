import { type HrTime, ValueType } from "@opentelemetry/api";
import { hrTime, millisToHrTime } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import { AggregationTemporality, DataPointType, type MetricData, type MetricProducer } from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import { SECOND_MS } from "#lib/units";

type Labels = Record<string, string>;
type Value = MetricValue<string> & { readonly metricName?: string };
type Family = MetricObjectWithValues<Value>;

/** Units by the endings of names, in the notation of UCUM. */
const UNITS: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/_seconds(_total)?$/, "s"],
  [/_bytes(_total)?$/, "By"],
];

interface Span {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** One point of a histogram: buckets are cumulative in Prometheus, and each for itself in OpenTelemetry. */
interface Buckets {
  readonly attributes: Labels;
  readonly boundaries: number[];
  readonly cumulative: number[];
  sum: number;
  count: number;
}

function bucketsOf({ name, values }: Family): Buckets[] {
  const found = new Map<string, Buckets>();
  for (const { labels, value, metricName } of values) {
    const { le, ...attributes } = labels as Labels;
    const key = JSON.stringify(attributes);
    const buckets = found.get(key) ?? { attributes, boundaries: [], cumulative: [], sum: 0, count: 0 };
    found.set(key, buckets);
    if (metricName === `${name}_sum`) buckets.sum = value;
    else if (metricName === `${name}_count`) buckets.count = value;
    else {
      buckets.cumulative.push(value);
      if (le !== undefined && String(le) !== "+Inf") buckets.boundaries.push(Number(le));
    }
  }
  return [...found.values()];
}

function metricOf(family: Family, span: Span): MetricData {
  const { name, help, type, values } = family;
  const unit = UNITS.find(([ending]) => ending.test(name))?.[1] ?? "";
  const about = {
    descriptor: { name, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // Its type is a number in the library's declaration, and a word when it runs.
  const kind = String(type);
  if (kind === "histogram") {
    const dataPoints = bucketsOf(family).map(({ attributes, boundaries, cumulative, sum, count }) => {
      const counts = cumulative.map((total, index) => total - (cumulative[index - 1] ?? 0));
      return { ...span, attributes, value: { buckets: { boundaries, counts }, sum, count } };
    });
    return { ...about, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = values.map(({ labels, value }) => ({ ...span, attributes: labels as Labels, value }));
  if (kind === "counter") return { ...about, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  return { ...about, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Gives OpenTelemetry the metrics of /metrics, under the same names, so that nothing is counted twice. */
export function registryProducer(registry: Registry, resource: Resource): MetricProducer {
  const startTime = millisToHrTime(Date.now() - process.uptime() * SECOND_MS);
  return {
    async collect() {
      const families = (await registry.getMetricsAsJSON()) as unknown as Family[];
      const span = { startTime, endTime: hrTime() };
      const metrics = families.map((family) => metricOf(family, span));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: "spotwire" }, metrics }] }, errors: [] };
    },
  };
}
