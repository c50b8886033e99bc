import { afterEach, describe, expect, test, vi } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import type { StreamEncoding } from "#lib/contract/stream";
import { KlineMessage } from "#lib/contract/stream-push";
import type { MarketEvent } from "#server/events/event";
import { frameOf } from "#server/socket/frames";
import { eventOf } from "#server/testing/events";
import { createStreamReader, messageIn } from "#server/testing/stream-reader";
import { WRITERS } from "./encodings";
import { createHub, topicOf } from "./hub";
import { createFlusher, FLUSH_INTERVAL_MS, Outbox } from "./outbox";
import { controlOf, type Outgoing, sharedOf, updateOf } from "./outgoing";

const EURUSD = topicOf("quote", "EURUSD");
const KLINE = topicOf("kline", "EURUSD", "M1");
const GBPUSD = topicOf("quote", "GBPUSD");
const quote = (ticker: string, seq = 1) => eventOf({ ...quoteExample, ticker }, { seq });
const kline = () => eventOf({ ...klineExample, ticker: "EURUSD", timeframe: "M1" });
const topicsOf = (taken: readonly Outgoing[]) => taken.map(({ event }) => event?.topic);

afterEach(() => vi.restoreAllMocks());

/** A reader whose connection takes every message at once. */
function createOpenReader(encoding: StreamEncoding = "json") {
  const reader = createStreamReader(Number.POSITIVE_INFINITY, encoding);
  const read = () => {
    reader.flush();
    return reader.taken.splice(0);
  };
  return { ...reader, read };
}

describe("the hub", () => {
  test("subscribers of a kline hear of corrections and removals as such, with the next sequences", () => {
    const hub = createHub();
    const reader = createOpenReader();
    hub.subscribe(KLINE, reader.outbox);
    const record = { ...klineExample, timeframe: "M1" as const };
    const changes = [{ corrected: true }, { corrected: true, removed: true }];
    hub.apply(changes.map((flags, index) => ({ ...eventOf(record, { seq: 8 + index, closed: true }), ...flags }) as MarketEvent));
    const messages = reader.read().map(messageIn);
    expect(messages).toMatchObject([
      { type: "kline", event: "correction", seq: 8, closed: true, data: record },
      { type: "kline", event: "removal", seq: 9, closed: true, data: record },
    ]);
    expect(messages.map((message) => KlineMessage.safeParse(message).success)).toEqual([true, true]);
  });

  test("each event reaches the subscribers of its topic in order, and nobody else", () => {
    const hub = createHub();
    const [a, b, c] = [createOpenReader(), createOpenReader(), createOpenReader()];
    hub.subscribe(EURUSD, a.outbox);
    hub.subscribe(KLINE, a.outbox);
    hub.subscribe(EURUSD, b.outbox);
    hub.subscribe(GBPUSD, c.outbox);
    hub.apply([quote("EURUSD"), kline(), quote("GBPUSD"), quote("AUDUSD"), quote("EURUSD", 2)]);
    expect(topicsOf(a.read())).toEqual(["quote:EURUSD", "kline:EURUSD:M1", "quote:EURUSD"]);
    expect(topicsOf(b.read())).toEqual(["quote:EURUSD", "quote:EURUSD"]);
    expect(topicsOf(c.read())).toEqual(["quote:GBPUSD"]);
  });

  test("a kline whose spread is unknown is sent with spread 0, and is measured as it is sent", () => {
    for (const encoding of ["json", "msgpack"] as const) {
      const message = updateOf(eventOf({ ...klineExample, spread: null }), encoding);
      expect(messageIn(message).data).toEqual({ ...klineExample, spread: 0 });
      expect(message.bytes).toBe(message.payload.length);
    }
  });

  test("an event reaches a subscriber once although it subscribed twice, and never after it unsubscribes", () => {
    const hub = createHub();
    const reader = createOpenReader();
    hub.subscribe(EURUSD, reader.outbox);
    hub.subscribe(topicOf("quote", "EURUSD"), reader.outbox);
    hub.apply([quote("EURUSD")]);
    expect(reader.read()).toHaveLength(1);
    for (const encoding of ["json", "msgpack"] as const) hub.unsubscribe(EURUSD, createOpenReader(encoding).outbox);
    hub.apply([quote("EURUSD")]);
    expect(reader.read()).toHaveLength(1);
    hub.unsubscribe(EURUSD, reader.outbox);
    hub.apply([quote("EURUSD", 2)]);
    expect(reader.read()).toEqual([]);
  });

  test("a message about a ticker reaches each of its subscribers once, however many topics they subscribe to", () => {
    const hub = createHub();
    const readers = [createOpenReader(), createOpenReader(), createOpenReader(), createOpenReader()] as const;
    const [both, first, second, other] = readers;
    for (const { outbox } of [both, first]) hub.subscribe(EURUSD, outbox);
    for (const { outbox } of [both, second]) hub.subscribe(KLINE, outbox);
    hub.subscribe(GBPUSD, other.outbox);
    const shared = sharedOf({ type: "heartbeat", time_msc: 1, quiet: [] });
    hub.notify("EURUSD", shared);
    hub.notify("AUDUSD", shared);
    const once = [shared("json")];
    expect(readers.map(({ read }) => read())).toEqual([once, once, once, []]);
  });

  test("a topic is found by its name while it has subscribers, which all share it", () => {
    const hub = createHub();
    const [a, b] = [createOpenReader(), createOpenReader()];
    const topic = topicOf("kline", "EURUSD", "M1");
    expect(topic).toEqual({ name: "kline:EURUSD:M1", stream: "kline", ticker: "EURUSD", timeframe: "M1" });
    expect(hub.find(topic.name)).toBeUndefined();
    expect(hub.subscribe(topic, a.outbox)).toBe(topic);
    expect(hub.subscribe(topicOf("kline", "EURUSD", "M1"), b.outbox)).toBe(topic);
    hub.unsubscribe(topic, a.outbox);
    expect(hub.find(topic.name)).toBe(topic);
    hub.unsubscribe(topic, b.outbox);
    expect(hub.find(topic.name)).toBeUndefined();
  });

  test("the hub forgets a ticker once nobody subscribes to it", () => {
    const hub = createHub();
    const [a, b] = [createOpenReader(), createOpenReader()];
    for (const { outbox } of [a, b]) for (const topic of [EURUSD, KLINE, GBPUSD]) hub.subscribe(topic, outbox);
    expect([...hub.tickers()].sort()).toEqual(["EURUSD", "GBPUSD"]);
    for (const topic of [EURUSD, KLINE, GBPUSD]) hub.unsubscribe(topic, a.outbox);
    expect([...hub.tickers()]).toHaveLength(2);
    hub.unsubscribe(GBPUSD, b.outbox);
    hub.unsubscribe(EURUSD, b.outbox);
    expect([...hub.tickers()]).toEqual(["EURUSD"]);
    hub.unsubscribe(KLINE, b.outbox);
    hub.unsubscribe(KLINE, b.outbox);
    expect([...hub.tickers()]).toEqual([]);
  });

  test("a record is written once in each encoding, however many subscribers take it, and in none that nobody takes", () => {
    const hub = createHub();
    const readersOf = (encoding: StreamEncoding) => Array.from({ length: 100 }, () => createOpenReader(encoding));
    const [texts, packed] = [readersOf("json"), readersOf("msgpack")];
    for (const { outbox } of [...texts, ...packed]) hub.subscribe(EURUSD, outbox);
    for (const { outbox } of packed) hub.subscribe(GBPUSD, outbox);
    for (const { outbox } of texts) hub.subscribe(KLINE, outbox);
    const written = { json: vi.spyOn(WRITERS.json, "write"), msgpack: vi.spyOn(WRITERS.msgpack, "write") };
    const events = [quote("EURUSD"), quote("AUDUSD"), quote("GBPUSD"), kline()];
    const writes = () => {
      const before = [written.json.mock.calls.length, written.msgpack.mock.calls.length];
      hub.apply(events);
      return [written.json.mock.calls.length - (before[0] ?? 0), written.msgpack.mock.calls.length - (before[1] ?? 0)];
    };
    expect(writes()).toEqual([2, 2]);
    for (const readers of [texts, packed]) {
      const messages = readers.flatMap(({ read }) => read());
      expect(messages).toHaveLength(200);
      expect(new Set(messages).size).toBe(2);
      expect(new Set(messages.map(frameOf)).size).toBe(2);
    }
    for (const { outbox } of packed) for (const topic of [EURUSD, GBPUSD]) hub.unsubscribe(topic, outbox);
    expect(writes()).toEqual([2, 0]);
    for (const { outbox } of texts) for (const topic of [EURUSD, KLINE]) hub.unsubscribe(topic, outbox);
    expect(writes()).toEqual([0, 0]);
    expect([...hub.tickers()]).toEqual([]);
  });

  test("a message about a ticker is written once in each encoding that its subscribers take", () => {
    const hub = createHub();
    const readers = [createOpenReader("json"), createOpenReader("msgpack"), createOpenReader("msgpack")] as const;
    for (const { outbox } of readers) hub.subscribe(EURUSD, outbox);
    const message = { type: "heartbeat" as const, time_msc: 1, quiet: [] };
    hub.notify("EURUSD", sharedOf(message));
    const [[text], [packed], [same]] = readers.map(({ read }) => read()) as [Outgoing[], Outgoing[], Outgoing[]];
    expect([text, packed].map((each) => each && messageIn(each))).toEqual([message, message]);
    expect([text?.encoding, packed?.encoding]).toEqual(["json", "msgpack"]);
    expect(same).toBe(packed);
  });
});

