import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { CLOSES, PROTOCOL_CLOSES } from "#lib/contract/close-codes";
import { klineExample } from "#lib/contract/kline";
import type { ClientMessage, KlineMessage, PushMessage } from "#lib/contract/stream";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { createInbox, fail, quote, type ScriptedService, startScriptedService, succeed } from "#lib/testing/scripted-service";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS } from "#lib/units";
import { type ClientOptions, createClient } from "./client";
import { SpotwireError } from "./errors";
import { delayBefore, finalError } from "./reconnect";
import type { Gap } from "./sequence";
import { webSocketDialer } from "./socket";
import type { StateChange, Stream, StreamClose, StreamOptions } from "./stream";

let service: ScriptedService;
let clock: WatchedClock;
let stream: Stream | undefined;

beforeEach(async () => {
  service = await startScriptedService();
  clock = watchedClock();
});
afterEach(async () => {
  stream?.close();
  await service.stop();
});

const EURUSD = { stream: "quote", tickers: ["EURUSD"] } as const;
/** The wait before retry number `n`, with the random of these tests. */
const backoff = (n: number) => 0.5 * Math.min(30_000, 500 * 2 ** (n - 1));

/** A stream that follows EURUSD, and everything it reports. */
function open(client: Partial<ClientOptions> = {}) {
  const observed = {
    records: createInbox<PushMessage>(),
    gaps: createInbox<Gap>(),
    errors: createInbox<SpotwireError>(),
    closes: createInbox<StreamClose>(),
    states: createInbox<StateChange>(),
  };
  const made = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock, random: () => 0.5, ...client });
  const opened = made.stream({
    onRecord: observed.records.put,
    onGap: observed.gaps.put,
    onError: observed.errors.put,
    onClose: observed.closes.put,
    onStateChange: observed.states.put,
  });
  stream = opened;
  const subscription = opened.subscribe(EURUSD);
  return { stream: opened, subscription, ...observed };
}

/** Expects a wait of exactly this length and ends it. */
async function pass(ms: number): Promise<void> {
  await clock.waitingFor(ms);
  await clock.advance(ms);
}

function paramsOf(message: ClientMessage) {
  if (message.method !== "subscribe") throw new Error(`expected a subscribe, got ${message.method}`);
  return message.params;
}

