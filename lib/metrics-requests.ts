import { Counter, type Histogram, type Registry } from "prom-client";

/** Upper bounds of the latency buckets, seconds. */
const LATENCY_BUCKETS_S = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const LATENCY = "spotwire_http_request_seconds";

/** The answers of one operation so far. */
interface Answers {
  /** By the envelope's code. */
  readonly calls: Map<number, number>;
  /** By latency bucket; the last one has the longer latencies. */
  readonly latencies: number[];
  seconds: number;
}

function samplesOf(operation: string, { latencies, seconds }: Answers) {
  let count = 0;
  const buckets = latencies.map((calls, bucket) => {
    count += calls;
    return { labels: { le: LATENCY_BUCKETS_S[bucket] ?? "+Inf", operation }, value: count, metricName: `${LATENCY}_bucket` };
  });
  return [
    ...buckets,
    { labels: { operation }, value: seconds, metricName: `${LATENCY}_sum` },
    { labels: { operation }, value: count, metricName: `${LATENCY}_count` },
  ];
}

/**
 * Counts and times REST answers. They are counted here and given to prom-client when it is read: its histogram finds labels and
 * bucket by their texts for each value, which costs every request more than its rate limit.
 * @returns `request` of Metrics, without the refusals by rate limit
 */
export function requestMetrics(registry: Registry): (operation: string, code: number, seconds: number) => void {
  const operations = new Map<string, Answers>();

  new Counter({
    name: "spotwire_http_requests_total",
    help: "REST answers by operation and envelope code.",
    labelNames: ["operation", "code"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [operation, { calls }] of operations)
        for (const [code, count] of calls) this.inc({ operation, code: String(code) }, count);
    },
  });
  const described = {
    name: LATENCY,
    help: "Time from the call of a route to its answer.",
    type: "histogram",
    aggregator: "sum",
  };
  const latency = {
    ...described,
    labelNames: ["operation"],
    get: async () => ({ ...described, values: [...operations].flatMap(([name, answers]) => samplesOf(name, answers)) }),
  };
  // A registry reads the name and `get`; prom-client's types ask for its own class.
  registry.registerMetric(latency as unknown as Histogram);

  function begin(operation: string): Answers {
    const latencies = new Array<number>(LATENCY_BUCKETS_S.length + 1).fill(0);
    const answers = { calls: new Map<number, number>(), latencies, seconds: 0 };
    operations.set(operation, answers);
    return answers;
  }

  return (operation, code, seconds) => {
    const answers = operations.get(operation) ?? begin(operation);
    answers.calls.set(code, (answers.calls.get(code) ?? 0) + 1);
    let bucket = 0;
    while (seconds > (LATENCY_BUCKETS_S[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    answers.latencies[bucket] = (answers.latencies[bucket] ?? 0) + 1;
    answers.seconds += seconds;
  };
}
