import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from "vitest";
import { keyChecksum } from "#lib/contract/key-text";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { operations } from "#lib/operations/declarations";
import {
  createInbox,
  fail,
  type ScriptedAnswer,
  type ScriptedService,
  startScriptedService,
  succeed,
} from "#lib/testing/scripted-service";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { type Client, type ClientOptions, createClient, type ENDPOINTS } from "./client";
import { isSpotwireError, SpotwireError } from "./errors";

let service: ScriptedService;
let clock: WatchedClock;

beforeEach(async () => {
  service = await startScriptedService();
  clock = watchedClock();
});
afterEach(() => service.stop());

const connect = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock, random: () => 0.5, ...options });

/** Resolves with the error of a call. */
const failureOf = (call: Promise<unknown>): Promise<SpotwireError> =>
  call.then(
    () => expect.unreachable("the call should have failed"),
    (error: unknown) => error as SpotwireError,
  );

/** Returns these responses in turn, then always the last; reports every request. */
function answerInTurn(...answers: (ScriptedAnswer | "cut" | "hang")[]) {
  const seen = createInbox<string>();
  service.answer(({ path }) => {
    seen.put(path);
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? "hang";
  });
  return seen;
}

const quotes = { items: [operations.latestQuotes.example.items[0]] };
const LIMITED = { "retry-after": "7" };