describe("after a lost connection", () => {
  test("after a lost connection all subscriptions resume from their last sequence, and no record is delivered twice", async () => {
    const { stream: test, records, gaps, closes, subscription } = open();
    test.subscribe({ stream: "quote", tickers: ["XAUUSD", "USDJPY"] });
    test.subscribe({ stream: "kline", tickers: ["EURUSD"], timeframe: "M1" });
    const first = await service.welcomed();
    await first.ack();
    await first.ack();
    for (const message of [quote("EURUSD", 7), quote("XAUUSD", 3), quote("EURUSD", 8)]) first.send(message);
    for (const seq of [7, 3, 8]) expect((await records.next()).seq).toBe(seq);
    first.cut();
    expect(await closes.next()).toEqual({ code: 1006, reason: "", after: "retry", meaning: "The connection broke." });
    await pass(backoff(1));
    const second = await service.welcomed();
    const asked = [await second.ack(), await second.ack(), await second.ack()].map(paramsOf);
    expect(asked).toEqual([
      { stream: "quote", tickers: ["EURUSD", "XAUUSD"], snapshot: true, resume: { epoch: "e1", seq: { EURUSD: 8, XAUUSD: 3 } } },
      { stream: "quote", tickers: ["USDJPY"], snapshot: true },
      { stream: "kline", tickers: ["EURUSD"], timeframe: "M1", snapshot: true },
    ]);
    for (const seq of [8, 9, 10]) second.send(quote("EURUSD", seq));
    expect([(await records.next()).seq, (await records.next()).seq]).toEqual([9, 10]);
    expect(gaps.size).toBe(0);
    expect((await subscription.ready).accepted).toEqual(["EURUSD"]);
  });

  test("after a lost connection, records that cannot be replayed are reported as a gap", async () => {
    const { records, gaps } = open();
    const first = await service.welcomed();
    await first.ack();
    first.send(quote("EURUSD", 7));
    await records.next();
    first.cut();
    await pass(backoff(1));
    const second = await service.welcomed();
    await second.ack();
    second.send(quote("EURUSD", 1_200, { event: "snapshot" }));
    expect(await gaps.next()).toMatchObject({ ticker: "EURUSD", expected: 8, received: 1_200 });
  });

  test("after a lost connection an unanswered subscription is requested again, and its `ready` waits for the answer", async () => {
    const { subscription } = open();
    const first = await service.welcomed();
    await first.messages.next();
    first.cut();
    await pass(backoff(1));
    await (await service.welcomed()).ack();
    expect((await subscription.ready).accepted).toEqual(["EURUSD"]);
  });

  test("after a lost connection, topics unsubscribed meanwhile are not requested again", async () => {
    const { stream: test, subscription } = open();
    test.subscribe({ stream: "quote", tickers: ["XAUUSD"] });
    const first = await service.welcomed();
    await first.ack();
    first.cut();
    await clock.waitingFor(backoff(1));
    subscription.unsubscribe();
    await clock.advance(backoff(1));
    expect(paramsOf(await (await service.welcomed()).ack()).tickers).toEqual(["XAUUSD"]);
  });

  test("after a lost connection no connection is opened when nothing is followed", async () => {
    const { stream: test, subscription, states } = open();
    const first = await service.welcomed();
    await first.ack();
    subscription.unsubscribe();
    await first.ack();
    first.cut();
    while ((await states.next()).state !== "idle");
    await clock.advance(600_000);
    expect(service.handshakes).toBe(1);
    test.subscribe(EURUSD);
    await (await service.welcomed()).ack();
  });

  test("a connection that is no longer needed when it opens is closed", async () => {
    const { subscription, states } = open();
    const peer = await service.connection();
    subscription.unsubscribe();
    peer.send({ type: "welcome", heartbeat_interval_s: 15 });
    expect(await peer.closed).toBe(1000);
    while ((await states.next()).state !== "idle");
  });
});

describe("a stream that is closed by a callback", () => {
  test("a stream closed by a callback stays closed, whatever event the callback handled", async () => {
    const states: string[] = [];
    const one = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock }).stream({
      onStateChange: ({ state }) => states.push(state),
      onClose: () => one.close(),
    });
    stream = one;
    one.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    peer.cut();
    await one.closed;
    await clock.advance(600_000);
    expect(states).toEqual(["connecting", "open", "closed"]);
    expect([one.state, service.handshakes]).toEqual(["closed", 1]);
  });
});

