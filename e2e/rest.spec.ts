import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { success } from "#lib/contract/envelope";
import { ERRORS, type ErrorId, httpStatus } from "#lib/contract/errors";
import { operations } from "#lib/operations/declarations";
import { HOUR_S } from "#lib/units";
import { type Answer, rawRequest, type Stranger, stranger } from "./client";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const MARKET = "/api/v1/market";

let product: Product;
let someone: Stranger;
/** Where its processes have the sockets at which they reach each other. */
let sockets: string;

beforeAll(async () => {
  sockets = await mkdtemp(join(tmpdir(), "rest-"));
  await chmod(sockets, 0o755);
  product = await startProduct({ TRUSTED_PROXIES: "127.0.0.1", TMPDIR: sockets });
}, SERVER_TIMEOUT_MS);
afterAll(async () => {
  await product?.dispose();
  await rm(sockets, { recursive: true, force: true });
}, SERVER_TIMEOUT_MS);

let count = 0;
/** A client with a new address. */
function newcomer(): Stranger {
  count += 1;
  return stranger(product.baseUrl, `198.51.100.${count}`, product.demoKey);
}

/** A full hour a few days ago, in which nothing changes any more. Unix seconds. */
function pastHour(): number {
  return Math.floor(Date.now() / 1000 / HOUR_S) * HOUR_S - 72 * HOUR_S;
}

function expectFailure(answer: Answer, id: ErrorId): void {
  expect({ status: answer.status, code: answer.code, message: answer.message }).toEqual({
    status: httpStatus(id),
    code: ERRORS[id].code,
    message: id,
  });
  expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
  expect(answer.data.request_id).toBe(answer.headers.get("x-request-id"));
  expect(answer.data.detail).toEqual(expect.any(String));
}

test("an idle connection is kept longer than the usual 60 s of a proxy", async () => {
  for (const path of ["/api/health", "/api/v1/market/status", "/"]) {
    const { headers } = await fetch(product.baseUrl + path);
    expect(headers.get("keep-alive"), path).toBe("timeout=75");
  }
});

describe("reads with the demo key", () => {
  test("the demo key reads the latest quotes, in the requested order", async () => {
    const { status, code, message, data } = await newcomer().call(`${MARKET}/quotes/latest?tickers=XAUUSD,EURUSD`);
    expect({ status, code, message }).toEqual({ status: 200, code: 0, message: "success" });
    const quotes = operations.latestQuotes.data.parse(data);
    expect(quotes.items.map(({ ticker }) => ticker)).toEqual(["XAUUSD", "EURUSD"]);
    for (const { bid, ask } of quotes.items) expect(ask).toBeGreaterThan(bid);
  });

  test("the demo key gets the same quotes for an encoded comma, lower case, blanks and duplicates", async () => {
    const { data } = await newcomer().call(`${MARKET}/quotes/latest?tickers=eurusd%2C%20XAUUSD,EURUSD`);
    expect(operations.latestQuotes.data.parse(data).items.map(({ ticker }) => ticker)).toEqual(["EURUSD", "XAUUSD"]);
  });

  test("the demo key reads the latest snapshots", async () => {
    const { data } = await newcomer().call(`${MARKET}/snapshots/latest?tickers=EURUSD`);
    const [snapshot] = operations.latestSnapshots.data.parse(data).items;
    expect(snapshot?.ticker).toBe("EURUSD");
    expect(snapshot?.bid_high).toBeGreaterThanOrEqual(snapshot?.bid ?? Number.NaN);
  });

  test("the demo key reads the instruments, sorted by asset class and ticker", async () => {
    const { data } = await newcomer().call(`${MARKET}/instruments`);
    const { items } = operations.instruments.data.parse(data);
    const order = items.map(({ asset_class, ticker }) => `${asset_class} ${ticker}`);
    expect(order).toEqual([...order].sort());
    expect(items.length).toBeGreaterThanOrEqual(54);
  });

  test("the demo key reads the market status of open and closed test tickers", async () => {
    const { data } = await newcomer().call(`${MARKET}/status?tickers=EURUSD,TESTCLOSED,TESTUNKNOWN`);
    const { items } = operations.marketStatus.data.parse(data);
    expect(items.map(({ final_display_state }) => final_display_state)).toEqual(["open", "closed", "unknown"]);
    expect(items[0]?.provider_source).toBe("sandbox");
  });

  test("the demo key reads the market status of a past Christmas", async () => {
    const { data } = await newcomer().call(`${MARKET}/status?tickers=TESTFX&at=2024-12-25T12:00:00Z`);
    expect(operations.marketStatus.data.parse(data).items[0]).toMatchObject({ calendar_state: "closed", reason: "holiday" });
  });

  test("the demo key reads a window of klines, ascending and within its bounds", async () => {
    const from = pastHour();
    const { data } = await newcomer().call(`${MARKET}/klines?ticker=XAUUSD&timeframe=M1&from=${from}&to=${from + HOUR_S}`);
    const window = operations.klines.data.parse(data);
    expect(window).toMatchObject({ ticker: "XAUUSD", timeframe: "M1", from, to: from + HOUR_S, count: 60, next_from: null });
    expect(window.items.map(({ time }) => time)).toEqual(Array.from({ length: 60 }, (_, minute) => from + minute * 60));
  });

  test("the demo key reads every row of a window once, page by page", async () => {
    const from = pastHour();
    const me = newcomer();
    const times: number[] = [];
    for (let next: number | null = from; next !== null; ) {
      const { data } = await me.call(`${MARKET}/klines?ticker=EURUSD&timeframe=M5&from=${next}&to=${from + HOUR_S}&limit=5`);
      const page = operations.klines.data.parse(data);
      times.push(...page.items.map(({ time }) => time));
      next = page.next_from;
    }
    expect(times).toEqual(Array.from({ length: 12 }, (_, index) => from + index * 300));
  });
});

