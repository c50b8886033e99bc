import { decode, encode } from "@msgpack/msgpack";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { quoteExample } from "#lib/contract/quote";
import { marketStatusExample } from "#lib/contract/status";
import type { ClientMessage, PushMessage } from "#lib/contract/stream";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { createInbox, fail, type Peer, quote, type ScriptedService, startScriptedService } from "#lib/testing/scripted-service";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { type ClientOptions, createClient } from "./client";
import type { SpotwireError } from "./errors";
import type { Gap } from "./sequence";
import { wsDialer } from "./socket-ws";
import type { StateChange, Stream, StreamClose, StreamOptions } from "./stream";

let service: ScriptedService;
let clock: WatchedClock;
const streams: Stream[] = [];

beforeEach(async () => {
  service = await startScriptedService();
  clock = watchedClock();
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await service.stop();
});

/** A stream, and everything it reports. */
function open(options: StreamOptions = {}, client: Partial<ClientOptions> = {}) {
  const observed = {
    records: createInbox<PushMessage>(),
    gaps: createInbox<Gap>(),
    errors: createInbox<SpotwireError>(),
    closes: createInbox<StreamClose>(),
    states: createInbox<StateChange>(),
  };
  const made = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock, random: () => 0.5, ...client });
  const stream = made.stream({
    onGap: observed.gaps.put,
    onError: observed.errors.put,
    onClose: observed.closes.put,
    onStateChange: observed.states.put,
    ...options,
  });
  streams.push(stream);
  return { stream, ...observed };
}

/** The parameters of a subscribe message. */
function paramsOf(message: ClientMessage) {
  if (message.method !== "subscribe") throw new Error(`expected a subscribe, got ${message.method}`);
  return message.params;
}

const EURUSD = { stream: "quote", tickers: ["EURUSD"] } as const;
/** The wait before attempt number `n`, with the random of these tests. */
const backoff = (n: number) => 0.5 * Math.min(30_000, 500 * 2 ** (n - 1));

/** Waits for a state and skips those before it. */
async function reach(states: { next(): Promise<StateChange> }, state: StateChange["state"]): Promise<StateChange> {
  for (;;) {
    const change = await states.next();
    if (change.state === state) return change;
  }
}