describe("the waits between attempts", () => {
  test("waits between attempts double up to thirty seconds, and start over after the first record of a connection", async () => {
    const { errors, records } = open();
    service.refuseHandshakes(...Array.from({ length: 8 }, () => fail("internal_error")));
    for (let n = 1; n <= 8; n += 1) {
      expect(await errors.next()).toMatchObject({ id: "internal_error", status: 500 });
      await pass(backoff(n));
    }
    expect(backoff(8)).toBe(15_000);
    const bare = await service.welcomed();
    await bare.ack();
    await clock.advance(30_000);
    bare.cut();
    await pass(backoff(9));
    const good = await service.welcomed();
    await good.ack();
    good.send(quote("EURUSD", 1));
    await records.next();
    good.cut();
    await pass(backoff(1));
    await service.welcomed();
  });

  test("waits between attempts are spread from 0 to their limit", () => {
    const ending = { code: 1006, reason: "", livedMs: undefined };
    expect([0, 0.25, 0.999].map((chance) => delayBefore(ending, 2, () => chance))).toEqual([0, 500, 1998]);
    expect(delayBefore(ending, 50, () => 1)).toBe(30_000);
  });

  test("waits between attempts last at least the Retry-After of a rejected handshake", async () => {
    const { errors, states } = open();
    service.refuseHandshakes(fail("too_many_connections", {}, { "retry-after": "20" }));
    expect(await errors.next()).toMatchObject({ id: "too_many_connections", code: 42902, retryAfterS: 20 });
    while ((await states.next()).state !== "waiting");
    await pass(20_000 + backoff(1));
    await service.welcomed();
  });

  test("waits between attempts never exceed an hour, whatever the server sends", () => {
    const error = new SpotwireError("rate_limited", "", { status: 429, retryAfterS: 1e9 });
    expect(delayBefore({ code: 1006, reason: "", error, livedMs: undefined }, 0, () => 0)).toBe(HOUR_MS);
  });

  test("after the shutdown of a server, the stream reconnects at a random moment within the time it gave", async () => {
    const { closes } = open();
    const peer = await service.welcomed();
    await peer.ack();
    peer.send({ type: "server_shutdown", time_msc: 1, reconnect_after_ms: 8_000 });
    peer.close(1001, "shutdown");
    expect(await closes.next()).toMatchObject({ code: 1001, after: "retry", meaning: CLOSES.shutdown.meaning });
    await pass(4_000);
    await service.welcomed();
  });
});

describe("a final end", () => {
  test.each(["unauthorized", "insufficient_scope", "origin_not_allowed", "account_suspended", "not_found"] as const)(
    "a handshake rejected with %s ends the stream",
    async (id) => {
      service.refuseHandshakes(fail(id, { detail: "No." }));
      const { stream: test, subscription, errors, states } = open();
      await expect(subscription.ready).rejects.toMatchObject({ id, detail: "No.", requestId: "req-1" });
      await expect(test.closed).rejects.toMatchObject({ id });
      expect(await errors.next()).toMatchObject({ id });
      expect(errors.size).toBe(0);
      while ((await states.next()).state !== "closed");
      await clock.advance(600_000);
      expect(service.handshakes).toBe(1);
    },
  );

  test.each([CLOSES.protocol_abuse, CLOSES.unauthorized, CLOSES.forbidden])(
    "close $code ends the stream",
    async ({ code, reason, meaning }) => {
      const { stream: test, closes, errors } = open();
      const peer = await service.welcomed();
      await peer.ack();
      peer.close(code, reason);
      expect(await closes.next()).toEqual({ code, reason, after: "terminal", meaning });
      await expect(test.closed).rejects.toMatchObject({ id: "connection_lost", detail: meaning });
      expect((await errors.next()).detail).toBe(meaning);
      await clock.advance(600_000);
      expect(service.handshakes).toBe(1);
    },
  );

  test("a close with an earlier explanation of the service ends the stream with that explanation", async () => {
    const { stream: test, errors } = open();
    const peer = await service.welcomed();
    await peer.ack();
    const data = { detail: "The key was revoked.", request_id: "c-1", docs_url: "/docs", close_code: 4401 };
    peer.send({ type: "error", id: null, code: 40101, message: "unauthorized", data });
    peer.close(4401, "unauthorized");
    await expect(test.closed).rejects.toMatchObject({ id: "unauthorized", detail: "The key was revoked." });
    expect([(await errors.next()).id, errors.size]).toEqual(["unauthorized", 0]);
  });

  test.each(Object.keys(PROTOCOL_CLOSES).map(Number))("close %i of the protocol ends the stream", (code) => {
    expect(finalError({ code, reason: "", livedMs: 1 })).toMatchObject({ id: "connection_lost" });
  });

  test.each([CLOSES.slow_consumer, CLOSES.flooding])("close $code does not end the stream", async ({ code, reason, meaning }) => {
    const { closes } = open();
    const peer = await service.welcomed();
    await peer.ack();
    peer.close(code, reason);
    expect(await closes.next()).toEqual({ code, reason, after: "retry", meaning });
    await pass(backoff(1));
    await (await service.welcomed()).ack();
  });

  test("a final error rejects `closed` when neither onError nor a loop receives it", async () => {
    service.refuseHandshakes(fail("unauthorized"));
    stream = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock }).stream();
    stream.subscribe(EURUSD);
    await expect(stream.closed).rejects.toMatchObject({ id: "unauthorized" });
    expect(stream.state).toBe("closed");
  });
});

