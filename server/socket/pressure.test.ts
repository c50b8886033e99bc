import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_EXCESS_MAX_COUNT,
  STREAM_NO_PROGRESS_TIMEOUT_S,
  STREAM_UNREADABLE_MAX_COUNT,
} from "#lib/contract/limits";
import { TIMEFRAMES } from "#lib/contract/primitives";
import type { PushMessage } from "#lib/contract/stream";
import { type StreamClient, TRANSPORTS } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 20_000 });

let t: StreamService;
let price = 1;

beforeEach(async () => {
  t = await startStreamService();
});
afterEach(async () => {
  expect(t.logged).toEqual([]);
  await t.close();
});

async function ticks(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    price = Number((price + 0.00001).toFixed(5));
    await t.tick("EURUSD", price, price + 0.0001);
  }
}

/** A busy machine may need longer than the second that is usual. */
const PATIENT = { interval: 1 };

const isPush = (message: { type: string }): message is PushMessage => ["quote", "snapshot", "kline"].includes(message.type);
const topicOf = (message: PushMessage) => `${message.type} ${message.ticker} ${"timeframe" in message ? message.timeframe : ""}`;

/** Subscribes to all streams of EURUSD. */
async function followAll(client: StreamClient): Promise<void> {
  for (const stream of ["quote", "snapshot"]) await client.ask("subscribe", { stream, tickers: ["EURUSD"], snapshot: false });
  for (const timeframe of TIMEFRAMES)
    await client.ask("subscribe", { stream: "kline", tickers: ["EURUSD"], timeframe, snapshot: false });
}

