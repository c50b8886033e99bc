import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { CLOSES } from "#lib/contract/close-codes";
import { exampleParameters, type Operation } from "#lib/contract/operation";
import type { ClientMessage, Welcome } from "#lib/contract/stream";
import { OPERATION_LIST, operations } from "#lib/operations/declarations";
import {
  createInbox,
  fail,
  type Peer,
  quote,
  type ScriptedAnswer,
  type ScriptedService,
  startScriptedService,
  succeed,
} from "#lib/testing/scripted-service";
import { type Driver, type Raised, startDriver } from "./driver";
import { builtSources, newestPython, type Python, withPackages } from "./pythons";

/** The demo key of every installation. */
const KEY = "sw_test_DEMOkeyOfSpotwireForEveryone000ID0Y9";
const LIMITED = { "retry-after": "7" };
const EURUSD = { stream: "quote", tickers: ["EURUSD"] };
/** The wait in seconds before retry number `n` of a connection, with the random of these tests. */
const backoff = (n: number) => 0.5 * Math.min(30, 0.5 * 2 ** (n - 1));

/** The arguments of the first call of an operation, as the client names and takes them. */
function keywordsOf(operation: Operation): Record<string, unknown> {
  const parameters = Object.entries(exampleParameters(operation));
  const argumentOf = (name: string, text: string) =>
    operation.query[name]?.list ? text.split(",") : /^\d+$/.test(text) ? Number(text) : text;
  return Object.fromEntries(parameters.map(([name, text]) => [name === "from" ? "from_" : name, argumentOf(name, text)]));
}

let built: Awaited<ReturnType<typeof builtSources>>;
beforeAll(async () => {
  built = await builtSources();
});
afterAll(() => built?.remove());

const FLAVORS = [
  ["Debian's websockets", () => withPackages(built.sources)],
  ["the newest websockets of an index", () => newestPython(built.sources)],
] as const;