describe("a silent connection", () => {
  test("a silent connection counts as dead after two and a half heartbeats, and the stream reconnects", async () => {
    const { errors, closes, subscription } = open();
    const peer = await service.welcomed({ heartbeat_interval_s: 10 });
    await peer.ack();
    await subscription.ready;
    await clock.advance(24_999);
    expect(errors.size).toBe(0);
    await clock.advance(1);
    expect(await errors.next()).toMatchObject({ id: "connection_lost", detail: expect.stringContaining("25 s") });
    expect(await closes.next()).toMatchObject({ reason: "mute", after: "retry" });
    expect(await peer.closed).toBe(1006);
    await pass(backoff(1));
    await (await service.welcomed()).ack();
  });

  test("a connection is alive as long as any data arrives", async () => {
    const { records, errors, subscription } = open();
    const peer = await service.welcomed({ heartbeat_interval_s: 10 });
    await peer.ack();
    await subscription.ready;
    for (let seq = 1; seq < 10; seq += 1) {
      await clock.advance(20_000);
      peer.send(quote("EURUSD", seq));
      await records.next();
    }
    expect([errors.size, service.handshakes]).toEqual([0, 1]);
  });

  test("a connection that is silent from its start is closed", async () => {
    const { errors } = open();
    await service.connection();
    await pass(15_000);
    expect(await errors.next()).toMatchObject({ id: "connection_lost" });
    await pass(backoff(1));
    await service.welcomed();
  });
});

