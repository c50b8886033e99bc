import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SegmentDamaged, SegmentStoreAway } from "#lib/storage-errors";
import { HEAD_OPERATIONS, samplePath, sampleQuery } from "#lib/testing/operations";
import { DEMO_KEY, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const QUOTES = "/api/v1/market/quotes/latest?tickers=EURUSD";
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
});
beforeEach(() => {
  t.clock.set(TEST_START_MS);
  for (const market of [t.markets.live, t.markets.sandbox]) {
    market.quote("EURUSD", 1.08543, 1.08551, TEST_START_MS);
    market.quote("XAUUSD", 2_650.12, 2_650.4, TEST_START_MS);
  }
});
afterAll(() => t.close());

describe("an answer", () => {
  test("an answer is the envelope with the headers of every answer", async () => {
    const answer = await t.ask("/api/v1/market/quotes/latest?tickers=eurusd,XAUUSD,EURUSD");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(
      `{"code":0,"message":"success","data":{"items":[{"type":"quote","ticker":"EURUSD","time_msc":${TEST_START_MS},"bid":1.08543,"ask":1.08551,"mid":1.08547,"spread":0.00008},{"type":"quote","ticker":"XAUUSD","time_msc":${TEST_START_MS},"bid":2650.12,"ask":2650.4,"mid":2650.26,"spread":0.28}]}}`,
    );
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      vary: "Origin, Accept",
      "x-request-id": expect.stringMatching(/^req_/),
      "server-timing": expect.stringMatching(/^service;dur=\d+\.\d\d$/),
    });
  });

  test.each(HEAD_OPERATIONS)("an answer to HEAD has the same headers and no body: %s", async (id) => {
    const path = samplePath(id) + sampleQuery(id);
    const headers = { "x-request-id": "same" };
    const get = await t.ask(path, { headers });
    const head = await t.ask(path, { headers, method: "HEAD" });
    expect(head.status).toBe(get.status);
    expect(head.text).toBe("");
    if (get.status === 200 && id !== "file") expect(Number(head.headers.get("content-length"))).toBe(Buffer.byteLength(get.text));
    const without = (headers: Headers) =>
      Object.fromEntries([...headers].filter(([name]) => !/^content-length$|ratelimit|server-timing/.test(name)));
    expect(without(head.headers)).toEqual(without(get.headers));
  });

  test("a well-formed request id is kept and any other replaced, even before authentication", async () => {
    for (const key of [undefined, null] as const) {
      const ask = (id: string) => t.ask(QUOTES, { ...(key === null && { key }), headers: { "x-request-id": id } });
      expect((await ask("my-id_1.2")).headers.get("x-request-id")).toBe("my-id_1.2");
      for (const id of ["", "a b", "<script>", "x".repeat(129), "é"]) {
        const answer = await ask(id);
        expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
        if (key === null) expect(answer.body.data.request_id).toBe(answer.headers.get("x-request-id"));
      }
    }
  });

  test("ignored parameters are listed in a header of limited length", async () => {
    const answer = await t.ask(`${QUOTES}&foo=1&__proto__=2&a%0d%0ab=3&foo=4`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-ignored-params")).toMatch(/^foo, __proto__, a[^\r\n]*b$/);
    const many = await t.ask(`${QUOTES}&${Array.from({ length: 40 }, (_, index) => `${"p".repeat(60)}${index}=`).join("&")}`);
    expect(many.headers.get("x-ignored-params")?.length).toBeLessThan(500);
    expect((await t.ask(QUOTES)).headers.has("x-ignored-params")).toBe(false);
  });
});

describe("the bearer key", () => {
  test.each(["Bearer", "Bearer ", "Basic abc", "Token x", "Bearer a b", DEMO_KEY])(
    "the Authorization header %j is unauthorized",
    async (authorization) => {
      const answer = await t.ask(QUOTES, { key: null, headers: { authorization } });
      expect(answer).toMatchObject(failed("unauthorized"));
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.headers.has("ratelimit")).toBe(false);
    },
  );

  test("the scheme of the Authorization header is accepted in any case", async () => {
    expect((await t.ask(QUOTES, { key: null, headers: { authorization: `bearer ${DEMO_KEY}` } })).status).toBe(200);
  });

  test("a key selects the venue: live and sandbox share nothing", async () => {
    t.markets.sandbox.quote("EURUSD", 1.2, 1.3, TEST_START_MS);
    const sandbox = await t.issueKey({ venue: "sandbox" });
    expect((await t.ask(QUOTES, { key: sandbox.text })).body.data.items[0].bid).toBe(1.2);
    expect((await t.ask(QUOTES)).body.data.items[0].bid).toBe(1.08543);
  });
});