/** Ticks until something is merged: the network buffers are full, and so is the first mebibyte of the queue. */
async function fillUp(): Promise<void> {
  const before = await t.counted("merged");
  for (let round = 0; (await t.counted("merged")) === before; round += 1) {
    expect(round).toBeLessThan(1_000);
    await ticks(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Asserts that every record arrived or is counted by the one that replaced it. */
function expectNoGap(messages: readonly PushMessage[]): void {
  const last = new Map<string, number>();
  for (const message of messages) {
    const topic = topicOf(message);
    const before = last.get(topic);
    if (before !== undefined) expect([topic, message.seq]).toEqual([topic, before + 1 + (message.merged ?? 0)]);
    last.set(topic, message.seq);
  }
}

describe.each(TRANSPORTS)("a client over %s", (transport) => {
  const connect = () => t.connect({ transport });
  const refusedIn = (client: StreamClient) =>
    client.received.filter((message) => message.type === "error" && message.message === "rate_limited");

  test("messages above the rate limit are refused unread, and a moment later messages are read again", async () => {
    const client = await connect();
    for (let count = 0; count < STREAM_MESSAGES_BURST_COUNT + STREAM_MESSAGES_EXCESS_MAX_COUNT; count += 1) client.send("ping");
    for (let count = 0; count < STREAM_MESSAGES_BURST_COUNT; count += 1) await client.next("ack");
    for (let count = 0; count < STREAM_MESSAGES_EXCESS_MAX_COUNT; count += 1)
      expect(await client.next("error")).toMatchObject({ id: null, code: 42901, data: { retry_after: expect.any(Number) } });
    await t.advance(refusedIn(client).length * 200 + 200);
    await fence(client);
    await client.close();
  });

  test("a client that keeps sending above the rate limit is closed with a code that allows a reconnect", async () => {
    const client = await connect();
    const count = STREAM_MESSAGES_BURST_COUNT + STREAM_MESSAGES_EXCESS_MAX_COUNT + 1;
    for (let sent = 0; sent < count + 500; sent += 1) client.send("ping");
    const closed = await client.closed;
    expect(closed).toMatchObject({ after: "retry", ...(transport !== "socket.io" && { code: 4029, reason: "flooding" }) });
    expect(client.received.at(-1)).toMatchObject({ type: "error", code: 42901, data: { close_code: 4029 } });
    // Refusals still in the queue may be discarded on close, but there are never more than this.
    expect(refusedIn(client).length).toBeLessThanOrEqual(STREAM_MESSAGES_EXCESS_MAX_COUNT + 1);
  });

  test("a client that sends ten invalid messages in a row is closed for good, and a valid one restarts the count", async () => {
    const client = await connect();
    const unreadable = () => client.send("no such method", {});
    for (let round = 0; round < 2; round += 1) {
      for (let count = 1; count < STREAM_UNREADABLE_MAX_COUNT; count += 1) {
        unreadable();
        expect(await client.next("error")).toMatchObject({ code: 40001 });
      }
      if (round === 0) {
        await fence(client);
        await t.advance(5_000);
      }
    }
    unreadable();
    expect(await client.next("error")).toMatchObject({ code: 40001, data: { close_code: 4400 } });
    expect(await client.closed).toMatchObject({
      after: "terminal",
      ...(transport !== "socket.io" && { code: 4400, reason: "protocol_abuse" }),
    });
  });

  test("a slow reader gets the newest record of each topic, every closed kline and every answer, without a gap", async () => {
    await t.advance(58_000);
    const client = await connect();
    await followAll(client);
    await fence(client);
    client.socket.pause();
    await fillUp();
    client.send("ping");
    // The minute ends while the client reads nothing: its kline closes in the queue.
    const minuteS = Math.floor(t.clock.now() / 60_000) * 60;
    await t.clock.advance(4_100);
    await ticks(2_000);
    client.socket.resume();
    await client.next("ack");
    await fence(client);
    const pushed = client.received.filter(isPush);
    expectNoGap(pushed);
    expect(pushed.some(({ merged = 0 }) => merged > 0)).toBe(true);
    const closed = pushed.filter((message) => message.type === "kline" && message.closed);
    expect(closed.map(({ data }) => data)).toMatchObject([{ timeframe: "M1", time: minuteS }]);
    for (const message of new Map(pushed.map((each) => [topicOf(each), each])).values())
      expect(message.seq).toBe(
        t.markets.live.recent.seq(
          [message.type, message.ticker, ...("timeframe" in message ? [message.timeframe] : [])].join(":"),
        ),
      );
    expect(pushed.filter(({ type }) => type === "quote").at(-1)).toMatchObject({ data: { bid: price } });
    await client.close();
  });

  test("only a client that reads nothing for ten seconds is closed, with a code that allows a reconnect", async () => {
    const client = await connect();
    const neighbour = await connect();
    await followAll(client);
    await neighbour.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], snapshot: false });
    client.socket.pause();
    await fillUp();
    await t.advance(STREAM_NO_PROGRESS_TIMEOUT_S * 1000 - 500, [neighbour]);
    expect(await t.connections()).toBe(2);
    await t.advance(1_000, [neighbour]);
    expect(await t.counted("closes")).toBe(1);
    client.socket.resume();
    const closed = await client.closed;
    expect(closed).toMatchObject({ after: "retry", ...(transport !== "socket.io" && { code: 4008, reason: "slow_consumer" }) });
    if (transport !== "socket.io")
      expect(client.received.at(-1)).toMatchObject({ type: "error", code: 40801, data: { close_code: 4008 } });
    await ticks(1);
    await vi.waitFor(() => expect(neighbour.received.at(-1)).toMatchObject({ type: "quote", data: { bid: price } }));
    await neighbour.close();
  });

  test("a client that reads a little now and then stays connected", async () => {
    const client = await connect();
    await followAll(client);
    client.socket.pause();
    await fillUp();
    for (let round = 0; round < 3; round += 1) {
      await t.advance(9_000);
      const sent = await t.counted("messages");
      client.socket.resume();
      await vi.waitFor(async () => expect(await t.counted("messages")).toBeGreaterThan(sent), PATIENT);
      client.socket.pause();
      await fillUp();
    }
    client.socket.resume();
    await t.advance(5_000, [client]);
    expect(await t.counted("closes")).toBe(0);
    await client.close();
  });
});