describe("with tickets", () => {
  const inBrowser = { dialer: webSocketDialer(WebSocket as unknown as typeof globalThis.WebSocket) };

  test("a runtime that cannot send headers fetches a new ticket with the key for each connection", async () => {
    let issued = 0;
    service.answer(() => {
      issued += 1;
      return succeed({ ticket: `t${issued}`, expires_at: "2026-01-01T00:01:00.000Z" });
    });
    const { records } = open(inBrowser);
    const first = await service.welcomed();
    expect(first.headers["sec-websocket-protocol"]).toBe("market.v1,ticket.t1");
    expect(first.headers.authorization).toBeUndefined();
    await first.ack();
    first.send(quote("EURUSD", 1));
    expect((await records.next()).seq).toBe(1);
    first.cut();
    await pass(backoff(1));
    const second = await service.welcomed();
    expect(second.headers["sec-websocket-protocol"]).toBe("market.v1,ticket.t2");
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(2).fill("POST /api/v1/market/stream/tickets"),
    );
  });

  test("a stream closed while its socket opens closes it after it has opened, so that a browser logs no error", async () => {
    let closedEarly = false;
    class Observed extends WebSocket {
      override close(code?: number): void {
        closedEarly ||= this.readyState === WebSocket.CONNECTING;
        super.close(code);
      }
    }
    const dialer = webSocketDialer(Observed as unknown as typeof globalThis.WebSocket);
    const ended = new Promise((resolve) => {
      const socket = dialer.dial(
        service.url.replace("http", "ws"),
        { protocols: ["market.v1"], headers: {} },
        {
          onText: () => undefined,
          onEnd: resolve,
        },
      );
      socket.close();
    });
    await service.connection();
    expect(await ended).toMatchObject({ code: 1000 });
    expect(closedEarly).toBe(false);
  });

  test("a page with a ticket function needs no key", async () => {
    open({ ...inBrowser, key: undefined, ticket: async () => "own" });
    const peer = await service.welcomed();
    expect(peer.headers["sec-websocket-protocol"]).toBe("market.v1,ticket.own");
    expect(service.requests).toEqual([]);
  });

  test.each(["unauthorized", "insufficient_scope", "origin_not_allowed", "account_suspended"] as const)(
    "a ticket that the service refuses with %s ends the stream",
    async (id) => {
      service.answer(() => fail(id));
      const refused = open(inBrowser);
      await expect(refused.stream.closed).rejects.toMatchObject({ id });
      await clock.advance(600_000);
      expect(service.requests).toHaveLength(1);
    },
  );

  test.each([
    ["internal_error", () => fail("internal_error"), "internal_error", 0],
    ["rate_limited", () => fail("rate_limited", {}, { "retry-after": "7" }), "rate_limited", 7_000],
    ["too_many_connections", () => fail("too_many_connections", {}, { "retry-after": "5" }), "too_many_connections", 5_000],
    ["not_found", () => fail("not_found"), "not_found", 0],
    ["a 404 of a proxy", () => ({ status: 404, body: "<h1>Not found</h1>" }), "bad_answer", 0],
    ["a 403 of a proxy", () => ({ status: 403, body: "<h1>Forbidden</h1>" }), "bad_answer", 0],
  ])("a ticket that is answered with %s is asked for again, and listeners learn why", async (_, answer, id, atLeastMs) => {
    let tries = 0;
    service.answer(() => {
      tries += 1;
      return tries <= 2 ? answer() : succeed({ ticket: "t" });
    });
    const { errors, states } = open(inBrowser);
    expect(await states.next()).toEqual({ state: "connecting", attempt: 1 });
    for (const n of [1, 2]) {
      expect(await errors.next()).toMatchObject({ id });
      const retryInMs = atLeastMs + backoff(n);
      expect(await states.next()).toMatchObject({ state: "waiting", retryInMs, error: { id } });
      await pass(retryInMs);
      expect(await states.next()).toMatchObject({ state: "connecting", attempt: n + 1, error: { id } });
    }
    await service.welcomed();
    expect(await states.next()).toEqual({ state: "open" });
  });

  test("a ticket that is refused because of other streams does not hold the calls of its client", async () => {
    service.answer(({ path }) =>
      path.endsWith("tickets") ? fail("too_many_connections", {}, { "retry-after": "5" }) : succeed({ items: [] }),
    );
    const made = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock });
    await expect(made.createStreamTicket()).rejects.toMatchObject({ id: "too_many_connections", retryAfterS: 5 });
    expect(await made.instruments()).toEqual({ items: [] });
    expect(service.requests).toHaveLength(2);
  });

  test.each([
    ["throws an error", () => new Error("backend away"), "network_error"],
    ["throws a 404 of its backend", () => new SpotwireError("not_found", "Deploying.", { status: 404 }), "not_found"],
    ["throws a 400 of its backend", () => new SpotwireError("bad_answer", "Proxy.", { status: 400 }), "bad_answer"],
    ["has no key yet", () => new SpotwireError("invalid_key", "Loading."), "invalid_key"],
  ])("a ticket function that %s is called again", async (_, error, id) => {
    const answers = [() => Promise.reject(error()), async () => "own"];
    const { errors } = open({ ...inBrowser, ticket: () => (answers.shift() as () => Promise<string>)() });
    expect(await errors.next()).toMatchObject({ id });
    await pass(backoff(1));
    await service.welcomed();
  });

  test("a ticket function that returns what is no ticket is called again", async () => {
    const pages = ["<html>502</html>", "", "own"];
    const { errors } = open({ ...inBrowser, ticket: async () => pages.shift() as string });
    expect((await errors.next()).id).toBe("bad_answer");
    await pass(backoff(1));
    expect((await errors.next()).id).toBe("bad_answer");
    await pass(backoff(2));
    await service.welcomed();
  });

  test("a ticket that the handshake refuses is replaced", async () => {
    // Node's own client of this test says what a browser hides: the ticket was used, or is too old.
    service.refuseHandshakes(fail("unauthorized"));
    const { errors } = open({ key: undefined, ticket: async () => "own" });
    expect(await errors.next()).toMatchObject({ status: 401 });
    await pass(backoff(1));
    await service.welcomed();
  });

  test.each([401, 403])("a ticket function that throws a SpotwireError with status %i ends the stream", async (status) => {
    const signedOut = new SpotwireError("unauthorized", "Signed out.", { status });
    const refused = open({ ...inBrowser, ticket: () => Promise.reject(signedOut) });
    await expect(refused.stream.closed).rejects.toBe(signedOut);
  });

  test("a ticket function that never resolves times out", async () => {
    const { errors } = open({ ...inBrowser, ticket: () => new Promise(() => {}) });
    await pass(30_000);
    expect(await errors.next()).toMatchObject({ id: "timeout" });
  });

  test("a handshake that is rejected without a reason is retried", async () => {
    service.answer(() => succeed({ ticket: "t" }));
    service.refuseHandshakes(fail("service_unavailable"));
    const { errors } = open(inBrowser);
    expect(await errors.next()).toMatchObject({ id: "network_error" });
    await pass(backoff(1));
    await service.welcomed();
  });
});

