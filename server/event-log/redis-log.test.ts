import { expect, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { createLog } from "#lib/log";
import type { MarketEvent } from "#server/events/event";
import { openRedis, type Redis } from "#server/store/database/redis";
import { eventOf } from "#server/testing/events";
import {
  appendTo,
  caughtUp,
  followVenue,
  listening,
  logKeys,
  losingWay,
  SOON,
  sendWhole,
  unexplained,
} from "#server/testing/log-scene";
import { describeRedis, ready } from "#server/testing/redis-nodes";
import { WAITING_MAX_EVENTS } from "./backlog";
import { createEventReader } from "./redis-reader";
import { raiseFence } from "./redis-writer";

/** Maximum number of events the publisher puts into one batch. */
const BATCH_MAX_EVENTS = 2_000;
const TICKERS = ["EURUSD", "GBPUSD", "USDJPY"];
const PREFIX = /^(.*):\{live\}/;

const quote = (seq: number, ticker = "EURUSD") =>
  eventOf({ ...quoteExample, ticker, bid: Number((1 + seq / 1e6).toFixed(6)) }, { seq });
const quotes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => quote(from + index));

/** The events of an engine for `count` ticks of each ticker: quotes and open klines; every hundredth tick closes a kline. */
function trading(count: number, from = 0): MarketEvent[] {
  return Array.from({ length: count }, (_, index) => from + index).flatMap((tick) =>
    TICKERS.flatMap((ticker): MarketEvent[] => {
      const time = 60 * Math.floor(tick / 100);
      const kline = { ...klineExample, ticker, timeframe: "M1" as const, time };
      const closes = tick % 100 === 99;
      const seq = tick + 1 + Math.floor(tick / 100);
      const open = eventOf({ ...kline, tick_volume: tick + 1 }, { seq });
      return [quote(tick + 1, ticker), open, ...(closes ? [eventOf(kline, { seq: seq + 1, closed: true })] : [])];
    }),
  );
}

const closedOf = (events: readonly MarketEvent[]) =>
  events.flatMap((event) => (event.type === "kline" && event.closed ? [`${event.topic} ${event.record.time}`] : []));
const newestOf = (events: readonly MarketEvent[]) => new Map(events.map((event) => [event.topic, event.seq]));

