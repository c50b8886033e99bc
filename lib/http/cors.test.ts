import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_KEY, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const QUOTES = "/api/v1/market/quotes/latest?tickers=EURUSD";
const APP = "https://app.example.com";
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
  for (const market of [t.markets.live, t.markets.sandbox]) market.quote("EURUSD", 1.08543, 1.08551, TEST_START_MS);
});
afterAll(() => t.close());

const admitted = (answer: { headers: Headers }) => answer.headers.get("access-control-allow-origin");

describe("a request of a browser", () => {
  test.each([
    { origins: [], origin: null, passes: true },
    { origins: [], origin: APP, passes: false },
    { origins: [], origin: "null", passes: false },
    { origins: [APP], origin: null, passes: true },
    { origins: [APP], origin: APP, passes: true },
    { origins: [APP], origin: "https://app.example.com:8443", passes: false },
    { origins: [APP], origin: "http://app.example.com", passes: false },
    { origins: ["https://*.example.com"], origin: APP, passes: true },
    { origins: ["https://*.example.com"], origin: "https://example.com", passes: false },
    { origins: ["https://*.example.com"], origin: "https://app.example.com.evil.net", passes: false },
  ])("a browser request from $origin with a key for $origins passes: $passes", async ({ origins, origin, passes }) => {
    const { text: key } = await t.issueKey({ origins });
    const answer = await t.ask(QUOTES, { key, headers: origin === null ? {} : { origin } });
    expect(answer.status).toBe(passes ? 200 : 403);
    if (!passes) expect(answer).toMatchObject(failed("origin_not_allowed"));
    expect(admitted(answer)).toBe(passes ? origin : null);
    expect(answer.headers.get("access-control-expose-headers") ?? "").toMatch(
      passes && origin !== null ? /X-RateLimit-Cost.*X-Request-Id/ : /^$/,
    );
    expect(answer.headers.get("timing-allow-origin")).toBe(passes ? origin : null);
    expect(answer.headers.get("vary")).toContain("Origin");
    expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
  });

  test("a request that names the service itself as its origin passes with every key, like one without an origin", async () => {
    const { text: key } = await t.issueKey({ origins: [] });
    const host = "prices.example.com";
    for (const origin of [`https://${host}`, `http://${host}`])
      expect((await t.ask(QUOTES, { key, headers: { origin, host } })).status).toBe(200);
    expect((await t.ask(QUOTES, { key, headers: { origin: `https://${host}.example.net`, host } })).status).toBe(403);
  });

  test.each(["null", "file://"])(
    "a page that was opened from a file learns that no key can allow its origin: %s",
    async (origin) => {
      const { text: key } = await t.issueKey({ origins: [APP] });
      const answer = await t.ask(QUOTES, { key, headers: { origin } });
      expect(answer).toMatchObject({ status: 403, ...failed("origin_not_allowed") });
      expect(answer.text).toMatch(/opened from a file.*Serve the page over HTTP/);
    },
  );

  test("a browser request with the demo key passes from any origin", async () => {
    for (const origin of [APP, "null", "http://localhost:5173"])
      expect(admitted(await t.ask(QUOTES, { key: DEMO_KEY, headers: { origin } }))).toBe(origin);
  });

  test("a page may read an error that occurs before its key is known, but not a refusal of its key", async () => {
    const headers = { origin: APP };
    expect(admitted(await t.ask(QUOTES, { key: null, headers }))).toBe(APP);
    expect(admitted(await t.ask("/api/v1/nope", { key: null, headers }))).toBe(APP);
    const { text: key } = await t.issueKey({ scopes: ["market:stream"] });
    expect(admitted(await t.ask(QUOTES, { key, headers }))).toBeNull();
  });
});

describe("a preflight", () => {
  const preflight = (path: string, headers: Record<string, string>) => t.ask(path, { method: "OPTIONS", key: null, headers });

  test("a preflight is answered without a key and allows GET, with authorization and headers that change nothing", async () => {
    const answer = await preflight(QUOTES, {
      origin: APP,
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": APP,
      "access-control-allow-methods": "GET",
      "access-control-allow-headers": "authorization, baggage, content-type, sentry-trace, traceparent, tracestate",
      "access-control-max-age": expect.stringMatching(/^\d+$/),
      "x-request-id": expect.any(String),
    });
    expect(answer.headers.get("vary")).toContain("Origin");
  });

  test("a preflight without an origin returns only the methods of the route", async () => {
    const answer = await preflight(QUOTES, {});
    expect(answer.status).toBe(204);
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect(admitted(answer)).toBeNull();
  });

  test("a preflight of an unknown path is answered with 40402", async () => {
    expect(await preflight("/api/v1/nope", { origin: APP })).toMatchObject({ status: 404, ...failed("not_found") });
  });
});