const REFUSALS: [what: string, path: string, id: ErrorId, parameter?: string][] = [
  ["no tickers", `${MARKET}/quotes/latest`, "missing_parameter", "tickers"],
  ["an empty element", `${MARKET}/quotes/latest?tickers=EURUSD,,XAUUSD`, "missing_parameter", "tickers"],
  ["a slash in a ticker", `${MARKET}/quotes/latest?tickers=EUR/USD`, "invalid_ticker", "tickers"],
  ["an unknown ticker", `${MARKET}/quotes/latest?tickers=EURUSD,ZZZZZZ`, "unknown_ticker", "tickers"],
  [
    "101 tickers",
    `${MARKET}/quotes/latest?tickers=${Array.from({ length: 101 }, (_, n) => `AAA${n}`)}`,
    "too_many_tickers",
    "tickers",
  ],
  ["a ticker without a quote", `${MARKET}/quotes/latest?tickers=TESTNOTREADY`, "market_data_not_ready"],
  ["a repeated parameter", `${MARKET}/klines?ticker=EURUSD&ticker=XAUUSD&timeframe=M1`, "invalid_parameter", "ticker"],
  ["bad percent-encoding", `${MARKET}/quotes/latest?tickers=%E0%A4%A`, "invalid_parameter"],
  ["a timeframe in lower case", `${MARKET}/klines?ticker=EURUSD&timeframe=m1`, "unsupported_timeframe", "timeframe"],
  ["an hour that ends before it starts", `${MARKET}/klines?ticker=EURUSD&timeframe=M1&from=2&to=1`, "invalid_range", "from"],
  ["milliseconds", `${MARKET}/klines?ticker=EURUSD&timeframe=M1&from=1767225600000`, "invalid_parameter", "from"],
  ["a limit of 5001", `${MARKET}/klines?ticker=EURUSD&timeframe=M1&limit=5001`, "limit_out_of_range", "limit"],
  ["an instant without an offset", `${MARKET}/status?tickers=EURUSD&at=2026-01-01`, "invalid_parameter", "at"],
  ["an unknown path", "/api/v1/market/orderbook", "not_found"],
  ["a path above all routes", "/api/v1", "not_found"],
  ["a path that cannot be decoded", "/api/v1/%zz", "not_found"],
  ["a path of a page that cannot be decoded", "/docs/%zz", "invalid_parameter"],
  ["a path of the portal that cannot be decoded", "/api/portal/logs/%ff", "invalid_parameter"],
  ["an unknown path of the portal", "/api/portal/nothing", "not_found"],
  ["any other path under /api", "/api/nothing", "not_found"],
];