describe("the flusher", () => {
  /** An outbox with the real flusher, and the size of each of its writes. */
  function createFlushed(flusher: ReturnType<typeof createFlusher>) {
    const writes: number[] = [];
    const wire = { ready: () => true, write: (messages: readonly Outgoing[]) => void writes.push(messages.length) };
    const tally = { sent: () => undefined, merged: () => undefined, closed: () => undefined };
    const outbox = new Outbox({ ...wire, encoding: "json", progress: () => 0, pending: () => false }, flusher, tally);
    return { outbox, writes };
  }
  const message = () => controlOf({ type: "heartbeat", time_msc: 1, quiet: [] }, "json");

  test("a message is written at once when the connection is quiet, and under load messages are collected into one write per interval", async () => {
    const flusher = createFlusher();
    const [a, b] = [createFlushed(flusher), createFlushed(flusher)];
    a.outbox.push(message());
    await new Promise((resolve) => setImmediate(resolve));
    expect(a.writes).toEqual([1]);
    const startedMs = performance.now();
    let pushed = 0;
    while (performance.now() - startedMs < 20 * FLUSH_INTERVAL_MS) {
      a.outbox.push(message());
      b.outbox.push(message());
      pushed += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(b.writes.reduce((sum, count) => sum + count, 0)).toBe(pushed));
    expect(a.writes.slice(1)).toEqual(b.writes);
    // Timers count whole milliseconds from the last turn of the event loop, so an interval may be slightly shorter.
    const writesMax = ((performance.now() - startedMs) / FLUSH_INTERVAL_MS) * 2 + 2;
    expect(b.writes.length).toBeLessThanOrEqual(writesMax);
    expect(b.writes.length).toBeLessThan(pushed / 2);
  });
});