describe("a stream", () => {
  test("a stream connects with the first subscription, with the key in a header", async () => {
    const onOpen = vi.fn();
    const { stream, records } = open({ onOpen });
    expect([stream.state, service.handshakes]).toEqual(["idle", 0]);
    const subscription = stream.subscribe(EURUSD, (record) => records.put(record));
    expect(stream.state).toBe("connecting");
    const peer = await service.welcomed();
    expect(peer.headers).toMatchObject({ authorization: `Bearer ${DEMO_KEY_DEFAULT}`, "sec-websocket-protocol": "market.v1" });
    const message = await peer.ack();
    expect(message).toMatchObject({ method: "subscribe", params: { stream: "quote", tickers: ["EURUSD"], snapshot: true } });
    expect(paramsOf(message).resume).toBeUndefined();
    expect(await subscription.ready).toEqual({ accepted: ["EURUSD"], rejected: [], quiet: [] });
    expect([stream.state, stream.connectionId]).toEqual(["open", "c-1"]);
    expect(onOpen).toHaveBeenCalledOnce();
    peer.send(quote("EURUSD", 8, { event: "snapshot" }));
    expect(await records.next()).toEqual(quote("EURUSD", 8, { event: "snapshot" }));
  });

  test("a stream delivers records in order, first to the subscription's callback, then to its own", async () => {
    const order: string[] = [];
    const done = createInbox<void>();
    const { stream } = open({
      onRecord: ({ ticker, seq }) => {
        order.push(`stream ${ticker} ${seq}`);
        if (seq === 3) done.put();
      },
    });
    stream.subscribe({ stream: "quote", tickers: ["EURUSD"] }, ({ seq }) => order.push(`one ${seq}`));
    stream.subscribe({ stream: "quote", tickers: ["XAUUSD"] });
    const peer = await service.welcomed();
    expect(paramsOf(await peer.ack()).tickers).toEqual(["EURUSD", "XAUUSD"]);
    for (const seq of [1, 2]) peer.send(quote("EURUSD", seq));
    peer.send(quote("XAUUSD", 3));
    await done.next();
    expect(order).toEqual(["one 1", "stream EURUSD 1", "one 2", "stream EURUSD 2", "stream XAUUSD 3"]);
  });

  test("a stream reports status changes and heartbeats, and ignores unknown messages", async () => {
    const statuses = createInbox<unknown>();
    const heartbeats = createInbox<unknown>();
    const { stream, errors } = open({ onStatus: statuses.put, onHeartbeat: heartbeats.put });
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    peer.send({ type: "horoscope", ticker: "EURUSD" });
    peer.send({ type: "market_status", ticker: "EURUSD", data: marketStatusExample });
    peer.send({ type: "heartbeat", time_msc: 1, quiet: [] });
    expect(await statuses.next()).toEqual(marketStatusExample);
    expect(await heartbeats.next()).toEqual({ type: "heartbeat", time_msc: 1, quiet: [] });
    expect(errors.size).toBe(0);
  });

  test("everybody who listens to a stream hears its events until they stop, whatever another callback does", async () => {
    const failing = createInbox<SpotwireError>();
    const mine: string[] = [];
    const { stream, states } = open({
      onError: failing.put,
      onHeartbeat: () => {
        throw new Error("mine");
      },
    });
    const beats = createInbox<unknown>();
    const stopListening = stream.listen({ onStateChange: ({ state }) => mine.push(state), onHeartbeat: beats.put });
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    peer.send({ type: "heartbeat", time_msc: 1, quiet: [] });
    expect(await beats.next()).toMatchObject({ time_msc: 1 });
    expect((await failing.next()).id).toBe("callback_failed");
    expect(mine).toEqual(["connecting", "open"]);
    stopListening();
    stream.close();
    await reach(states, "closed");
    expect(mine).toEqual(["connecting", "open"]);
  });

  test("an error that a listener takes does not reject `closed` unhandled", async () => {
    service.refuseHandshakes(fail("unauthorized"));
    const stream = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock }).stream();
    const errors = createInbox<SpotwireError>();
    stream.listen({ onError: errors.put });
    stream.subscribe(EURUSD).ready.catch(() => undefined);
    expect((await errors.next()).id).toBe("unauthorized");
    expect(stream.state).toBe("closed");
  });

  test.each([
    ["invalid JSON", "{oops"],
    ["no type", { ticker: "EURUSD" }],
    ["a record without a sequence", { ...quote("EURUSD", 1), seq: "1" }],
    ["an ack without data", { type: "ack", id: 1, method: "subscribe" }],
  ])("a stream survives an unreadable message: %s", async (_, broken) => {
    const { stream, errors } = open();
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.messages.next();
    peer.send(broken);
    expect(await errors.next()).toMatchObject({ id: "bad_answer" });
    expect(stream.state).toBe("open");
  });

  test("a stream reports errors of the service", async () => {
    const { stream, errors } = open();
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    const data = { detail: "Slow down.", request_id: "c-1", docs_url: "/docs", retry_after: 2 };
    peer.send({ type: "error", id: null, code: 42901, message: "rate_limited", data });
    expect(await errors.next()).toMatchObject({ id: "rate_limited", code: 42901, status: 429, retryAfterS: 2, requestId: "c-1" });
  });

  test("closing a stream closes the connection with 1000 and ends the subscriptions", async () => {
    const { stream, states } = open();
    const subscription = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    await subscription.ready;
    stream.close();
    expect(await peer.closed).toBe(1000);
    await stream.closed;
    expect((await reach(states, "closed")).error).toBeUndefined();
    const left = [];
    for await (const record of subscription) left.push(record);
    expect(left).toEqual([]);
    expect(() => stream.subscribe(EURUSD)).toThrow(expect.objectContaining({ id: "stream_closed" }));
    await clock.advance(600_000);
    expect(service.handshakes).toBe(1);
  });

  test("a stream that a callback closes before it connects opens no connection", async () => {
    const { stream } = open({ onStateChange: ({ state }) => state === "connecting" && stream.close() });
    stream.subscribe(EURUSD);
    await stream.closed;
    const other = open();
    other.stream.subscribe(EURUSD);
    await service.welcomed();
    expect([stream.state, service.handshakes]).toEqual(["closed", 1]);
  });

  test("a closed stream leaves no timer", async () => {
    const { stream } = open();
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    stream.close();
    await peer.closed;
    await clock.advance(0);
    expect(clock.waits).toEqual([]);
  });
});