describe("each operation", () => {
  test("the type of each operation's response is the contract's", () => {
    type DataOf<Id extends keyof typeof ENDPOINTS> = (typeof operations)[Id]["example"];
    type AnswerOf<Id extends keyof typeof ENDPOINTS> = Awaited<ReturnType<Client[Id]>>;
    type Enveloped = Exclude<keyof typeof ENDPOINTS, "file">;
    expectTypeOf<{ [Id in Enveloped]: AnswerOf<Id> }>().toEqualTypeOf<{ [Id in Enveloped]: DataOf<Id> }>();
    expectTypeOf<AnswerOf<"file">>().toEqualTypeOf<Uint8Array<ArrayBuffer>>();
  });

  test("a file is downloaded as its bytes, and a failure is the envelope's", async () => {
    const client = connect();
    service.answer(({ path, query }) =>
      path === "/api/v1/market/files/klines-EURUSD-2026-10" && query.get("format") === "csv"
        ? succeed({ bytes: true })
        : fail("unknown_file"),
    );
    const bytes = await client.file({ id: "klines-EURUSD-2026-10", format: "csv" });
    expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({ data: { bytes: true } });
    await expect(client.file({ id: "../key" })).rejects.toMatchObject({ id: "unknown_file", status: 404 });
    expect(service.requests.at(-1)?.path).toBe("/api/v1/market/files/..%2Fkey");
  });

  test("each operation returns the data of its response", async () => {
    const client = connect();
    service.answer(({ path }) => {
      const operation = Object.values(operations).find((one) => one.path === path);
      return operation === undefined ? fail("not_found") : succeed(operation.example as object);
    });
    expect(await client.klines({ ticker: "EURUSD", timeframe: "H1" })).toEqual(operations.klines.example);
    expect(await client.marketSummary({ ticker: "EURUSD", from: "2026-01-05", to: "2026-01-06", by: "day" })).toEqual(
      operations.marketSummary.example,
    );
    expect(await client.ticks({ ticker: "EURUSD" })).toEqual(operations.ticks.example);
    expect(await client.files({ ticker: "EURUSD", type: "klines" })).toEqual(operations.files.example);
    expect(await client.instruments()).toEqual(operations.instruments.example);
    expect(await client.latestQuotes({ tickers: ["EURUSD"] })).toEqual(operations.latestQuotes.example);
    expect(await client.latestSnapshots({ tickers: ["EURUSD"] })).toEqual(operations.latestSnapshots.example);
    expect(await client.conversion({ from: "USD", to: ["JPY"] })).toEqual(operations.conversion.example);
    expect(await client.marketStatus({ tickers: ["EURUSD"] })).toEqual(operations.marketStatus.example);
    expect(await client.marketHours({ ticker: "EURUSD" })).toEqual(operations.marketHours.example);
    expect(await client.createStreamTicket()).toEqual(operations.createStreamTicket.example);
    expect(await client.key()).toEqual(operations.key.example);
  });

  test("each operation sends the key and its parameters in the form of the service", async () => {
    const client = connect();
    service.answer(() => succeed({ items: [] }));
    await client.klines({
      ticker: "EURUSD",
      timeframe: "M1",
      from: new Date("2026-01-01T00:00:00.500Z"),
      to: 1_767_312_000,
      limit: 24,
    });
    await client.klines({ ticker: "EURUSD", timeframe: "M1", asOf: new Date("2026-01-01T12:00:00.900Z") });
    await client.files({ ticker: "EURUSD", type: "klines", price: "ask", asOf: 1_767_312_000 });
    await client.ticks({ ticker: "EURUSD", from: new Date("2026-01-01T00:00:00.500Z"), to: 1_767_312_000_001, cursor: "a-1" });
    await client.latestQuotes({ tickers: [" eurusd", "XAUUSD", "EURUSD"] });
    await client.marketStatus({ tickers: ["EURUSD"], at: new Date("2026-12-25T12:00:00Z") });
    await client.conversion({ from: "usd", to: ["JPY", "EUR"], amount: 0.5 });
    await client.marketHours({ ticker: "EURUSD", from: new Date("2026-01-01T00:00:00Z"), to: 1_767_312_000 });
    await client.marketSummary({
      ticker: "EURUSD",
      from: "2026-01-05",
      to: new Date("2026-01-10T00:00:00Z"),
      by: "weekday",
      session: "london",
    });
    await client.createStreamTicket({ origin: "https://app.example.com" });
    expect(service.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
      { ticker: "EURUSD", timeframe: "M1", from: "1767225601", to: "1767312000", limit: "24" },
      { ticker: "EURUSD", timeframe: "M1", as_of: "2026-01-01T12:00:00.900Z" },
      { ticker: "EURUSD", type: "klines", price: "ask", as_of: "1767312000" },
      { ticker: "EURUSD", from: "1767225600500", to: "1767312000001", cursor: "a-1" },
      { tickers: "EURUSD,XAUUSD" },
      { tickers: "EURUSD", at: "2026-12-25T12:00:00.000Z" },
      { from: "usd", to: "JPY,EUR", amount: "0.5" },
      { ticker: "EURUSD", from: "1767225600", to: "1767312000" },
      { ticker: "EURUSD", from: "2026-01-05", to: "2026-01-10T00:00:00.000Z", by: "weekday", session: "london" },
      { origin: "https://app.example.com" },
    ]);
    expect(service.requests.map(({ method }) => method)).toEqual([...Array(9).fill("GET"), "POST"]);
    expect(service.requests[0]?.headers.authorization).toBe(`Bearer ${DEMO_KEY_DEFAULT}`);
  });

  test("each operation keeps a path in baseUrl", async () => {
    service.answer(() => succeed({ items: [] }));
    await connect({ baseUrl: `${service.url}/prices/` }).instruments();
    expect(service.requests[0]?.path).toBe("/prices/api/v1/market/instruments");
  });
});

describe("ticksAll", () => {
  const tick = (time_msc: number) => ({ ...operations.ticks.example.items[0], time_msc });

  test("ticksAll returns every tick of every page once, in order, with the cursor of the page before", async () => {
    service.answer(({ query }) => {
      const page = Number(query.get("cursor") ?? "0");
      return succeed({ next_cursor: page < 2 ? String(page + 1) : null, items: [tick(page), tick(page)] });
    });
    const found: number[] = [];
    for await (const { time_msc } of connect().ticksAll({ ticker: "EURUSD", from: 0 })) found.push(time_msc);
    expect(found).toEqual([0, 0, 1, 1, 2, 2]);
    expect(service.requests.map(({ query }) => [query.get("from"), query.get("limit"), query.get("cursor")])).toEqual([
      ["0", "10000", null],
      ["0", "10000", "1"],
      ["0", "10000", "2"],
    ]);
  });

  test("ticksAll throws when a page leads to itself", async () => {
    service.answer(() => succeed({ next_cursor: "a", items: [] }));
    const all = connect().ticksAll({ ticker: "EURUSD", from: 0 });
    await expect(all.next()).rejects.toMatchObject({ id: "bad_answer" });
  });
});