describe("rate limits", () => {
  test("every authenticated answer carries the rate limits, and a refusal has Retry-After", async () => {
    const { text: key } = await t.issueKey({ plan: "free" });
    const first = await t.ask(QUOTES, { key });
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "ratelimit-policy": '"plan";q=120;w=60',
      ratelimit: '"plan";r=119;t=60',
      "x-ratelimit-limit": "120",
      "x-ratelimit-remaining": "119",
      "x-ratelimit-reset": "60",
      "x-ratelimit-cost": "1",
    });
    t.clock.set(TEST_START_MS + 18_200);
    const bad = await t.ask("/api/v1/market/quotes/latest", { key });
    expect(bad).toMatchObject(failed("missing_parameter"));
    expect(bad.headers.get("ratelimit")).toBe('"plan";r=118;t=42');
    for (let index = 0; index < 39; index += 1) expect((await t.ask(QUOTES, { key })).status).toBe(200);
    const refused = await t.ask(QUOTES, { key });
    const detail = 'The burst limit of the plan "free" is reached; 79 of 120 units are left this minute. Try again in 1 s.';
    expect(refused).toMatchObject(failed("rate_limited", { retry_after: 1, detail }));
    expect(refused.status).toBe(429);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": "1",
      ratelimit: '"plan";r=79;t=42',
      "x-ratelimit-cost": "0",
    });
    t.clock.set(TEST_START_MS + 18_700);
    expect((await t.ask(QUOTES, { key })).status).toBe(200);
  });

  test("a refusal says when the quota is used up rather than the burst", async () => {
    const { text: key } = await t.issueKey({ plan: "free" });
    const startMs = t.clock.now();
    for (const afterMs of [0, 20_000, 40_000]) {
      t.clock.set(startMs + afterMs);
      for (let index = 0; index < 40; index += 1) expect((await t.ask(QUOTES, { key })).status).toBe(200);
    }
    t.clock.set(startMs + 42_000);
    const detail = 'The limit of the plan "free" is reached: 120 units per minute, 0 left. Try again in 18 s.';
    expect(await t.ask(QUOTES, { key })).toMatchObject(failed("rate_limited", { retry_after: 18, detail }));
  });

  test("klines cost one unit per thousand requested rows", async () => {
    const { text: key } = await t.issueKey({ plan: "standard" });
    const counted = async (query: string) => {
      const { headers } = await t.ask(`/api/v1/market/klines?ticker=EURUSD&timeframe=M1${query}`, { key });
      return ["x-ratelimit-cost", "x-ratelimit-remaining"].map((name) => Number(headers.get(name)));
    };
    expect(await counted("")).toEqual([1, 599]);
    expect(await counted("&limit=1000")).toEqual([1, 598]);
    expect(await counted("&limit=1001")).toEqual([2, 596]);
    expect(await counted("&limit=5000")).toEqual([5, 591]);
  });

  test("an answer refused before the rate limit still carries the limits, and uses nothing up", async () => {
    const { text: key } = await t.issueKey({ plan: "free", scopes: ["market:stream"] });
    for (const _ of [1, 2])
      expect(Object.fromEntries((await t.ask(QUOTES, { key })).headers)).toMatchObject({
        ratelimit: '"plan";r=120;t=60',
        "x-ratelimit-cost": "0",
      });
  });

  test("requests with the demo key are counted per client address", async () => {
    const remaining = async (address: string) =>
      (await t.ask(QUOTES, { key: DEMO_KEY, address })).headers.get("x-ratelimit-remaining");
    expect(await remaining("2001:db8:5::1")).toBe("59");
    expect(await remaining("2001:db8:5::2")).toBe("58");
    expect(await remaining("2001:db8:6::1")).toBe("59");
  });
});