describe("a subscription", () => {
  test("a subscription to one stream and timeframe is sent in as few messages as the service allows", async () => {
    const { stream } = open();
    const tickers = Array.from({ length: 250 }, (_, index) => `T${1000 + index}`);
    const subscription = stream.subscribe({ stream: "kline", tickers, timeframe: "M1", snapshot: false });
    const peer = await service.welcomed();
    const messages = [await peer.ack(), await peer.ack(), await peer.ack()].map(paramsOf);
    expect(messages.map((params) => params.tickers.length)).toEqual([100, 100, 50]);
    expect(messages.flatMap((params) => params.tickers)).toEqual(tickers);
    expect(messages.every((params) => params.timeframe === "M1" && params.snapshot === false)).toBe(true);
    expect((await subscription.ready).accepted).toEqual(tickers);
  });

  test("subscriptions are sent at no more than four fifths of the service's rate limit", async () => {
    const { stream } = open();
    const sentAt: number[] = [];
    stream.subscribe({ stream: "kline", tickers: ["EURUSD"], timeframe: "M1" });
    const peer = await service.welcomed({
      limits: {
        connections: 1,
        subscriptions: 1,
        messages_per_second: 5,
        messages_burst: 5,
        message_max_bytes: 1,
        tickers_per_message: 1,
      },
    });
    await peer.ack();
    for (let index = 0; index < 6; index += 1) {
      const subscription = stream.subscribe({ stream: "quote", tickers: [`T${index}A`] });
      if (index >= 3) {
        await clock.waitingFor(250);
        await clock.advance(249);
        expect(peer.messages.size).toBe(0);
        await clock.advance(1);
      }
      await peer.ack();
      await subscription.ready;
      sentAt.push(clock.now());
    }
    expect(sentAt).toEqual([0, 0, 0, 250, 500, 750]);
  });

  test("a subscription reports which tickers were rejected, and why", async () => {
    const { stream, errors } = open();
    const subscription = stream.subscribe({ stream: "quote", tickers: ["EURUSD", "XXXYYY"] });
    const peer = await service.welcomed();
    await peer.ack(["XXXYYY"]);
    expect(await subscription.ready).toMatchObject({
      accepted: ["EURUSD"],
      rejected: [{ ticker: "XXXYYY", message: "unknown_ticker" }],
    });
    expect(await errors.next()).toMatchObject({ id: "unknown_ticker", code: 40401, status: 404, data: { tickers: ["XXXYYY"] } });
    peer.cut();
    await clock.waitingFor(backoff(1));
    await clock.advance(backoff(1));
    expect(paramsOf(await (await service.welcomed()).ack()).tickers).toEqual(["EURUSD"]);
  });

  test("a subscription whose tickers were all rejected fails, as does its loop", async () => {
    const { stream } = open({ onError: undefined });
    const subscription = stream.subscribe({ stream: "quote", tickers: ["XXXYYY"] });
    const loop = subscription[Symbol.asyncIterator]().next();
    await (await service.welcomed()).ack(["XXXYYY"]);
    await expect(loop).rejects.toMatchObject({ id: "unknown_ticker" });
    await expect(subscription.ready).rejects.toMatchObject({ id: "unknown_ticker" });
  });

  test("a subscription that is rejected as a whole is not sent again", async () => {
    const { stream, errors } = open();
    const subscription = stream.subscribe({ stream: "quote", tickers: ["EURUSD", "XAUUSD"] });
    const peer = await service.welcomed();
    const { id } = await peer.messages.next();
    const data = { detail: "The plan allows no more.", request_id: "c-1", docs_url: "/docs" };
    peer.send({ type: "error", id, code: 42903, message: "too_many_subscriptions", data });
    await expect(subscription.ready).rejects.toMatchObject({ id: "too_many_subscriptions" });
    expect([(await errors.next()).detail, (await errors.next()).detail]).toEqual([
      "EURUSD: The plan allows no more.",
      "XAUUSD: The plan allows no more.",
    ]);
    await clock.advance(20_000);
    expect([peer.messages.size, errors.size]).toEqual([0, 0]);
  });

  test("an unacknowledged subscription is sent again", async () => {
    const { stream } = open();
    const subscription = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.messages.next();
    await clock.waitingFor(10_000);
    await clock.advance(10_000);
    await peer.ack();
    expect((await subscription.ready).accepted).toEqual(["EURUSD"]);
  });

  test("a subscription rejected by the rate limit is sent again at the time the service gives", async () => {
    const { stream } = open();
    const subscription = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.messages.next();
    const data = { detail: "Slow down.", request_id: "c-1", docs_url: "/docs", retry_after: 3 };
    peer.send({ type: "error", id: null, code: 42901, message: "rate_limited", data });
    await clock.waitingFor(3_000);
    await clock.advance(2_999);
    expect(peer.messages.size).toBe(0);
    await clock.advance(1);
    await peer.ack();
    expect((await subscription.ready).accepted).toEqual(["EURUSD"]);
  });

  test("a second subscription to a ticker also gets the current record, and each record once", async () => {
    const heartbeats = createInbox<unknown>();
    const { stream } = open({ onHeartbeat: heartbeats.put });
    const first = createInbox<number>();
    const second = createInbox<number>();
    stream.subscribe(EURUSD, ({ seq }) => first.put(seq));
    const peer = await service.welcomed();
    await peer.ack();
    peer.send(quote("EURUSD", 5, { event: "snapshot" }));
    expect(await first.next()).toBe(5);
    const later = stream.subscribe(EURUSD, ({ seq }) => second.put(seq));
    const message = paramsOf(await peer.ack());
    expect([message.tickers, message.snapshot, message.resume]).toEqual([["EURUSD"], true, undefined]);
    peer.send(quote("EURUSD", 5, { event: "snapshot" }));
    peer.send(quote("EURUSD", 6));
    expect([await second.next(), await second.next()]).toEqual([5, 6]);
    expect([await first.next(), await first.next()]).toEqual([5, 6]);
    later.unsubscribe();
    peer.send(quote("EURUSD", 7));
    peer.send({ type: "heartbeat", time_msc: 1, quiet: [] });
    await heartbeats.next();
    expect([first.size, second.size]).toEqual([1, 0]);
  });

  test("the end of the last subscription to a ticker unsubscribes it from the service", async () => {
    const { stream, records } = open();
    const one = stream.subscribe(EURUSD, (record) => records.put(record));
    const other = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    one.unsubscribe();
    await clock.advance(0);
    expect(peer.messages.size).toBe(0);
    other.unsubscribe();
    expect(await peer.ack()).toMatchObject({ method: "unsubscribe", params: { stream: "quote", tickers: ["EURUSD"] } });
    await expect(stream.subscribe(EURUSD).unsubscribe()).toBeUndefined();
  });

  test("a renewed subscription starts fresh and ignores records still in transit", async () => {
    const { stream, records, gaps } = open();
    const one = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    peer.send(quote("EURUSD", 5));
    await one[Symbol.asyncIterator]().next();
    one.unsubscribe();
    const unsubscribe = await peer.messages.next();
    stream.subscribe(EURUSD, (record) => records.put(record));
    peer.send(quote("EURUSD", 6));
    peer.send({
      type: "ack",
      id: unsubscribe.id,
      method: "unsubscribe",
      code: 0,
      message: "success",
      data: { accepted: ["EURUSD"], rejected: [], subscriptions: 0 },
    });
    expect(paramsOf(await peer.ack()).resume).toBeUndefined();
    peer.send(quote("EURUSD", 9, { event: "snapshot" }));
    expect((await records.next()).seq).toBe(9);
    expect(gaps.size).toBe(0);
  });

  test("a renewed subscription ignores late answers to earlier requests", async () => {
    const { stream, records, gaps } = open();
    const one = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    const first = await peer.messages.next();
    one.unsubscribe();
    const second = await peer.messages.next();
    const back = stream.subscribe(EURUSD, (record) => records.put(record));
    const third = await peer.messages.next();
    const data = { accepted: ["EURUSD"], rejected: [], quiet: [], subscriptions: 1 };
    const answer = { type: "ack", code: 0, message: "success", data };
    peer.send({ ...answer, id: first.id, method: "subscribe" });
    peer.send(quote("EURUSD", 5, { event: "snapshot" }));
    peer.send({ ...answer, id: second.id, method: "unsubscribe" });
    peer.send({ ...answer, id: third.id, method: "subscribe" });
    peer.send(quote("EURUSD", 9, { event: "snapshot" }));
    expect((await records.next()).seq).toBe(9);
    expect(gaps.size).toBe(0);
    expect((await back.ready).accepted).toEqual(["EURUSD"]);
  });

  test.each([
    ["an unknown stream", { stream: "trade", tickers: ["EURUSD"] }],
    ["klines without a timeframe", { stream: "kline", tickers: ["EURUSD"] }],
    ["quotes with a timeframe", { stream: "quote", tickers: ["EURUSD"], timeframe: "M1" }],
    ["no tickers", { stream: "quote", tickers: [] }],
    ["more than a stream follows", { stream: "quote", tickers: Array.from({ length: 10_001 }, (_, index) => `T${index}AA`) }],
  ])("an invalid subscription is rejected before anything is sent: %s", (_, selection) => {
    const { stream } = open();
    expect(() => stream.subscribe(selection as never)).toThrow(expect.objectContaining({ id: "invalid_argument" }));
    expect(stream.state).toBe("idle");
  });
});