describe.each(FLAVORS)("the Python client with %s", (_, find) => {
  let python: Python | undefined;
  let missing = "";
  let driver: Driver;
  let service: ScriptedService;

  beforeAll(() => {
    const found = find();
    if ("missing" in found) missing = found.missing;
    else {
      python = found;
      driver = startDriver(found);
    }
  });
  afterAll(() => driver?.stop());
  beforeEach(async ({ skip }) => {
    skip(python === undefined, missing);
    service = await startScriptedService();
    driver.clear();
  });
  afterEach(async () => {
    await driver?.run("reset");
    await service?.stop();
  });

  const open = (options: object = {}) => driver.run("open", { url: service.url, key: KEY, ...options });

  /** Answers with these in turn, the last one from then on, and tells what was asked. */
  function answerInTurn(...answers: readonly (ScriptedAnswer | "hang" | "cut")[]) {
    const seen = createInbox<string>();
    let index = 0;
    service.answer(({ method, path }) => {
      seen.put(`${method} ${path}`);
      index += 1;
      return answers[Math.min(index, answers.length) - 1] ?? "hang";
    });
    return seen;
  }

  async function failureOf(outcome: Promise<{ error?: Raised }>): Promise<Raised> {
    const { error } = await outcome;
    if (error === undefined) throw new Error("It did not fail.");
    return error;
  }

  /** A stream with all callbacks that follows EURUSD, connected and acknowledged. */
  async function follow(options: object = {}, welcome: Partial<Welcome> = {}): Promise<Peer> {
    await open(options);
    await driver.run("stream");
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    const peer = await service.welcomed(welcome);
    await peer.ack();
    return peer;
  }

  const seqOf = async () => (await driver.events.record.next()).seq;

  function paramsOf(message: ClientMessage) {
    if (message.method !== "subscribe") throw new Error(`expected a subscribe, got ${message.method}`);
    return message.params;
  }

  async function untilState(wanted: string): Promise<Record<string, unknown>> {
    for (;;) {
      const change = await driver.events.state.next();
      if (change.state === wanted) return change;
    }
  }

  test("each operation returns the data of its response", async () => {
    await open();
    service.answer(({ path }) => {
      const operation = Object.values(operations).find((one) => one.path === path);
      return operation === undefined ? fail("not_found") : succeed(operation.example as object);
    });
    // A file is bytes: client.spec.ts downloads some.
    const reading = OPERATION_LIST.filter(({ id, scope }) => scope !== "market:ingest" && id !== "file");
    for (const operation of reading) {
      const name = operation.id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect(await driver.call(name, [], keywordsOf(operation)), name).toEqual({ value: operation.example });
    }
    expect(service.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(service.requests[0]?.headers["user-agent"]).toMatch(/^spotwire-client-python\/\d/);
  });

  test("each operation sends its parameters in the form of the service, and keeps a path in base_url", async () => {
    await driver.run("open", { url: `${service.url}/prices/`, key: KEY });
    service.answer(() => succeed({ items: [] }));
    await driver.call("klines", ["EURUSD", "M1"], {
      from_: "2026-01-01T00:00:00Z",
      to: 1_767_312_000,
      limit: 24,
      as_of: "2026-01-01T12:00:00.900Z",
    });
    await driver.call("latest_quotes", [[" eurusd", "XAUUSD", "EURUSD"]]);
    await driver.call("conversion", ["usd", ["JPY", "EUR"]], { amount: 0.5 });
    await driver.call("create_stream_ticket", ["https://app.example.com"]);
    expect(service.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
      {
        ticker: "EURUSD",
        timeframe: "M1",
        from: "2026-01-01T00:00:00Z",
        to: "1767312000",
        limit: "24",
        as_of: "2026-01-01T12:00:00.900Z",
      },
      { tickers: "EURUSD,XAUUSD" },
      { from: "usd", to: "JPY,EUR", amount: "0.5" },
      { origin: "https://app.example.com" },
    ]);
    expect(service.requests[0]?.path).toBe("/prices/api/v1/market/klines");
  });

  test("iter_klines returns every row of every page once, and raises when a page does not start later", async () => {
    await open();
    service.answer(({ query }) => {
      const from = Number(query.get("from"));
      return succeed({ from, next_from: from < 200 ? from + 100 : null, items: [{ time: from }, { time: from + 50 }] });
    });
    const { value } = await driver.call("iter_klines", ["EURUSD", "H1", 0], { as_of: 250 });
    expect(value).toEqual([0, 50, 100, 150, 200, 250].map((time) => ({ time })));
    expect(service.requests[0]?.query.get("limit")).toBe("1000");
    const instants = service.requests.map(({ query }) => query.get("as_of"));
    expect(instants).toEqual(["1970-01-01T00:04:10.000Z", "1970-01-01T00:04:10.000Z", "1970-01-01T00:04:10.000Z"]);
    service.answer(() => succeed({ from: 100, next_from: 100, items: [] }));
    expect(await failureOf(driver.call("iter_klines", ["EURUSD", "H1", 100]))).toMatchObject({ id: "bad_answer" });
  });

  test("what is wrong before it is sent is refused without a request", async () => {
    await open();
    expect(await failureOf(driver.call("latest_quotes", ["EURUSD"]))).toMatchObject({ kind: "InvalidArgumentError" });
    expect(await failureOf(driver.call("latest_quotes", [[]]))).toMatchObject({ id: "invalid_argument" });
    expect(await failureOf(driver.call("latest_quotes", [["EURUSD,XAUUSD"]]))).toMatchObject({ id: "invalid_argument" });
    const mistyped = await failureOf(driver.run("open", { url: service.url, key: KEY.replace("DEMO", "DEMA") }));
    expect([mistyped.kind, mistyped.text.includes("DEMA")]).toEqual(["InvalidKeyError", false]);
    expect(await failureOf(driver.run("open", { url: "ftp://x", key: KEY }))).toMatchObject({ id: "invalid_argument" });
    await driver.run("open", { url: service.url });
    expect(await failureOf(driver.call("instruments"))).toMatchObject({ id: "invalid_key" });
    expect(await failureOf(driver.run("stream"))).toMatchObject({ id: "invalid_key" });
    expect([service.requests.length, service.handshakes]).toEqual([0, 0]);
  });

  test("an error of the service has its class and all fields of its envelope", async () => {
    await open();
    service.answer(() => fail("unknown_ticker", { detail: "EURUSX is unknown.", tickers: ["EURUSX"], suggestion: "EURUSD" }));
    expect(await failureOf(driver.call("latest_quotes", [["EURUSX"]]))).toMatchObject({
      kind: "UnknownTickerError",
      id: "unknown_ticker",
      code: 40401,
      status: 404,
      request_id: "req-1",
      text: "unknown_ticker: EURUSX is unknown. (request req-1)",
      data: { tickers: ["EURUSX"], suggestion: "EURUSD" },
    });
    expect(service.requests).toHaveLength(1);
    service.answer(() => ({ status: 418, body: { code: 41801, message: "added_later", data: { detail: "New." } } }));
    expect(await failureOf(driver.call("instruments"))).toMatchObject({ kind: "SpotwireError", id: "added_later", code: 41801 });
  });

  test.each<[string, ScriptedAnswer]>([
    ["a page of a proxy", { status: 403, headers: { "content-type": "text/html" }, body: "<h1>Forbidden</h1>" }],
    ["JSON of another service", { status: 200, body: { ok: true } }],
    ["a broken text", { status: 200, body: '{"code":0,"message":"succ' }],
    ["a success without data", { status: 200, body: { code: 0, message: "success" } }],
    ["a list", { status: 200, body: "[1]" }],
  ])("a response in another form is a bad_answer: %s", async (_title, answer) => {
    await open();
    service.answer(() => answer);
    expect(await failureOf(driver.call("instruments"))).toMatchObject({ id: "bad_answer", status: answer.status });
  });

  test("a redirect never sends the key to another address, neither of a call nor of a stream", async () => {
    const elsewhere = await startScriptedService();
    const answer = { status: 302, headers: { location: `${elsewhere.url}/api/v1/market/instruments` }, body: "" };
    await open({ max_attempts: 1 });
    service.answer(() => answer);
    expect(await failureOf(driver.call("instruments"))).toMatchObject({ id: "network_error", status: 302 });
    service.refuseHandshakes(answer);
    await driver.run("stream");
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    expect(await driver.events.error.next()).toMatchObject({ id: "network_error" });
    expect([elsewhere.requests.length, elsewhere.handshakes]).toEqual([0, 0]);
    await elsewhere.stop();
  });

  test("a GET without a response is retried with full jitter, a limited number of times; a POST never", async () => {
    await open();
    const seen = answerInTurn("cut");
    const call = driver.call("instruments");
    for (const wait of [0.125, 0.25, 0.5]) await driver.pass(wait);
    expect(await failureOf(call)).toMatchObject({ kind: "NetworkError", id: "network_error" });
    expect(seen.size).toBe(4);
    expect(await driver.events.log.next()).toMatch(/^waiting 0\.1 s: try 2 of 4\. network_error: GET .* got no response/);
    expect(await failureOf(driver.call("create_stream_ticket"))).toMatchObject({ id: "network_error" });
    expect(seen.size).toBe(5);
  });

  test("a call without a response in time fails with timeout, and one that is cancelled sends no more", async () => {
    await open({ max_attempts: 1 });
    const seen = answerInTurn("hang");
    const call = driver.call("instruments", [], { timeout_s: 3 });
    await seen.next();
    await driver.pass(3);
    expect(await failureOf(call)).toMatchObject({ kind: "CallTimeoutError", detail: expect.stringContaining("3 s") });
    const other = driver.start("call", { name: "instruments", args: [], kwargs: {} });
    await seen.next();
    await driver.run("cancel", { which: other.id });
    expect(await other.outcome).toEqual({ cancelled: true });
    expect(driver.waits).toEqual([]);
  });

  test("a Retry-After holds all calls of the client, which then go one at a time, each after the previous response", async () => {
    await open();
    const seen = answerInTurn(fail("rate_limited", {}, LIMITED), "hang", succeed({ items: [] }));
    const first = driver.call("instruments", [], { timeout_s: 2 });
    await driver.waitingFor(7);
    expect(await driver.events.log.next()).toMatch(/^waiting 7\.0 s: the service asked for it\. rate_limited: /);
    const others = [driver.call("instruments"), driver.call("instruments")];
    await driver.run("advance", { s: 6.999 });
    expect(seen.size).toBe(1);
    await driver.run("advance", { s: 0.001 });
    await seen.next();
    await seen.next();
    await driver.waitingFor(2);
    expect(seen.size).toBe(0);
    await driver.run("advance", { s: 2 });
    expect(await Promise.all(others)).toEqual([{ value: { items: [] } }, { value: { items: [] } }]);
    await driver.pass(0.25);
    expect(await first).toEqual({ value: { items: [] } });
  });

  test("a Retry-After with a date counts from the server's clock, and also a POST is retried after it", async () => {
    await open();
    const date = { date: "Thu, 01 Jan 2026 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" };
    answerInTurn({ status: 503, headers: date, body: "down" }, succeed({ ticket: "t" }));
    const call = driver.call("create_stream_ticket");
    await driver.pass(9);
    expect(await call).toEqual({ value: { ticket: "t" } });
  });

  test("a ticker without a quote does not hold other calls", async () => {
    await open();
    const seen = answerInTurn(fail("market_data_not_ready", {}, LIMITED), succeed({ items: [] }));
    const slow = driver.call("latest_quotes", [["EURUSD"]]);
    await driver.waitingFor(7);
    expect(await driver.call("instruments")).toEqual({ value: { items: [] } });
    await driver.run("advance", { s: 7 });
    expect(await slow).toEqual({ value: { items: [] } });
    expect(seen.size).toBe(3);
  });

  test("waiting calls are limited in number and in time", async () => {
    await open({ max_queued_calls: 1, max_wait_s: 10 });
    answerInTurn(fail("rate_limited", {}, LIMITED), fail("rate_limited", {}, { "retry-after": "60" }));
    const first = driver.call("instruments");
    await driver.waitingFor(7);
    expect(await failureOf(driver.call("instruments"))).toMatchObject({ kind: "QueueFullError" });
    await driver.run("advance", { s: 7 });
    expect(await failureOf(first)).toMatchObject({ kind: "RateLimitedError", retry_after: 60 });
    const late = await failureOf(driver.call("instruments"));
    expect(late).toMatchObject({ kind: "RateLimitedError", status: 429, retry_after: 60, cause: "RateLimitedError" });
    expect(late.detail).toContain("Not sent");
    expect([service.requests.length, driver.waits]).toEqual([2, []]);
  });

  test("rate_limit shows the values of the last response", async () => {
    await open();
    service.answer(() => succeed({ items: [] }, { "ratelimit-policy": '"plan";q=600;w=60', ratelimit: '"plan";r=587;t=41' }));
    expect(await driver.run("rate_limit")).toEqual({ value: null });
    await driver.call("instruments");
    expect(await driver.run("rate_limit")).toEqual({ value: { limit: 600, remaining: 587, reset_s: 41 } });
  });

  test("a stream sends its key in a header, or a fresh ticket for each connection", async () => {
    const peer = await follow();
    expect(peer.headers.authorization).toBe(`Bearer ${KEY}`);
    const ticketed = await follow({ key: null, tickets: true });
    expect(ticketed.headers["sec-websocket-protocol"]).toMatch(/^market\.v1, ?ticket\.t1$/);
    expect(ticketed.headers.authorization).toBeUndefined();
    ticketed.cut();
    await driver.pass(backoff(1));
    expect((await service.welcomed()).headers["sec-websocket-protocol"]).toMatch(/ticket\.t2$/);
  });

  test("after a lost connection all subscriptions resume from their last sequence, and no record is delivered twice", async () => {
    await open();
    await driver.run("stream");
    await driver.run("subscribe", { name: "a", ...EURUSD });
    await driver.run("subscribe", { name: "b", stream: "quote", tickers: ["XAUUSD", "USDJPY"] });
    await driver.run("subscribe", { name: "c", stream: "kline", tickers: ["EURUSD"], timeframe: "M1" });
    const first = await service.welcomed();
    await first.ack();
    await first.ack();
    for (const message of [quote("EURUSD", 7), quote("XAUUSD", 3), quote("EURUSD", 8)]) first.send(message);
    for (const seq of [7, 3, 8]) expect(await seqOf()).toBe(seq);
    first.cut();
    expect(await driver.events.close.next()).toEqual({
      code: 1006,
      reason: "",
      after: "retry",
      meaning: "The connection broke.",
    });
    await driver.pass(backoff(1));
    const second = await service.welcomed();
    expect([await second.ack(), await second.ack(), await second.ack()].map(paramsOf)).toEqual([
      { stream: "quote", tickers: ["EURUSD", "XAUUSD"], snapshot: true, resume: { epoch: "e1", seq: { EURUSD: 8, XAUUSD: 3 } } },
      { stream: "quote", tickers: ["USDJPY"], snapshot: true },
      { stream: "kline", tickers: ["EURUSD"], timeframe: "M1", snapshot: true },
    ]);
    for (const seq of [8, 9, 10]) second.send(quote("EURUSD", seq));
    expect([await seqOf(), await seqOf()]).toEqual([9, 10]);
    expect(driver.events.gap.size).toBe(0);
  });

  test("missing records are a gap, unless one replaced them or a snapshot begins an epoch", async () => {
    const peer = await follow();
    peer.send(quote("EURUSD", 10, { event: "snapshot" }));
    peer.send(quote("EURUSD", 13, { merged: 2 }));
    peer.send(quote("EURUSD", 12));
    peer.send(quote("EURUSD", 3, { epoch: "e2", event: "snapshot" }));
    for (const seq of [10, 13, 3]) expect(await seqOf()).toBe(seq);
    expect(driver.events.gap.size).toBe(0);
    peer.send(quote("EURUSD", 6, { epoch: "e2" }));
    const gap = { stream: "quote", ticker: "EURUSD", timeframe: null };
    expect(await driver.events.gap.next()).toEqual({ ...gap, epoch: "e2", expected: 4, received: 6 });
    peer.send(quote("EURUSD", 1, { epoch: "e3" }));
    expect(await driver.events.gap.next()).toEqual({ ...gap, epoch: "e3", expected: null, received: 1 });
  });

  test("waits between attempts double up to thirty seconds, and start over after the first record", async () => {
    await open();
    service.refuseHandshakes(...Array.from({ length: 8 }, () => fail("internal_error")));
    await driver.run("stream");
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    for (let n = 1; n <= 8; n += 1) {
      expect(await driver.events.error.next()).toMatchObject({ id: "internal_error", status: 500 });
      await driver.pass(backoff(n));
    }
    const mute = await service.welcomed({ heartbeat_interval_s: 60 });
    await mute.ack();
    await driver.run("ready", { name: "quotes" });
    await driver.run("advance", { s: 60 });
    mute.cut();
    await driver.pass(backoff(9));
    const good = await service.welcomed();
    await good.ack();
    good.send(quote("EURUSD", 1));
    expect(await seqOf()).toBe(1);
    good.cut();
    await driver.pass(backoff(1));
    const mended = await service.welcomed();
    await mended.ack();
    mended.cut();
    await driver.pass(backoff(2));
    await service.welcomed();
  });

  test("a rejected handshake is followed by its Retry-After, and a shutdown by a moment within the time it gave", async () => {
    await open();
    service.refuseHandshakes(fail("too_many_connections", {}, { "retry-after": "20" }));
    await driver.run("stream");
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    const refusal = { kind: "TooManyConnectionsError", code: 42902, retry_after: 20 };
    expect(await driver.events.error.next()).toMatchObject(refusal);
    await driver.pass(20 + backoff(1));
    const peer = await service.welcomed();
    await peer.ack();
    peer.send({ type: "server_shutdown", time_msc: 1, reconnect_after_ms: 8_000 });
    peer.close(1001, "shutdown");
    expect(await driver.events.close.next()).toMatchObject({ code: 1001, after: "retry", meaning: CLOSES.shutdown.meaning });
    await driver.pass(4);
    await service.welcomed();
  });

  test.each(["unauthorized", "insufficient_scope", "address_not_allowed", "account_suspended", "not_found"] as const)(
    "a handshake rejected with %s ends the stream",
    async (id) => {
      await open();
      service.refuseHandshakes(fail(id, { detail: "No." }));
      await driver.run("stream");
      await driver.run("subscribe", { name: "quotes", ...EURUSD });
      expect(await failureOf(driver.run("ready", { name: "quotes" }))).toMatchObject({ id, detail: "No.", request_id: "req-1" });
      expect(await failureOf(driver.run("closed"))).toMatchObject({ id });
      expect(await driver.events.error.next()).toMatchObject({ id });
      expect((await untilState("closed")).state).toBe("closed");
      await driver.run("advance", { s: 600 });
      expect([driver.events.error.size, service.handshakes]).toEqual([0, 1]);
    },
  );

  test.each(Object.values(CLOSES).filter(({ after }) => after === "terminal"))(
    "close $code ends the stream",
    async ({ code, reason, meaning }) => {
      const peer = await follow();
      peer.close(code, reason);
      expect(await driver.events.close.next()).toEqual({ code, reason, after: "terminal", meaning });
      expect(await failureOf(driver.run("closed"))).toMatchObject({ kind: "ConnectionLostError", detail: meaning });
      await driver.run("advance", { s: 600 });
      expect(service.handshakes).toBe(1);
      expect(await failureOf(driver.run("subscribe", { name: "more", ...EURUSD }))).toMatchObject({ id: "stream_closed" });
    },
  );

  test.each([CLOSES.slow_consumer, CLOSES.flooding])("close $code does not end the stream", async ({ code, reason, meaning }) => {
    const peer = await follow();
    peer.close(code, reason);
    expect(await driver.events.close.next()).toEqual({ code, reason, after: "retry", meaning });
    await driver.pass(backoff(1));
    await (await service.welcomed()).ack();
  });

  test("a close with an earlier explanation of the service ends the stream with that explanation", async () => {
    const peer = await follow();
    const data = { detail: "The key was revoked.", request_id: "c-1", docs_url: "/docs", close_code: 4401 };
    peer.send({ type: "error", id: null, code: 40101, message: "unauthorized", data });
    peer.close(4401, "unauthorized");
    expect(await failureOf(driver.run("closed"))).toMatchObject({ kind: "UnauthorizedError", detail: "The key was revoked." });
    expect([(await driver.events.error.next()).id, driver.events.error.size]).toEqual(["unauthorized", 0]);
  });

  test("a silent connection counts as dead after two and a half heartbeats, and the stream reconnects", async () => {
    const peer = await follow({}, { heartbeat_interval_s: 10 });
    await driver.run("ready", { name: "quotes" });
    await driver.run("advance", { s: 20 });
    peer.send(quote("EURUSD", 1));
    expect(await seqOf()).toBe(1);
    await driver.run("advance", { s: 24.999 });
    expect(driver.events.error.size).toBe(0);
    await driver.run("advance", { s: 0.001 });
    expect(await driver.events.error.next()).toMatchObject({ id: "connection_lost", detail: expect.stringContaining("25 s") });
    expect(await driver.events.close.next()).toMatchObject({ reason: "mute", after: "retry" });
    expect(await peer.closed).toBe(1006);
    await driver.pass(backoff(1));
    await (await service.welcomed()).ack();
  });

  test("a connection that is silent from its start, or never ends its rejection, is given up", async () => {
    await open();
    await driver.run("stream");
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    await service.connection();
    await driver.pass(15);
    expect(await driver.events.error.next()).toMatchObject({ id: "connection_lost" });
    service.refuseHandshakes({ ...fail("service_unavailable"), endless: true });
    await driver.pass(backoff(1));
    await vi.waitFor(() => expect(service.handshakes).toBe(2));
    await driver.pass(15);
    expect(await driver.events.error.next()).toMatchObject({ id: "connection_lost" });
    await driver.pass(backoff(2));
    await service.welcomed();
  });

  test("closing a stream closes the connection with 1000, ends its loops, and leaves no timer", async () => {
    const peer = await follow();
    const loop = driver.start("next", { name: "quotes" });
    await driver.run("close");
    expect(await loop.outcome).toEqual({ value: null });
    expect(await driver.run("closed")).toEqual({ value: null });
    expect([await peer.closed, driver.waits]).toEqual([1000, []]);
  });

  test.each(["open", "record", "close"] as const)("a stream closed by its callback for %s stays closed", async (event) => {
    await open();
    await driver.run("stream", { closing: event });
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    const peer = await service.welcomed();
    if (event !== "open") await peer.ack();
    if (event === "record") peer.send(quote("EURUSD", 1));
    if (event === "close") peer.cut();
    expect(await driver.run("closed")).toEqual({ value: null });
    await driver.run("advance", { s: 600 });
    expect([service.handshakes, driver.waits]).toEqual([1, []]);
  });

  test("a connection that is no longer needed when it opens is closed", async () => {
    await open();
    await driver.run("stream");
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    const peer = await service.connection();
    await driver.run("unsubscribe", { name: "quotes" });
    peer.send({ type: "welcome", heartbeat_interval_s: 15 });
    expect(await peer.closed).toBe(1000);
    await untilState("idle");
    await driver.run("subscribe", { name: "again", ...EURUSD });
    await (await service.welcomed()).ack();
  });

  test("subscriptions go in as few messages as allowed, and at four fifths of the service's rate", async () => {
    await open();
    await driver.run("stream");
    const tickers = Array.from({ length: 250 }, (_each, index) => `T${index}AA`);
    await driver.run("subscribe", { name: "many", stream: "quote", tickers });
    await driver.run("subscribe", { name: "klines", stream: "kline", tickers: ["EURUSD"], timeframe: "H1" });
    const limits = { connections: 1, subscriptions: 1_000, message_max_bytes: 16_384, tickers_per_message: 100 };
    const peer = await service.welcomed({ limits: { ...limits, messages_per_second: 5, messages_burst: 4 } });
    const sizes: number[] = [];
    for (let sent = 0; sent < 3; sent += 1) sizes.push(paramsOf(await peer.ack()).tickers.length);
    expect(sizes).toEqual([100, 100, 50]);
    await driver.pass(0.25);
    expect(paramsOf(await peer.ack()).tickers).toEqual(["EURUSD"]);
  });

  test("a subscription tells which tickers were rejected, and fails when all were", async () => {
    await open();
    await driver.run("stream");
    await driver.run("subscribe", { name: "some", stream: "quote", tickers: ["EURUSD", "NOSUCH"] });
    const peer = await service.welcomed();
    await peer.ack(["NOSUCH"]);
    const { value } = await driver.run("ready", { name: "some" });
    expect(value).toMatchObject({ accepted: ["EURUSD"], rejected: [{ ticker: "NOSUCH", message: "unknown_ticker" }] });
    await driver.run("subscribe", { name: "none", stream: "snapshot", tickers: ["NOSUCH"] });
    await peer.ack(["NOSUCH"]);
    expect(await failureOf(driver.run("ready", { name: "none" }))).toMatchObject({ kind: "UnknownTickerError", code: 40401 });
    expect(await failureOf(driver.run("next", { name: "none" }))).toMatchObject({ kind: "UnknownTickerError" });
  });

  test("an unacknowledged subscription is sent again, and one rejected by the rate limit at the time the service gives", async () => {
    await open();
    await driver.run("stream");
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    const peer = await service.welcomed();
    await peer.messages.next();
    await driver.pass(10);
    const { id } = await peer.messages.next();
    const data = { detail: "Slower.", request_id: "r", docs_url: "/docs", retry_after: 3 };
    peer.send({ type: "error", id, code: 42901, message: "rate_limited", data });
    await driver.pass(3);
    await peer.ack();
    expect((await driver.run("ready", { name: "quotes" })).value).toMatchObject({ accepted: ["EURUSD"] });
  });

  test("the end of the last subscription to a ticker unsubscribes it, and a renewed one starts fresh", async () => {
    const peer = await follow();
    peer.send(quote("EURUSD", 5));
    expect(await seqOf()).toBe(5);
    await driver.run("unsubscribe", { name: "quotes" });
    const unsubscribe = await peer.messages.next();
    expect(unsubscribe).toMatchObject({ method: "unsubscribe", params: { stream: "quote", tickers: ["EURUSD"] } });
    await driver.run("subscribe", { name: "again", ...EURUSD });
    peer.send(quote("EURUSD", 6));
    expect(paramsOf(await peer.ack()).resume).toBeUndefined();
    peer.send(quote("EURUSD", 9, { event: "snapshot" }));
    expect(await seqOf()).toBe(9);
    expect(driver.events.gap.size).toBe(0);
  });

  test("a slow loop loses the oldest records, counts them and reports it once", async () => {
    await open();
    await driver.run("stream", { silent: true, buffer_max_records: 3 });
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    await driver.run("subscribe", { name: "marker", stream: "quote", tickers: ["XAUUSD"] });
    const peer = await service.welcomed();
    await peer.ack();
    for (const seq of [1, 2, 3, 4, 5]) peer.send(quote("EURUSD", seq));
    peer.send(quote("XAUUSD", 1));
    await driver.run("next", { name: "marker" });
    expect(await driver.run("dropped", { name: "quotes" })).toEqual({ value: 2 });
    expect(await driver.run("next", { name: "quotes" })).toMatchObject({ value: { seq: 3 } });
    peer.close(4401, "unauthorized");
    for (const seq of [4, 5]) expect(await driver.run("next", { name: "quotes" })).toMatchObject({ value: { seq } });
    expect(await failureOf(driver.run("next", { name: "quotes" }))).toMatchObject({ kind: "ConnectionLostError" });
    expect(await driver.run("next", { name: "quotes" })).toEqual({ value: null });
  });

  test("an exception of a callback goes to on_error and does not break the stream", async () => {
    await open();
    await driver.run("stream", { failing: true });
    await driver.run("subscribe", { name: "quotes", ...EURUSD });
    const peer = await service.welcomed();
    await peer.ack();
    for (const seq of [1, 2]) peer.send(quote("EURUSD", seq));
    const failed = { kind: "CallbackFailedError", cause: "ZeroDivisionError" };
    for (const _each of [1, 2]) expect(await driver.events.error.next()).toMatchObject(failed);
    expect([await seqOf(), await seqOf()]).toEqual([1, 2]);
  });

  test("what is no message is reported and skipped, and unknown messages are ignored", async () => {
    const peer = await follow();
    for (const text of ["{", "[1]", '{"a":1}', '{"type":"quote","ticker":"EURUSD"}', '{"type":"ack"}']) peer.send(text);
    peer.send({ type: "added_later" });
    peer.send(quote("EURUSD", 1));
    expect(await seqOf()).toBe(1);
    const reported = await Promise.all([1, 2, 3, 4].map(() => driver.events.error.next()));
    expect(new Set(reported.map(({ id }) => id))).toEqual(new Set(["bad_answer"]));
    expect(driver.events.error.size).toBe(0);
    peer.send({ type: "heartbeat", time_msc: 1, quiet: [] });
    expect(await driver.events.heartbeat.next()).toMatchObject({ type: "heartbeat" });
  });

  test.each([
    ["an unknown stream", { stream: "trade", tickers: ["EURUSD"] }],
    ["klines without a timeframe", { stream: "kline", tickers: ["EURUSD"] }],
    ["quotes with a timeframe", { stream: "quote", tickers: ["EURUSD"], timeframe: "M1" }],
    ["no tickers", { stream: "quote", tickers: [] }],
    ["more than a stream follows", { stream: "quote", tickers: Array.from({ length: 10_001 }, (_each, index) => `T${index}AA`) }],
  ])("an invalid subscription is rejected before anything is sent: %s", async (_title, selection) => {
    await open();
    await driver.run("stream");
    const refused = await failureOf(driver.run("subscribe", { name: "bad", ...selection }));
    expect([refused.id, service.handshakes]).toEqual(["invalid_argument", 0]);
  });
});