describe("klinesAll", () => {
  const row = (time: number) => ({ ...operations.klines.example.items[0], time });

  test("klinesAll returns every row of every page once, in order, and all pages of one instant", async () => {
    service.answer(({ query }) => {
      const from = Number(query.get("from"));
      return succeed({ from, next_from: from < 200 ? from + 100 : null, items: [row(from), row(from + 50)] });
    });
    const times: number[] = [];
    const query = { ticker: "EURUSD", timeframe: "M1", from: 0, to: 300, asOf: 250 } as const;
    for await (const { time } of connect().klinesAll(query)) times.push(time);
    expect(times).toEqual([0, 50, 100, 150, 200, 250]);
    expect(service.requests.map(({ query }) => query.get("limit"))).toEqual(["1000", "1000", "1000"]);
    expect(service.requests.map(({ query: sent }) => sent.get("as_of"))).toEqual(["250", "250", "250"]);
  });

  test("klinesAll throws when the next page does not start later", async () => {
    service.answer(() => succeed({ from: 100, next_from: 100, items: [] }));
    const pages = connect().klinesAll({ ticker: "EURUSD", timeframe: "M1", from: 100 });
    expect(await failureOf(pages.next())).toMatchObject({ id: "bad_answer" });
  });
});

describe("a mistake of the caller", () => {
  const altered = `${DEMO_KEY_DEFAULT.slice(0, -1)}${DEMO_KEY_DEFAULT.endsWith("A") ? "B" : "A"}`;
  const untold = "sw_demo_00000000000000000000000000000";
  test.each([
    ["an empty key", "", "empty"],
    ["a mistyped key", altered, "checksum"],
    ["a key with spaces", ` ${DEMO_KEY_DEFAULT}`, "spaces"],
    ["a key of another kind", untold + keyChecksum(untold), "starts with"],
  ])("%s is rejected before anything is sent", (_, key, words) => {
    expect(() => connect({ key })).toThrow(
      expect.objectContaining({ id: "invalid_key", detail: expect.stringContaining(words) }),
    );
    expect(() => connect({ key })).not.toThrow(key === "" ? "never" : key);
  });

  test.each([
    ["an address without a scheme", { baseUrl: "market.example.com" }],
    ["an address of another protocol", { baseUrl: "ws://market.example.com" }],
    ["an address with a query", { baseUrl: "https://market.example.com/?key=1" }],
    ["an address with a password", { baseUrl: "https://user:pass@market.example.com" }],
    ["zero attempts", { maxAttempts: 0 }],
    ["a negative wait", { maxWaitS: -1 }],
    ["a timeout that is not a number", { timeoutS: Number.NaN }],
  ])("%s: the client rejects it before anything is sent", (_, options) => {
    expect(() => connect(options)).toThrow(expect.objectContaining({ id: "invalid_argument" }));
  });

  test("invalid tickers and dates are rejected before anything is sent", async () => {
    const client = connect();
    const lists = ["EURUSD" as unknown as string[], [], ["EURUSD", " "], ["EURUSD,XAUUSD"], ["E".repeat(21)]];
    for (const tickers of lists)
      expect(await failureOf(client.latestQuotes({ tickers }))).toMatchObject({ id: "invalid_argument" });
    const never = new Date(Number.NaN);
    expect(await failureOf(client.klines({ ticker: "EURUSD", timeframe: "M1", from: never }))).toMatchObject({
      id: "invalid_argument",
    });
    expect(await failureOf(client.marketStatus({ tickers: ["EURUSD"], at: never }))).toMatchObject({ id: "invalid_argument" });
    expect(service.requests).toEqual([]);
  });

  test("a call or a stream without credentials is rejected before anything is sent", async () => {
    const client = createClient({ baseUrl: service.url });
    expect(await failureOf(client.instruments())).toMatchObject({ id: "invalid_key" });
    expect(() => client.stream()).toThrow(expect.objectContaining({ id: "invalid_key" }));
    expect(service.requests).toEqual([]);
  });
});