describe("a loop over a subscription", () => {
  test("a loop delivers earlier records in order, and unsubscribes when it is left", async () => {
    const { stream } = open();
    const subscription = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    for (const seq of [1, 2, 3]) peer.send(quote("EURUSD", seq));
    await subscription.ready;
    const seen: number[] = [];
    for await (const { seq, data } of subscription) {
      seen.push(seq);
      expect(data.bid).toBe(quoteExample.bid);
      if (seq === 3) break;
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(await peer.ack()).toMatchObject({ method: "unsubscribe" });
    expect(() => subscription[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ id: "invalid_argument" }));
  });

  test("a slow loop loses the oldest records, counts them and reports it once", async () => {
    const { stream, errors } = open({ bufferMaxRecords: 3 });
    const subscription = stream.subscribe(EURUSD);
    const marker = stream.subscribe({ stream: "quote", tickers: ["XAUUSD"] });
    const peer = await service.welcomed();
    await peer.ack();
    for (const seq of [1, 2, 3, 4, 5]) peer.send(quote("EURUSD", seq));
    peer.send(quote("XAUUSD", 1));
    await marker[Symbol.asyncIterator]().next();
    expect(subscription.dropped).toBe(2);
    const loop = subscription[Symbol.asyncIterator]();
    expect((await loop.next()).value?.seq).toBe(3);
    expect(await errors.next()).toMatchObject({ id: "buffer_overflow" });
    expect(errors.size).toBe(0);
  });

  test("a subscription with a callback buffers nothing", async () => {
    const { stream, records, errors } = open({ bufferMaxRecords: 1 });
    const subscription = stream.subscribe(EURUSD, (record) => records.put(record));
    const peer = await service.welcomed();
    await peer.ack();
    for (const seq of [1, 2, 3]) peer.send(quote("EURUSD", seq));
    for (const seq of [1, 2, 3]) expect((await records.next()).seq).toBe(seq);
    expect([subscription.dropped, errors.size]).toEqual([0, 0]);
  });

  test("a subscription of a stream with a callback buffers nothing", async () => {
    const taken = createInbox<PushMessage>();
    const { stream, errors } = open({ bufferMaxRecords: 1, onRecord: taken.put });
    const subscription = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    for (const seq of [1, 2, 3]) peer.send(quote("EURUSD", seq));
    for (const seq of [1, 2, 3]) expect((await taken.next()).seq).toBe(seq);
    expect([subscription.dropped, errors.size]).toEqual([0, 0]);
  });

  test("a loop delivers the remaining records and then throws when the stream fails", async () => {
    const { stream } = open({ onError: undefined });
    const subscription = stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    const loop = subscription[Symbol.asyncIterator]();
    peer.send(quote("EURUSD", 1));
    peer.close(4401, "unauthorized");
    expect((await loop.next()).value?.seq).toBe(1);
    await expect(loop.next()).rejects.toMatchObject({ id: "connection_lost", detail: expect.stringContaining("revoked") });
    await expect(stream.closed).rejects.toMatchObject({ id: "connection_lost" });
  });

  test("a loop requires each next() to be awaited", async () => {
    const { stream } = open();
    const loop = stream.subscribe(EURUSD)[Symbol.asyncIterator]();
    const first = loop.next();
    await expect(loop.next()).rejects.toMatchObject({ id: "invalid_argument" });
    stream.close();
    expect(await first).toEqual({ value: undefined, done: true });
  });
});

