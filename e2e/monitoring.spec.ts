import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type Collector, type ReceivedSpan, startCollector } from "./collector";
import { keyHolder, type MadeKey, makeKey } from "./commands";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { openSocket } from "./socket";

const KLINES = "/api/v1/market/klines";
const WAIT = { timeout: 60_000, interval: 50 };
const QUEUE_MAX = 40;
const BATCH_MAX = 10;
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const ADDRESS = "203.0.113.77";

let collector: Collector;
let product: Product;
let key: MadeKey;
beforeAll(async () => {
  collector = await startCollector();
  product = await startProduct({
    ...API_ONLY,
    TRUSTED_PROXIES: "127.0.0.1",
    LIVE_FEED: "push,oanda",
    OANDA_TOKEN: "t0ken-of-the-provider",
    OANDA_ACCOUNT: "101-001",
    // Nobody listens there.
    FEED_RECORD: "on",
    FEED_URL: "oanda=http://127.0.0.1:9",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_METRIC_EXPORT_INTERVAL: "1000",
    OTEL_BSP_SCHEDULE_DELAY: "50",
    OTEL_BSP_MAX_QUEUE_SIZE: String(QUEUE_MAX),
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: String(BATCH_MAX),
  });
  key = await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream" });
}, SERVER_TIMEOUT_MS);
afterAll(async () => {
  await product?.dispose();
  await collector?.close();
}, SERVER_TIMEOUT_MS);

/** The first span that fits, once it came. */
async function span(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  await expect.poll(() => collector.spans().find(fits), WAIT).toBeDefined();
  return collector.spans().find(fits) as ReceivedSpan;
}

test("a call is a span of its caller's trace, with route, status, error and kind of key, and its queries are its parts", async () => {
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, "x-forwarded-for": ADDRESS };
  const answer = await keyHolder(product, key).call(`${KLINES}?ticker=NONSENSE&timeframe=H1`, { headers });
  expect(answer.message).toBe("unknown_ticker");
  const call = await span(({ name, traceId }) => name === `GET ${KLINES}` && traceId === TRACE);
  expect(call).toMatchObject({
    parentSpanId: CALLER,
    kind: 2,
    status: 0,
    attributes: {
      "http.request.method": "GET",
      "http.route": KLINES,
      "http.response.status_code": answer.status,
      "spotwire.operation": "klines",
      "spotwire.error": "unknown_ticker",
      "spotwire.key.kind": "sandbox",
    },
    resource: {
      "service.name": "spotwire",
      "spotwire.process": "market",
      "deployment.environment.name": "test",
    },
  });
  // The first use of a key is a question to the database.
  const query = await span(({ kind, traceId }) => kind === 3 && traceId === TRACE);
  expect(query).toMatchObject({
    parentSpanId: call.spanId,
    attributes: { "db.system.name": "postgresql", "db.operation.name": "SELECT" },
  });
  expect(query.name).toBe(`SELECT ${query.attributes["db.collection.name"]}`);
});

test("handshakes of streams and connections to providers are spans; queries without a request are none", async () => {
  (await openSocket(product.baseUrl, { key: key.text })).close();
  expect(
    await span(({ name, attributes }) => name === "stream connect" && attributes["spotwire.key.kind"] !== undefined),
  ).toMatchObject({
    kind: 2,
    status: 0,
    attributes: { "spotwire.key.kind": "sandbox" },
  });
  expect(await span(({ name }) => name === "feed connect")).toMatchObject({
    kind: 3,
    status: 2,
    attributes: { "spotwire.feed": "oanda", "error.type": "unreachable" },
  });
  expect(
    collector.spans().filter(({ kind, name, parentSpanId }) => kind === 3 && name !== "feed connect" && parentSpanId === ""),
  ).toEqual([]);
});

test("no span and no metric has a key, a token or an address in it", () => {
  const sent = collector.bytes();
  expect(sent.includes(`GET ${KLINES}`)).toBe(true);
  for (const secret of [key.text, key.id, ADDRESS, "t0ken-of-the-provider", "NONSENSE"])
    expect(sent.includes(secret), secret).toBe(false);
});