describeRedis("events through Redis", (nodes) => {
  async function batchesOf(prefix: string) {
    const redis = await nodes.open(prefix);
    const reader = createEventReader();
    const found = await redis.client.xRange(logKeys(redis).events, "-", "+");
    return (found ?? []).flatMap((message) => reader.batch(message) ?? []);
  }

  /** Number of attempts to publish. */
  async function tries({ client }: Redis): Promise<number> {
    const stats = await client.info("commandstats");
    const counts = [...stats.matchAll(/cmdstat_evalsha:calls=(\d+).*rejected_calls=(\d+)/g)];
    expect(counts.length).toBeGreaterThan(0);
    return counts.reduce((sum, [, calls, rejected]) => sum + Number(calls) + Number(rejected), 0);
  }

  test("more events than fit in a batch are sent in several, complete and in order", async () => {
    const redis = await nodes.open("several");
    const node = await listening(followVenue(redis));
    const publisher = appendTo(redis);
    await sendWhole(publisher, [quote(1)]);
    publisher.append(quotes(2, 2 * BATCH_MAX_EVENTS + 2), 0);
    publisher.append(quotes(2 * BATCH_MAX_EVENTS + 3, 2 * BATCH_MAX_EVENTS + 10), 0);
    await vi.waitUntil(() => publisher.appended(), SOON);
    await caughtUp(node);
    expect(node.events).toEqual(quotes(1, 2 * BATCH_MAX_EVENTS + 10));
    const sizes = (await batchesOf("several")).map(({ events }) => events.length).filter((size) => size > 0);
    expect(sizes).toEqual([1, BATCH_MAX_EVENTS, BATCH_MAX_EVENTS, 9]);
  });

  test("while Redis is unreachable the backlog stays bounded, every closed kline arrives, and each jump carries the number it replaces", async () => {
    const redis = await nodes.open("away");
    const node = await listening(followVenue(redis));
    const publisher = appendTo(redis);
    const before = trading(50);
    await sendWhole(publisher, before);
    await caughtUp(node);
    await nodes.server.kill();
    await vi.waitUntil(() => !redis.connected(), SOON);
    expect(await publisher.appended()).toBe(false);
    const after = trading(36_000, 50);
    expect(after.length).toBeGreaterThan(2 * WAITING_MAX_EVENTS);
    for (let from = 0; from < after.length; from += 1_000) publisher.append(after.slice(from, from + 1_000), 0);

    await nodes.server.start();
    await vi.waitUntil(() => publisher.appended(), SOON);
    await vi.waitUntil(() => node.events.at(-1)?.seq === after.at(-1)?.seq, SOON);
    const sent = (await batchesOf("away")).flatMap(({ events }) => events);
    expect(sent.length).toBeLessThan(WAITING_MAX_EVENTS + BATCH_MAX_EVENTS);
    expect(closedOf(node.events)).toEqual(closedOf([...before, ...after]));
    expect(unexplained(node.events)).toEqual([]);
    expect(newestOf(node.events)).toEqual(newestOf(after));
    expect(node.events.some(({ merged = 0 }) => merged > 1_000)).toBe(true);
  });

  test("of more closed klines than the backlog holds, the newest are kept, a gap shows, and nothing else is lost", async () => {
    const redis = await nodes.open("bound");
    const node = await listening(followVenue(redis));
    const publisher = appendTo(redis);
    // Of many tickers, as after the end of trading.
    const tickers = Array.from({ length: 100 }, (_, index) => `FX${index}`);
    const closed = (seq: number) =>
      tickers.map((ticker) => eventOf({ ...klineExample, ticker, timeframe: "M1", time: seq * 60 }, { seq, closed: true }));
    await sendWhole(publisher, closed(1));
    await caughtUp(node);
    await nodes.server.kill();
    await vi.waitUntil(() => !redis.connected(), SOON);
    const quiet = quote(1, "XAUUSD");
    publisher.append([quiet], 0);
    const last = WAITING_MAX_EVENTS / tickers.length + 100;
    for (let seq = 2; seq <= last; seq += 1) publisher.append(closed(seq), 0);
    await nodes.server.start();
    await vi.waitUntil(() => node.events.at(-1)?.seq === last, SOON);
    const sent = (await batchesOf("bound")).flatMap(({ events }) => events);
    expect(sent.length).toBeLessThanOrEqual(WAITING_MAX_EVENTS);
    const klines = node.events.filter(({ type }) => type === "kline");
    const gaps = unexplained(klines);
    expect(gaps.map(({ topic }) => topic).sort()).toEqual(tickers.map((ticker) => `kline:${ticker}:M1`).sort());
    expect(gaps.some(({ merged }) => merged !== undefined)).toBe(false);
    expect(node.projection.view.quote("XAUUSD")).toEqual(quiet.record);
  });

  test("a batch whose answer was lost is sent again and applied once, although Redis holds it twice", async () => {
    const way = await losingWay(nodes.server.port);
    const direct = await nodes.open("twice");
    const through = openRedis({ url: way.url, prefix: "twice", log: createLog("silent") });
    await ready(through);
    const node = await listening(followVenue(direct));
    const publisher = appendTo(through);
    await sendWhole(publisher, [quote(1)]);
    await caughtUp(node);

    const lost = way.loseAnswer();
    const merged: MarketEvent = { ...quote(9), merged: 7 };
    publisher.append([merged], 0);
    await lost;
    await vi.waitUntil(() => publisher.appended(), SOON);
    await sendWhole(publisher, [quote(10)]);
    const numbers = (await batchesOf("twice")).filter(({ events }) => events.length > 0).map(({ header }) => header.n);
    expect(numbers.filter((n) => numbers.indexOf(n) !== numbers.lastIndexOf(n))).toHaveLength(2);
    await caughtUp(node);
    const all = [quote(1), merged, quote(10)];
    expect(node.events).toEqual(all);
    expect(node.projection.recent.since("quote:EURUSD", node.projection.recent.epoch(), 1)).toEqual(all.slice(1));

    // A node that starts now restores its state from the same batches.
    const late = followVenue(direct);
    await late.follower.begun;
    expect(late.projection.recent.since("quote:EURUSD", late.projection.recent.epoch(), 1)).toEqual(all.slice(1));
    await publisher.stop();
    through.close();
  });

  test("Redis is filled again even after an outage too short to be noticed", async () => {
    const clock = manualClock(1_000_000);
    const redis = await nodes.open("short");
    const publisher = appendTo(redis, { clock });
    await sendWhole(publisher, [quote(1), quote(1, "GBPUSD")]);
    // Nothing is sent in the meantime: the publisher's clock does not advance.
    await nodes.server.kill();
    await nodes.server.start();
    await vi.waitUntil(() => redis.connected(), SOON);
    await clock.advance(500);
    await sendWhole(publisher, [quote(2)]);
    const late = followVenue(redis);
    await late.follower.begun;
    expect(late.projection.view.quote("EURUSD")).toEqual(quote(2).record);
    expect(late.projection.view.quote("GBPUSD")).toEqual(quote(1, "GBPUSD").record);
  });

  test("a publisher fenced off by a newer one is notified once, and publishes nothing more", async () => {
    const redis = await nodes.open("fenced");
    const node = await listening(followVenue(redis));
    let fencedCount = 0;
    const former = appendTo(redis, { token: 4, epoch: "former", onFenced: () => (fencedCount += 1) });
    await sendWhole(former, [{ ...quote(1), epoch: "former" }]);
    expect(await raiseFence(redis, "live", 5)).toBe(4);
    former.append([{ ...quote(2), epoch: "former" }], 0);
    await vi.waitUntil(() => fencedCount === 1, SOON);
    expect(await former.appended()).toBe(false);
    const next = appendTo(redis, { token: 5, epoch: "next" });
    await sendWhole(next, [{ ...quote(1), epoch: "next" }]);
    former.append([{ ...quote(3), epoch: "former" }], 0);
    await sendWhole(next, [{ ...quote(2), epoch: "next" }]);
    await caughtUp(node);
    expect(node.events.map(({ epoch, seq }) => `${epoch} ${seq}`)).toEqual(["former 1", "next 1", "next 2"]);
    expect(fencedCount).toBe(1);
    expect(await raiseFence(redis, "live", 3)).toBe(5);
  });

  test("a stopped publisher leaves Redis alone, even when Redis accepts nothing", async () => {
    const redis = await nodes.open("refusing");
    const { client } = redis;
    const publisher = appendTo(redis);
    await sendWhole(publisher, [quote(1)]);
    await client.configSet("maxmemory", "1");
    try {
      const before = await tries(redis);
      publisher.append([quote(2)], 0);
      expect(await publisher.appended()).toBe(false);
      expect(await tries(redis)).toBeGreaterThan(before);
      await publisher.stop();
      // One may have been in flight then.
      await client.ping();
      const stopped = await tries(redis);
      for (let turn = 0; turn < 200; turn += 1) await client.ping();
      expect(await tries(redis)).toBe(stopped);
    } finally {
      await client.configSet("maxmemory", "0");
    }
  });

  test("nodes of one prefix receive no events of another", async () => {
    const [one, other] = [await nodes.open("one"), await nodes.open("other")];
    expect(PREFIX.exec(one.key("live", ""))?.[1]).toBe("one");
    const [near, far] = [await listening(followVenue(one)), await listening(followVenue(other))];
    await sendWhole(appendTo(one), [quote(1)]);
    await sendWhole(appendTo(other), [quote(1, "GBPUSD")]);
    await caughtUp(near);
    await caughtUp(far);
    expect([near.events, far.events]).toEqual([[quote(1)], [quote(1, "GBPUSD")]]);
  });
});