describe("a rejection without an envelope", () => {
  test.each([
    ["a proxy's page", { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Bad gateway</h1>" }, 502],
    ["an endless body", { status: 503, body: "x".repeat(200_000), endless: true }, 503],
  ])("a rejection without an envelope is reported with its status and retried: %s", async (_, answer, status) => {
    service.refuseHandshakes(answer);
    const { errors } = open();
    expect(await errors.next()).toMatchObject({ id: "bad_answer", status });
    await pass(backoff(1));
    await service.welcomed();
  });
});

describe("klines that closed while the stream was away", () => {
  const MINUTE = 1_767_225_600;
  const row = (n: number, close = 1.1) => ({ ...klineExample, timeframe: "M1" as const, time: MINUTE + n * 60, close });
  const kline = (n: number, seq: number, more: Partial<KlineMessage> = {}): KlineMessage => ({
    type: "kline",
    event: "update",
    ticker: "EURUSD",
    timeframe: "M1",
    epoch: "e1",
    seq,
    closed: false,
    data: row(n),
    ...more,
  });
  const page = (rows: readonly object[], next_from: number | null = null) =>
    succeed({
      ticker: "EURUSD",
      timeframe: "M1",
      from: MINUTE,
      to: MINUTE + 600,
      count: rows.length,
      limit: 5000,
      items: rows,
      next_from,
    });

  /** A stream of klines that has the first minute closed and the second one open, after its connection was cut. */
  async function away(options: StreamOptions = {}) {
    const observed = { records: createInbox<KlineMessage>(), gaps: createInbox<Gap>(), errors: createInbox<SpotwireError>() };
    const made = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock, random: () => 0.5 });
    stream = made.stream({ onGap: observed.gaps.put, onError: observed.errors.put, ...options });
    stream.subscribe({ stream: "kline", tickers: ["EURUSD"], timeframe: "M1" }, observed.records.put);
    const first = await service.welcomed();
    await first.ack();
    first.send(kline(0, 1, { event: "snapshot" }));
    first.send(kline(1, 2));
    first.send(kline(0, 3, { closed: true }));
    for (let n = 0; n < 3; n += 1) await observed.records.next();
    first.cut();
    await pass(backoff(1));
    const second = await service.welcomed();
    await second.ack();
    return { ...observed, second };
  }
  const shown = ({ data, closed, recovered, epoch }: KlineMessage & { recovered?: true }) =>
    `${(data.time - MINUTE) / 60}${closed ? " closed" : ""}${recovered ? " recovered" : ""} ${epoch}`;

  test("are read over REST and delivered once each, in order, before the records that showed it and came meanwhile", async () => {
    const { records, gaps, errors, second } = await away();
    service.answer(({ query }) =>
      query.get("from") === String(row(3).time) ? page([row(3), row(4), row(5)]) : page([row(1), row(2)], row(3).time),
    );
    second.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
    second.send(kline(5, 2, { epoch: "e2", data: row(5, 1.2) }));
    second.send(kline(4, 3, { epoch: "e2", closed: true, data: row(4, 1.3) }));
    await pass(3_000);
    const got = [];
    for (let n = 0; n < 6; n += 1) got.push(shown(await records.next()));
    expect(got).toEqual([
      "1 closed recovered e2",
      "2 closed recovered e2",
      "3 closed recovered e2",
      "5 e2",
      "5 e2",
      "4 closed e2",
    ]);
    expect([gaps.size, errors.size]).toEqual([0, 0]);
    expect(service.requests.map(({ query }) => [query.get("from"), query.get("to")])).toEqual([
      [String(row(0).time + 1), String(row(5).time)],
      [String(row(3).time), String(row(5).time)],
    ]);
    second.send(kline(5, 4, { epoch: "e2", closed: true }));
    expect(shown(await records.next())).toBe("5 closed e2");
  });

  test("are not asked for when none can have closed: the same kline is still open, or the next one began", async () => {
    const { records, gaps, second } = await away();
    second.send(kline(1, 1, { epoch: "e2", event: "snapshot" }));
    expect(shown(await records.next())).toBe("1 e2");
    expect([service.requests.length, gaps.size]).toEqual([0, 0]);
  });

  test("are a gap where they cannot be read, and the stream goes on", async () => {
    const { records, gaps, errors, second } = await away();
    service.answer(() => fail("insufficient_scope"));
    second.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
    await pass(3_000);
    expect(await gaps.next()).toMatchObject({ stream: "kline", ticker: "EURUSD", timeframe: "M1", epoch: "e2", expected: null });
    expect((await errors.next()).id).toBe("insufficient_scope");
    expect(shown(await records.next())).toBe("5 e2");
  });

  test("are a gap when the stream does not recover", async () => {
    const { records, gaps, second } = await away({ recover: false });
    second.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
    expect(await gaps.next()).toMatchObject({ stream: "kline", epoch: "e2", expected: null, received: 1 });
    expect(shown(await records.next())).toBe("5 e2");
    expect(service.requests).toHaveLength(0);
  });

  test("are read although a correction comes first, which does not show them", async () => {
    const { records, gaps, second } = await away();
    service.answer(() => page([row(1), row(2)]));
    second.send(kline(0, 1, { epoch: "e2", event: "correction", closed: true }));
    second.send(kline(3, 2, { epoch: "e2" }));
    await pass(3_000);
    const got = [];
    for (let n = 0; n < 4; n += 1) got.push(shown(await records.next()));
    expect(got).toEqual(["0 closed e2", "1 closed recovered e2", "2 closed recovered e2", "3 e2"]);
    // Other corrections may have come before it.
    expect(gaps.size).toBe(1);
  });

  test("are not delivered once a listener has closed the stream", async () => {
    const seen: string[] = [];
    const { second } = await away({
      onRecord(message) {
        seen.push(shown(message as KlineMessage));
        if ("recovered" in message) stream?.close();
      },
    });
    service.answer(() => page([row(1), row(2)]));
    second.send(kline(3, 1, { epoch: "e2", event: "snapshot" }));
    await pass(3_000);
    await stream?.closed;
    expect(seen.slice(3)).toEqual(["1 closed recovered e2"]);
  });

  test("are read too when a resume of the same epoch came too late", async () => {
    const { records, gaps, second } = await away();
    service.answer(() => page([row(1), row(2)]));
    second.send(kline(3, 900, { event: "snapshot" }));
    await pass(3_000);
    expect([shown(await records.next()), shown(await records.next()), shown(await records.next())]).toEqual([
      "1 closed recovered e1",
      "2 closed recovered e1",
      "3 e1",
    ]);
    expect(gaps.size).toBe(0);
  });
});