test("without a key, a fetch of the caller's own adds the credentials", async () => {
  service.answer(({ headers }) => succeed({ items: [], sent: headers.authorization }));
  const signed: typeof fetch = (url, init) => fetch(url, { ...init, headers: { authorization: "Bearer short-lived" } });
  const client = createClient({ baseUrl: service.url, fetch: signed });
  expect(await client.instruments()).toEqual({ items: [], sent: "Bearer short-lived" });
});

describe("a failure", () => {
  test("an error of the service has all fields of its envelope", async () => {
    service.answer(() => fail("unknown_ticker", { detail: "EURUSX is unknown.", tickers: ["EURUSX"], suggestion: "EURUSD" }));
    const error = await failureOf(connect().latestQuotes({ tickers: ["EURUSX"] }));
    expect(isSpotwireError(error) && error instanceof SpotwireError && error instanceof Error).toBe(true);
    expect(error).toMatchObject({
      id: "unknown_ticker",
      code: 40401,
      status: 404,
      detail: "EURUSX is unknown.",
      requestId: "req-1",
      message: "unknown_ticker: EURUSX is unknown. (request req-1)",
      data: { tickers: ["EURUSX"], suggestion: "EURUSD" },
    });
    expect(service.requests).toHaveLength(1);
  });

  test.each<[string, ScriptedAnswer]>([
    ["a page of a proxy", { status: 403, headers: { "content-type": "text/html" }, body: "<h1>Forbidden</h1>" }],
    ["JSON of another service", { status: 200, body: { ok: true } }],
    ["a broken text", { status: 200, body: '{"code":0,"message":"succ' }],
    ["a success without data", { status: 200, body: { code: 0, message: "success" } }],
    ["a failure with status 200", { status: 200, body: { code: 0, message: "success", data: null } }],
  ])("a response in another form is a bad_answer: %s", async (_, answer) => {
    service.answer(() => answer);
    expect(await failureOf(connect().instruments())).toMatchObject({ id: "bad_answer", status: answer.status });
  });

  test("an error of the network has its cause", async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const error = await failureOf(connect({ baseUrl: `http://127.0.0.1:${port}`, maxAttempts: 1 }).instruments());
    expect(error).toMatchObject({ id: "network_error", detail: expect.stringContaining("ECONNREFUSED") });
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  test("a redirect never sends the key to another address", async () => {
    const elsewhere = await startScriptedService();
    service.answer(() => ({ status: 302, headers: { location: `${elsewhere.url}/api/v1/market/instruments` }, body: "" }));
    expect(await failureOf(connect({ maxAttempts: 1 }).instruments())).toMatchObject({ id: "network_error" });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.stop();
  });

  test("a call without a response in time fails with timeout", async () => {
    const seen = answerInTurn("hang");
    const call = failureOf(connect({ maxAttempts: 1 }).instruments({ timeoutS: 3 }));
    await seen.next();
    await clock.advance(3_000);
    expect(await call).toMatchObject({ id: "timeout", detail: expect.stringContaining("3 s") });
  });

  test("a call fails with aborted and the caller's reason when its signal aborts", async () => {
    const seen = answerInTurn("hang");
    const caller = new AbortController();
    const call = failureOf(connect().instruments({ signal: caller.signal }));
    await seen.next();
    caller.abort("changed my mind");
    expect(await call).toMatchObject({ id: "aborted", cause: "changed my mind" });
    expect(await failureOf(connect().instruments({ signal: caller.signal }))).toMatchObject({ id: "aborted" });
    expect(service.requests).toHaveLength(1);
  });
});

describe("a GET without a response", () => {
  test("a GET without a response is retried with full jitter, a limited number of times", async () => {
    const seen = answerInTurn("cut");
    const call = failureOf(connect().instruments());
    for (const waitMs of [125, 250, 500]) {
      await seen.next();
      await clock.waitingFor(waitMs);
      await clock.advance(waitMs - 1);
      expect(seen.size).toBe(0);
      await clock.advance(1);
    }
    expect(await call).toMatchObject({ id: "network_error" });
    expect(service.requests).toHaveLength(4);
  });

  test("a GET succeeds when a later attempt does", async () => {
    const bad: ScriptedAnswer = { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Bad gateway</h1>" };
    answerInTurn(bad, succeed(quotes));
    const call = connect({ random: () => 0 }).latestQuotes({ tickers: ["EURUSD"] });
    expect(await call).toEqual(quotes);
    expect(service.requests).toHaveLength(2);
  });

  test("a POST without a response is never retried", async () => {
    answerInTurn("cut");
    expect(await failureOf(connect({ random: () => 0 }).createStreamTicket())).toMatchObject({ id: "network_error" });
    expect(service.requests).toHaveLength(1);
  });
});

describe("Retry-After", () => {
  test("a call is retried exactly after the Retry-After", async () => {
    const seen = answerInTurn(fail("rate_limited", {}, LIMITED), succeed(quotes));
    const call = connect().latestQuotes({ tickers: ["EURUSD"] });
    await clock.waitingFor(7_000);
    await clock.advance(6_999);
    expect(seen.size).toBe(1);
    await clock.advance(1);
    expect(await call).toEqual(quotes);
    expect(seen.size).toBe(2);
  });

  test("a POST is retried after a Retry-After, because it was not executed", async () => {
    answerInTurn(fail("service_unavailable", {}, LIMITED), succeed({ ticket: "t" }));
    const call = connect().createStreamTicket();
    await clock.waitingFor(7_000);
    await clock.advance(7_000);
    expect(await call).toEqual({ ticket: "t" });
  });

  test("a Retry-After with a date counts from the server's clock", async () => {
    const date = { date: "Thu, 01 Jan 2026 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" };
    answerInTurn({ status: 503, headers: date, body: "down" }, succeed(quotes));
    const call = connect().latestQuotes({ tickers: ["EURUSD"] });
    await clock.waitingFor(9_000);
    await clock.advance(9_000);
    expect(await call).toEqual(quotes);
  });

  test("a Retry-After holds all calls of the client, which then go one at a time, each after the previous response", async () => {
    const client = connect();
    const answers = createInbox<() => void>();
    const slow = ((...call: Parameters<typeof fetch>) =>
      new Promise<Response>((resolve) => answers.put(() => resolve(fetch(...call))))) as typeof fetch;
    const held = connect({ fetch: slow });
    service.answer(() => fail("rate_limited", {}, LIMITED));
    const first = held.instruments();
    (await answers.next())();
    await clock.waitingFor(7_000);
    const others = [held.instruments(), held.instruments(), held.instruments()];
    await clock.advance(6_999);
    expect(service.requests).toHaveLength(1);
    service.answer(() => succeed({ items: [] }));
    await clock.advance(1);
    for (let sent = 0; sent < 4; sent += 1) {
      const letThrough = await answers.next();
      await clock.advance(0);
      expect(answers.size).toBe(0);
      letThrough();
    }
    expect(await Promise.all([first, ...others])).toHaveLength(4);
    expect(service.requests).toHaveLength(5);
    expect(await client.instruments()).toEqual({ items: [] });
  });

  test("a second Retry-After holds all calls again", async () => {
    const client = connect();
    answerInTurn(fail("rate_limited", {}, LIMITED), fail("rate_limited", {}, LIMITED), succeed({ items: [] }));
    const calls: Promise<object>[] = [client.instruments()];
    await clock.waitingFor(7_000);
    calls.push(client.latestQuotes({ tickers: ["EURUSD"] }));
    await clock.advance(7_000);
    await clock.waitingFor(7_000);
    expect(service.requests).toHaveLength(2);
    await clock.advance(7_000);
    await Promise.all(calls);
    // The rejected call goes first.
    expect(service.requests.map(({ path }) => path.split("/").pop())).toEqual([
      "instruments",
      "instruments",
      "instruments",
      "latest",
    ]);
  });

  test("a ticker without a quote does not hold other calls", async () => {
    const client = connect();
    service.answer(({ query }) =>
      query.get("tickers") === "TESTNOTREADY" ? fail("market_data_not_ready", { retry_after: 1 }) : succeed(quotes),
    );
    const call = failureOf(client.latestQuotes({ tickers: ["TESTNOTREADY"] }));
    for (let tries = 1; tries < 4; tries += 1) {
      await clock.waitingFor(1_000);
      expect(await client.latestQuotes({ tickers: ["EURUSD"] })).toEqual(quotes);
      await clock.advance(1_000);
    }
    expect(await call).toMatchObject({ id: "market_data_not_ready", retryAfterS: 1 });
  });

  test("a call that would wait longer than maxWaitS fails at once and is not sent", async () => {
    answerInTurn(fail("rate_limited", {}, { "retry-after": "3600" }));
    const client = connect({ maxWaitS: 30 });
    expect(await failureOf(client.instruments())).toMatchObject({ id: "rate_limited", retryAfterS: 3600, requestId: "req-1" });
    await clock.advance(600_000);
    expect(await failureOf(client.instruments())).toMatchObject({ id: "rate_limited", status: 429, retryAfterS: 3000 });
    expect(service.requests).toHaveLength(1);
  });

  test("a call makes at most maxAttempts attempts", async () => {
    answerInTurn(fail("rate_limited", {}, { "retry-after": "1" }));
    const call = failureOf(connect({ maxAttempts: 3 }).instruments());
    for (let tries = 1; tries < 3; tries += 1) {
      await clock.waitingFor(1_000);
      await clock.advance(1_000);
    }
    expect(await call).toMatchObject({ id: "rate_limited" });
    expect(service.requests).toHaveLength(3);
  });

  test("at most maxQueuedCalls calls wait", async () => {
    answerInTurn(fail("rate_limited", {}, LIMITED), succeed({ items: [] }));
    const client = connect({ maxQueuedCalls: 2 });
    const first = client.instruments();
    await clock.waitingFor(7_000);
    const second = client.instruments();
    expect(await failureOf(client.instruments())).toMatchObject({ id: "queue_full" });
    await clock.advance(7_000);
    expect(await Promise.all([first, second])).toHaveLength(2);
  });

  test("a waiting call can be aborted, or fail when its turn comes too late", async () => {
    answerInTurn(fail("rate_limited", {}, LIMITED), "hang");
    const client = connect({ maxWaitS: 20, timeoutS: 60 });
    const first = failureOf(client.instruments());
    await clock.waitingFor(7_000);
    const caller = new AbortController();
    const second = failureOf(client.instruments({ signal: caller.signal }));
    const third = failureOf(client.instruments());
    caller.abort();
    expect(await second).toMatchObject({ id: "aborted" });
    await clock.advance(20_000);
    expect(await third).toMatchObject({ id: "rate_limited", detail: expect.stringContaining("Not sent") });
    await clock.advance(60_000);
    expect(await first).toMatchObject({ id: "timeout" });
  });

  test("no timer remains when no call waits", async () => {
    answerInTurn(fail("rate_limited", {}, LIMITED));
    const caller = new AbortController();
    const call = failureOf(connect().instruments({ signal: caller.signal }));
    await clock.waitingFor(7_000);
    caller.abort();
    expect(await call).toMatchObject({ id: "aborted" });
    await clock.advance(0);
    expect(clock.waits).toEqual([]);
  });
});

describe("the rate limit", () => {
  test("rateLimit shows the values of the last response", async () => {
    const client = connect();
    expect(client.rateLimit).toBeUndefined();
    answerInTurn(succeed(quotes, { "ratelimit-policy": '"plan";q=600;w=60', ratelimit: '"plan";r=587;t=41' }), succeed(quotes));
    await client.latestQuotes({ tickers: ["EURUSD"] });
    expect(client.rateLimit).toEqual({ limit: 600, remaining: 587, resetS: 41 });
    await client.latestQuotes({ tickers: ["EURUSD"] });
    expect(client.rateLimit).toEqual({ limit: 600, remaining: 587, resetS: 41 });
  });
});