/** The samples of /metrics: their labels by name. */
async function scrape(): Promise<{ types: Map<string, string>; labels: Map<string, Set<string>>; text: string }> {
  const text = await (await fetch(`${product.baseUrl}/metrics`)).text();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const labels = new Map<string, Set<string>>();
  for (const [, name = "", inner = ""] of text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const seen = labels.get(name) ?? new Set();
    for (const [, label = ""] of inner.matchAll(/(\w+)="/g)) seen.add(label);
    labels.set(name, seen);
  }
  return { types, labels, text };
}

test("OpenTelemetry gets every metric of /metrics, by the same name, kind and labels", async () => {
  const { types, labels } = await scrape();
  const latency = () => collector.metrics().find(({ name }) => name === "spotwire_http_request_seconds");
  const ofKlines = () => latency()?.points.find(({ attributes }) => attributes.operation === "klines");
  await expect.poll(ofKlines, WAIT).toBeDefined();
  const metrics = new Map(collector.metrics().map((metric) => [metric.name, metric]));
  const withPoints = [...types].filter(([name]) => labels.has(name) || labels.has(`${name}_count`));
  expect(withPoints.length).toBeGreaterThan(30);
  const kinds: Record<string, string> = { counter: "sum", gauge: "gauge", histogram: "histogram" };
  const missing = withPoints.filter(
    ([name, type]) => !name.startsWith("spotwire_portal_") && metrics.get(name)?.kind !== kinds[type],
  );
  expect(missing).toEqual([]);
  expect(latency()?.unit).toBe("s");
  expect(ofKlines()?.counts.reduce((sum, count) => sum + count, 0)).toBe(ofKlines()?.value);
});

/** Every series that the dashboard and the alert rules select: its name, and the labels that its matchers name. */
async function selected(): Promise<{ name: string; labels: string[] }[]> {
  const { groups } = parse(readFileSync("server/deploy/prometheus/rules.yaml", "utf8")) as {
    groups: { rules: { expr: string }[] }[];
  };
  const dashboard = await fetch(`${product.baseUrl}/grafana.json`);
  const { panels } = (await dashboard.json()) as { panels: { targets?: { expr: string }[] }[] };
  const expressions = [
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ];
  return expressions.flatMap((expr) =>
    [...expr.matchAll(/\b((?:spotwire|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = "", matchers = ""]) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)[!=]/g)].map(([, label = ""]) => label),
    })),
  );
}

test("the metrics of the dashboard and of the alert rules are in the scrape of a running node, with their labels", async () => {
  const { types, labels } = await scrape();
  const series = (await selected()).filter(({ name }) => !name.startsWith("spotwire_portal_"));
  expect(series.length).toBeGreaterThan(60);
  const unknown = series.filter(({ name }) => !types.has(name) && !types.has(name.replace(/_(bucket|sum|count)$/, "")));
  expect(unknown).toEqual([]);
  // Counters with labels have samples once something was counted.
  const seen = series.filter(({ name }) => labels.has(name));
  expect(seen.length).toBeGreaterThan(40);
  const wrong = seen.filter((each) =>
    each.labels.some((label) => !["instance", "job"].includes(label) && !labels.get(each.name)?.has(label)),
  );
  expect(wrong).toEqual([]);
});

test("a collector that hangs costs the spans beyond the queue, one line of the log, and nothing else", async () => {
  const reader = keyHolder(product, key);
  const calls = () => collector.spans().filter(({ name }) => name === "GET /api/v1/market/status").length;
  const lines = () => product.output().match(/the collector takes no telemetry/g)?.length ?? 0;
  const before = lines();
  collector.hang(true);
  const asked = 200;
  for (let sent = 0; sent < asked; sent += 1) expect((await reader.call("/api/v1/market/status?tickers=EURUSD")).code).toBe(0);
  await expect.poll(lines, WAIT).toBeGreaterThan(before);
  collector.hang(false);
  expect((await reader.call("/api/v1/market/instruments?limit=1")).code).toBe(0);
  await span(({ name }) => name === "GET /api/v1/market/instruments");
  expect(calls()).toBeLessThanOrEqual(QUEUE_MAX + 2 * BATCH_MAX);
  // One for traces and one for metrics at most, however many exports failed.
  expect(lines() - before).toBeLessThanOrEqual(2);
  await expect.poll(product.output, WAIT).toContain("the collector takes telemetry again");
});

test("a collector that hangs does not hold up a stop", async () => {
  await keyHolder(product, key).call("/api/v1/market/status?tickers=EURUSD");
  collector.hang(true);
  expect(await product.stop()).toBe(0);
  expect(product.output()).toContain('"msg":"stopped"');
  expect(product.output()).not.toContain("drain timed out");
});