describe("an exception of a callback", () => {
  test("an exception of a callback goes to onError and does not break the stream", async () => {
    const { stream, errors } = open();
    const mistake = new Error("mine");
    stream.subscribe(EURUSD, () => {
      throw mistake;
    });
    const peer = await service.welcomed();
    await peer.ack();
    peer.send(quote("EURUSD", 1));
    expect(await errors.next()).toMatchObject({ id: "callback_failed", cause: mistake });
    expect(stream.state).toBe("open");
  });
});

describe("a jump of the sequence", () => {
  async function follow() {
    const opened = open();
    opened.stream.subscribe(EURUSD, (record) => opened.records.put(record));
    const peer: Peer = await service.welcomed();
    await peer.ack();
    peer.send(quote("EURUSD", 10, { event: "snapshot" }));
    await opened.records.next();
    return { ...opened, peer };
  }

  test("a jump of the sequence without merged is a gap", async () => {
    const { peer, gaps, records } = await follow();
    peer.send(quote("EURUSD", 13));
    expect(await gaps.next()).toEqual({
      stream: "quote",
      ticker: "EURUSD",
      timeframe: undefined,
      epoch: "e1",
      expected: 11,
      received: 13,
    });
    expect((await records.next()).seq).toBe(13);
  });

  test("a jump of the sequence is a gap only if it exceeds merged", async () => {
    const { peer, gaps, records } = await follow();
    peer.send(quote("EURUSD", 13, { merged: 2 }));
    peer.send(quote("EURUSD", 14));
    expect([(await records.next()).seq, (await records.next()).seq]).toEqual([13, 14]);
    expect(gaps.size).toBe(0);
    peer.send(quote("EURUSD", 18, { merged: 2 }));
    expect(await gaps.next()).toMatchObject({ expected: 15, received: 18 });
  });

  test("a new epoch is a gap unless it starts with a snapshot", async () => {
    const { peer, gaps, records } = await follow();
    peer.send(quote("EURUSD", 3, { epoch: "e2", event: "snapshot" }));
    peer.send(quote("EURUSD", 4, { epoch: "e2" }));
    expect([(await records.next()).seq, (await records.next()).seq]).toEqual([3, 4]);
    expect(gaps.size).toBe(0);
    peer.send(quote("EURUSD", 1, { epoch: "e3" }));
    expect(await gaps.next()).toMatchObject({ epoch: "e3", expected: null, received: 1 });
    expect((await records.next()).epoch).toBe("e3");
  });

  test("a record with an earlier sequence is a duplicate and is dropped", async () => {
    const { peer, gaps, records } = await follow();
    for (const seq of [9, 10, 11]) peer.send(quote("EURUSD", seq));
    expect((await records.next()).seq).toBe(11);
    expect([records.size, gaps.size]).toEqual([0, 0]);
  });
});