describe("refused requests", () => {
  test.each(REFUSALS)("a request with %s gets an error that names the problem", async (_, path, id, parameter) => {
    const answer = await newcomer().call(path);
    expectFailure(answer, id);
    if (parameter !== undefined) expect(answer.data.parameter).toBe(parameter);
  });

  test("a ticker with a separator is refused with a suggestion", async () => {
    const { data } = await newcomer().call(`${MARKET}/quotes/latest?tickers=EUR/USD`);
    expect(data).toMatchObject({ suggestion: "EURUSD", tickers: ["EUR/USD"] });
  });

  test.each([
    ["no key", null],
    ["an invalid key", "hello"],
    ["a mistyped key", "sw_test_DEMO000000000000000000000000SPOTWI"],
  ])("a request with %s is refused", async (_, key) => {
    const answer = await newcomer().call(`${MARKET}/instruments`, { key });
    expectFailure(answer, "unauthorized");
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
  });

  test("a request without the required scope is refused", async () => {
    const answer = await newcomer().call("/api/v1/ingest/ticks", { method: "POST", body: "{}\n" });
    expectFailure(answer, "insufficient_scope");
    expect(answer.data.required).toBe("market:ingest");
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("the method %s is refused", async (method) => {
    const answer = await newcomer().call(`${MARKET}/instruments`, { method });
    expectFailure(answer, "method_not_allowed");
    expect(answer.headers.get("allow")).toMatch(/GET/);
  });

  test("too many calls are refused with a rate limit", async () => {
    const me = newcomer();
    const answers = await Promise.all(Array.from({ length: 40 }, () => me.call(`${MARKET}/instruments`)));
    const refused = answers.find(({ status }) => status === 429);
    if (refused === undefined) throw new Error("40 calls at once were all served");
    expectFailure(refused, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await newcomer().call(`${MARKET}/instruments`)).status).toBe(200);
  });
});

describe("malformed HTTP", () => {
  const key = () => `Authorization: Bearer ${product.demoKey}\r\n`;

  test.each([9_000, 20_000, 100_000])("a URL of %i bytes gets an error in the envelope", async (length) => {
    const path = `${MARKET}/quotes/latest?tickers=${"A".repeat(length)}`;
    const text = await rawRequest(product.baseUrl, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${key()}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 414 /);
    expect(text).toContain('"uri_too_long"');
  });

  test("a target with broken percent-encoding gets an error in the envelope", async () => {
    const path = `${MARKET}/klines?ticker=%&timeframe=%GG`;
    const text = await rawRequest(product.baseUrl, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${key()}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"invalid_parameter"');
  });

  test.each([
    ["invalid HTTP", "hello\r\n\r\n"],
    ["an unknown method", "FETCH / HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an invalid target", "GET http://[::1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["an invalid Host", "GET /api/v1/market/instruments HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"],
  ])("%s gets an error, and the next request is served", async (_, bytes) => {
    expect(await rawRequest(product.baseUrl, bytes)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await newcomer().call(`${MARKET}/instruments`)).status).toBe(200);
  });
});

describe("an answer", () => {
  beforeAll(() => {
    someone = newcomer();
  });

  test("an answer matches its schema completely", async () => {
    const { text } = await someone.call(`${MARKET}/quotes/latest?tickers=EURUSD`);
    expect(success(operations.latestQuotes.data).strict().safeParse(JSON.parse(text)).error).toBeUndefined();
  });

  test("an answer keeps a well-formed request id and replaces any other", async () => {
    const kept = await someone.call(`${MARKET}/instruments`, { headers: { "x-request-id": "mine-1" } });
    expect(kept.headers.get("x-request-id")).toBe("mine-1");
    const made = await someone.call(`${MARKET}/instruments`, { headers: { "x-request-id": "not one; really" } });
    expect(made.headers.get("x-request-id")).toMatch(/^\S+$/);
  });

  test("an answer reports the remaining limit and the parameters it ignored", async () => {
    const { headers } = await someone.call(`${MARKET}/instruments?colour=red`);
    expect(headers.get("ratelimit-policy")).toMatch(/q=60;w=60/);
    expect(headers.get("ratelimit")).toMatch(/r=\d+;t=\d+/);
    expect(headers.get("x-ratelimit-limit")).toBe("60");
    expect(headers.get("x-ignored-params")).toBe("colour");
  });

  test("an answer to HEAD is that to GET without its body", async () => {
    const head = await someone.call(`${MARKET}/quotes/latest?tickers=EURUSD`, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.text).toBe("");
    expect(head.headers.get("content-type")).toMatch(/^application\/json/);
  });

  test.each(["br", "gzip"])(
    "answers come in %s to who accepts it, each with its own tag, and the tag gives 304",
    async (encoding) => {
      const from = pastHour();
      const path = `${MARKET}/klines?ticker=EURUSD&timeframe=M1&from=${from}&to=${from + HOUR_S}`;
      const accepting = { "accept-encoding": encoding };
      const plain = await someone.call(path, { headers: { "accept-encoding": "identity" } });
      const coded = await someone.call(path, { headers: accepting });
      expect(plain.headers.has("content-encoding")).toBe(false);
      expect(coded.headers.get("content-encoding")).toBe(encoding);
      expect(Number(coded.headers.get("content-length"))).toBeLessThan(plain.text.length / 3);
      expect(coded.text).toBe(plain.text);
      for (const { headers } of [plain, coded])
        expect(headers.get("vary")).toBe("Origin, Accept, Authorization, Accept-Encoding");
      const tags = [plain, coded].map(({ headers }) => headers.get("etag") ?? "");
      expect(tags[1]).toBe(`${tags[0]?.slice(0, -1)}-${encoding}"`);
      const held = await someone.call(path, { headers: { ...accepting, "if-none-match": tags[1] ?? "" } });
      expect([held.status, held.text, held.headers.get("etag")]).toEqual([304, "", tags[1]]);
      const unread = await someone.call(path, { headers: { "accept-encoding": "identity", "if-none-match": tags[1] ?? "" } });
      expect(unread.status).toBe(200);
      const head = await someone.call(path, { method: "HEAD", headers: accepting });
      expect([head.headers.get("content-encoding"), head.headers.get("etag"), head.text]).toEqual([encoding, tags[1], ""]);
    },
  );

  test.each([
    ["/openapi.json", "application/json"],
    ["/asyncapi.json", "application/json"],
    ["/grafana.json", "application/json"],
    ["/metrics", "text/plain"],
    ["/docs/limits", "text/html"],
    ["/signin", "text/html"],
    ["/llms.txt", "text/markdown"],
  ])("%s is compressed, and what it says stays the same", async (path, type) => {
    const read = async (encoding: string) => {
      const { headers, status } = await fetch(product.baseUrl + path, { headers: { "accept-encoding": encoding } });
      return { status, type: headers.get("content-type"), encoding: headers.get("content-encoding"), vary: headers.get("vary") };
    };
    const expected = { status: 200, type: expect.stringContaining(type), vary: expect.stringMatching(/accept-encoding/i) };
    expect(await read("gzip")).toEqual({ ...expected, encoding: "gzip" });
    expect(await read("identity")).toMatchObject({ status: 200, encoding: null });
  });

  test("an error of more than 1 KiB is compressed too", async () => {
    const tickers = Array.from({ length: 99 }, (_, index) => `NONE${index}`).join();
    const refused = await someone.call(`${MARKET}/quotes/latest?tickers=${tickers}`, { headers: { "accept-encoding": "br" } });
    expectFailure(refused, "unknown_ticker");
    expect(refused.headers.get("content-encoding")).toBe("br");
  });

  test("an answer for a past window can be cached, and costs no body when it is requested again", async () => {
    const from = pastHour();
    const path = `${MARKET}/klines?ticker=EURUSD&timeframe=M1&from=${from}&to=${from + HOUR_S}`;
    const first = await someone.call(path);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(first.headers.get("cache-control")).toMatch(/immutable/);
    const again = await someone.call(path, { headers: { "if-none-match": etag } });
    expect({ status: again.status, text: again.text, etag: again.headers.get("etag") }).toEqual({ status: 304, text: "", etag });
  });

  test("an answer with an open kline is never cached", async () => {
    const { headers } = await someone.call(`${MARKET}/klines?ticker=EURUSD&timeframe=M1&limit=1`);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBeNull();
  });
});

describe("a browser on another origin", () => {
  const origin = "https://app.example.com";

  test("a preflight lists for a browser of another origin what it may send", async () => {
    const { status, headers } = await newcomer().call(`${MARKET}/instruments`, {
      method: "OPTIONS",
      key: null,
      headers: { origin, "access-control-request-method": "GET", "access-control-request-headers": "authorization" },
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toMatch(/^(\*|https:\/\/app\.example\.com)$/);
    expect(headers.get("access-control-allow-methods")).toMatch(/\bGET\b/);
    expect(headers.get("access-control-allow-headers")?.toLowerCase()).toContain("authorization");
  });

  test("a browser of another origin may read the answers to the demo key", async () => {
    const { status, headers } = await newcomer().call(`${MARKET}/instruments`, { headers: { origin } });
    expect(status).toBe(200);
    expect(headers.get("access-control-allow-origin")).toMatch(/^(\*|https:\/\/app\.example\.com)$/);
  });
});

describe("operational routes", () => {
  test.each([
    ["/api/health", /"status":"ok"/],
    ["/api/ready", /"status":"ready"/],
    ["/metrics", /^# HELP /m],
    ["/openapi.json", /"openapi": "3\.1\.0"/],
  ])("an operator reads %s", async (path, content) => {
    const response = await fetch(product.baseUrl + path);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(content);
  });

  test("the log never contains a key", async () => {
    await newcomer().call(`${MARKET}/quotes/latest?tickers=EURUSD`, { key: "sw_live_thisisnotakeybutlookslikeoneofthem" });
    expect(product.output()).not.toContain("thisisnotakeybutlookslikeoneofthem");
  });
});

describe("the route files under Next", () => {
  /** Asks the process of the pages itself, which has no market. */
  async function askPages(path: string, { method = "GET", headers = {} } = {}) {
    const [folder = ""] = (await readdir(sockets)).filter((name) => /^spotwire-\w+$/.test(name));
    const socketPath = join(sockets, folder, "1.sock");
    const authorization = `Bearer ${product.demoKey}`;
    const own = { host: "localhost", authorization, "x-spotwire-address": "203.0.113.99", ...headers };
    const sent = request({ socketPath, path, method, headers: own }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
  }
  const bodyOf = ({ bytes }: { readonly bytes: Buffer }) => JSON.parse(bytes.toString());

  test("answer what the market process answers, and are counted for the client's address", async () => {
    const path = `${MARKET}/instruments`;
    const answer = await askPages(path);
    expect(answer.status).toBe(200);
    expect(bodyOf(answer).data).toEqual((await newcomer().call(path)).data);
    const before = Number(answer.headers["x-ratelimit-remaining"]);
    expect(Number((await askPages(path)).headers["x-ratelimit-remaining"])).toBe(before - 1);
  });

  test("refuse as the market process refuses, with the envelope", async () => {
    const unknown = await askPages(`${MARKET}/quotes/latest?tickers=EUR/USD`);
    expect([unknown.status, bodyOf(unknown).message]).toEqual([httpStatus("invalid_ticker"), "invalid_ticker"]);
    const method = await askPages(`${MARKET}/instruments`, { method: "DELETE" });
    expect([method.status, method.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("answer HEAD without a body, and what only POST may", async () => {
    const head = await askPages(`${MARKET}/instruments`, { method: "HEAD" });
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    const ticket = await askPages(`${MARKET}/stream/tickets`, { method: "POST" });
    expect(bodyOf(ticket).data.ticket).toEqual(expect.any(String));
  });

  test("send a part of a file as it is", async () => {
    const { data } = await newcomer().call(`${MARKET}/files?ticker=EURUSD&type=klines`);
    const part = await askPages(operations.files.data.parse(data).items[0]?.url ?? "", { headers: { range: "bytes=0-3" } });
    expect([part.status, part.bytes.toString()]).toEqual([206, "PAR1"]);
  });
});