describe("an internal error", () => {
  test("an internal error is answered with 50001 and logged once without the key, and the next request is served", async () => {
    const { text: key } = await t.issueKey();
    const view = t.markets.live.view as { quote: unknown };
    const { quote } = view;
    t.logged.length = 0;
    view.quote = () => {
      throw new Error("the view broke");
    };
    const answer = await t.ask(QUOTES, { key });
    view.quote = quote;
    expect(answer.status).toBe(500);
    expect(answer).toMatchObject(failed("internal_error", { request_id: answer.headers.get("x-request-id") }));
    expect(answer.text).not.toContain("the view broke");
    const lines = t.logged.filter(({ request_id }) => request_id === answer.body.data.request_id);
    expect(lines).toMatchObject([{ operation: "latestQuotes", err: { message: "the view broke" } }]);
    expect(JSON.stringify(t.logged)).not.toContain(key);
    expect((await t.ask(QUOTES, { key })).status).toBe(200);
  });

  test("while the store is unavailable klines are answered with 50302 and Retry-After, and quotes still work", async () => {
    const { store } = t.markets.live;
    const { read } = store;
    store.read = async () => {
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    };
    const answer = await t.ask("/api/v1/market/klines?ticker=GBPUSD&timeframe=D1&limit=77");
    store.read = read;
    expect(answer.status).toBe(503);
    expect(answer).toMatchObject(failed("service_unavailable", { retry_after: 1 }));
    expect(answer.headers.get("retry-after")).toBe("1");
    expect((await t.ask(QUOTES)).status).toBe(200);
  });

  test("while the place of history is away, klines are answered with 50302 that says so, and quotes still work", async () => {
    const { store } = t.markets.live;
    const { read } = store;
    store.read = async () => {
      throw new SegmentStoreAway("The directory of stored klines /var/lib/history cannot be used: ENOENT.");
    };
    const answer = await t.ask("/api/v1/market/klines?ticker=GBPUSD&timeframe=D1&limit=76");
    store.read = read;
    const detail = "The place of stored history cannot be reached. Current quotes and streams need none of it.";
    expect(answer).toMatchObject({ status: 503, ...failed("service_unavailable", { retry_after: 10, detail }) });
    expect((await t.ask(QUOTES)).status).toBe(200);
  });

  test("klines whose file is damaged are answered with 50302, its name goes to the log alone, and other klines are answered", async () => {
    const { store } = t.markets.live;
    const { read } = store;
    t.logged.length = 0;
    store.read = async () => {
      throw new SegmentDamaged("segment 4f53 was altered: its bytes have another SHA-256");
    };
    const answer = await t.ask("/api/v1/market/klines?ticker=GBPUSD&timeframe=D1&limit=78");
    store.read = read;
    expect(answer).toMatchObject({ status: 503, ...failed("service_unavailable", { retry_after: 600 }) });
    expect(answer.text).toContain("damaged or missing");
    expect(answer.text).not.toContain("4f53");
    expect(t.logged).toMatchObject([{ operation: "klines", err: { message: expect.stringContaining("segment 4f53") } }]);
    expect((await t.ask("/api/v1/market/klines?ticker=GBPUSD&timeframe=D1&limit=79")).status).toBe(200);
  });

  test("requests are answered with 50302 while the service drains", async () => {
    t.drain(true);
    const answer = await t.ask(QUOTES);
    t.drain(false);
    expect(answer.status).toBe(503);
    expect(answer).toMatchObject(failed("service_unavailable"));
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("an unknown route", () => {
  test.each([
    "/api/v1",
    "/api/v1/",
    "/api/v1/nope",
    "/api/v1/market",
    "/api/v1/market/klines/x",
    "/api/v1/%zz",
    "/api/v1/market/quotes",
  ])("the unknown path %s is answered with 40402 for any method", async (path) => {
    for (const method of ["GET", "POST", "DELETE", "PUT"]) {
      const answer = await t.ask(path, { method, key: null });
      expect(answer).toMatchObject({ status: 404, ...failed("not_found") });
    }
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("%s on a GET operation is answered with 40501 and Allow", async (method) => {
    const answer = await t.ask(QUOTES, { method });
    expect(answer).toMatchObject({ status: 405, ...failed("method_not_allowed") });
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });

  test("a URL that is too long is answered with 41401", async () => {
    for (const path of [QUOTES, "/api/v1/nope?x="]) {
      const answer = await t.ask(path + "A".repeat(8_192));
      expect(answer, path.slice(0, 20)).toMatchObject({ status: path === QUOTES ? 414 : 404 });
    }
    expect(await t.ask(`/api/v1/${"a".repeat(9_000)}`)).toMatchObject({ status: 414, ...failed("uri_too_long", { max: 8_192 }) });
  });
});