describe("a client with MessagePack", () => {
  const messagePack = { encode, decode };

  test("a client with MessagePack offers JSON as well, and speaks it with a service that has nothing else", async () => {
    const { stream, records } = open({ onRecord: (record) => records.put(record) }, { messagePack });
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    expect(peer.headers["sec-websocket-protocol"]).toBe("market.v1.msgpack,market.v1");
    expect(paramsOf(await peer.ack())).toEqual({ stream: "quote", tickers: ["EURUSD"], snapshot: true });
    peer.send(quote("EURUSD", 1));
    expect(await records.next()).toMatchObject({ seq: 1 });
  });

  test("a client with MessagePack does not offer it over a dialer that has no binary messages", async () => {
    const { binary: _, ...dialer } = wsDialer(WebSocket);
    const { stream } = open({}, { messagePack, dialer });
    stream.subscribe(EURUSD);
    expect((await service.welcomed()).headers["sec-websocket-protocol"]).toBe("market.v1");
  });

  test("bytes that are no message are reported, and the stream continues", async () => {
    const { stream, records, errors } = open({ onRecord: (record) => records.put(record) }, { messagePack });
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    for (const bytes of [Buffer.from([0xc1]), Buffer.from([0x93, 1]), Buffer.from(encode(7))]) {
      peer.send(bytes);
      expect(await errors.next()).toMatchObject({ id: "bad_answer", message: expect.stringContaining("bytes") });
    }
    peer.send(encode(quote("EURUSD", 1)));
    expect(await records.next()).toMatchObject({ seq: 1, data: quoteExample });
  });

  test("bytes that nobody asked for are ignored", async () => {
    const { stream, records } = open({ onRecord: (record) => records.put(record) });
    stream.subscribe(EURUSD);
    const peer = await service.welcomed();
    await peer.ack();
    peer.send(encode(quote("EURUSD", 1)));
    peer.send(quote("EURUSD", 1));
    expect(await records.next()).toMatchObject({ seq: 1 });
    expect(records.size).toBe(0);
  });
});
