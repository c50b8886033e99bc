import { expect, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { HOUR_MS } from "#lib/units";
import type { MarketEvent } from "#server/events/event";
import type { Redis } from "#server/store/database/redis";
import { eventOf } from "#server/testing/events";
import {
  appendTo,
  batchFields,
  caughtUp,
  followVenue,
  listening,
  logKeys,
  SOON,
  sendWhole,
  unexplained,
} from "#server/testing/log-scene";
import { describeRedis } from "#server/testing/redis-nodes";
import { CLOSED_KEPT_COUNT } from "./wire";

/** Interval between two writes of the newest records. */
const STATE_INTERVAL_MS = 500;

const bidOf = (seq: number) => 1 + seq / 1e4;
const quote = (seq: number, ticker = "EURUSD") => eventOf({ ...quoteExample, ticker, bid: bidOf(seq) }, { seq });
const kline = (seq: number, minute: number, closed = false) =>
  eventOf({ ...klineExample, timeframe: "M1", time: minute * 60, tick_volume: seq }, { seq, closed });
const seqs = (events: readonly MarketEvent[], type: MarketEvent["type"]) =>
  events.filter((event) => event.type === type).map(({ seq, merged = 0 }) => [seq, merged]);

describeRedis("a node that follows through Redis", (nodes) => {
  /** A publisher that writes its newest records on demand, and a node that has received its first events. */
  async function begun(prefix: string) {
    const clock = manualClock(Date.now());
    const redis = await nodes.open(prefix);
    const node = await listening(followVenue(redis));
    const publisher = appendTo(redis, { clock });
    await sendWhole(publisher, [quote(1), kline(1, 0)]);
    await caughtUp(node);
    return {
      clock,
      redis,
      node,
      publisher,
      /** Sends events until the stream has dropped all but the last batch; the newest records contain all of them. */
      async sendUnkept(events: readonly MarketEvent[]) {
        await sendWhole(publisher, events.slice(0, -1));
        await clock.advance(STATE_INTERVAL_MS);
        await sendWhole(publisher, events.slice(-1));
        await redis.client.xTrim(logKeys(redis).events, "MAXLEN", 1);
      },
    };
  }
  const put = (redis: Redis, fields: Record<string, string>, id = "*") => redis.client.xAdd(logKeys(redis).events, id, fields);

  test("a follower disconnected for less than the retention of batches continues from them without a gap", async () => {
    const { node, publisher } = await begun("batches");
    await node.pause();
    for (let seq = 2; seq <= 20; seq += 1) await sendWhole(publisher, [quote(seq)]);
    node.resume();
    await vi.waitUntil(() => node.events.at(-1)?.seq === 20, SOON);
    expect(seqs(node.events, "quote")).toEqual(Array.from({ length: 20 }, (_, index) => [index + 1, 0]));
  });

  test("a follower disconnected for longer gets the newest records, each with the number it replaces, and every closed kline", async () => {
    const { node, sendUnkept } = await begun("bridged");
    await node.pause();
    const minutes = [1, 2, 3].flatMap((m) => [kline(m * 2, m - 1, true), kline(m * 2 + 1, m)]);
    await sendUnkept([quote(2), quote(1, "GBPUSD"), ...minutes, quote(2, "GBPUSD"), quote(3)]);
    node.resume();
    await vi.waitUntil(() => node.projection.view.quote("EURUSD")?.bid === bidOf(3), SOON);
    expect(unexplained(node.events)).toEqual([]);
    expect(seqs(node.events, "kline")).toEqual([
      [1, 0],
      [2, 0],
      [4, 1],
      [6, 1],
      [7, 0],
    ]);
    const of = (topic: string) => node.events.filter((event) => event.topic === topic);
    expect(of("quote:EURUSD").slice(1)).toEqual([{ ...quote(3), merged: 1 }]);
    expect(of("quote:GBPUSD")).toEqual([{ ...quote(2, "GBPUSD"), merged: 1 }]);
    expect(node.projection.view.recentKlines("EURUSD", "M1").map(({ time }) => time / 60)).toEqual([0, 1, 2, 3]);
  });

  test("a follower that missed more closed klines than are kept gets the last ones, and does not report the others as merged", async () => {
    const { node, sendUnkept } = await begun("forgotten");
    await node.pause();
    const missed = CLOSED_KEPT_COUNT + 3;
    const minutes = Array.from({ length: missed }, (_, m) => [kline(m * 2 + 2, m, true), kline(m * 2 + 3, m + 1)]);
    await sendUnkept([...minutes.flat(), quote(2), quote(3)]);
    node.resume();
    await vi.waitUntil(() => node.projection.view.quote("EURUSD")?.bid === bidOf(3), SOON);
    const closed = node.events.filter((event) => event.type === "kline" && event.closed);
    expect(closed.map(({ record }) => "time" in record && record.time / 60)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    expect(unexplained(node.events)).toEqual([kline(8, 3, true)]);
  });

  test("a follower skips batches of a former publisher and batches it cannot decode, and continues after them", async () => {
    const { node, publisher, redis } = await begun("garbage");
    const epoch = "former";
    await put(redis, batchFields({ token: 0, n: 2, epoch }, [{ ...quote(2), epoch }]));
    await put(redis, { anything: "else" });
    await put(redis, { ...batchFields({ n: 2 }, [quote(2)]), header: "{" });
    await put(redis, { ...batchFields({ n: 2 }, [quote(2)]), header: '{"token":1}' });
    await put(redis, { ...batchFields({ n: 2 }, [quote(2)]), columns: "[]" });
    await put(redis, { ...batchFields({ n: 2 }, [quote(2)]), events: '{"a":1}' });
    await put(redis, { ...batchFields({ n: 2 }, [quote(2)]), events: '[null,["trade",1,0,0]]' });
    await sendWhole(publisher, [quote(2)]);
    await caughtUp(node);
    expect(seqs(node.events, "quote")).toEqual([
      [1, 0],
      [2, 0],
    ]);
    expect(node.events.some((event) => event.epoch === epoch)).toBe(false);
    expect(node.cursor.header()?.token).toBe(1);
  });

  test("a follower starts and closes a gap although some fields of the newest records cannot be decoded", async () => {
    const { node, sendUnkept, redis } = await begun("fields");
    const { state } = logKeys(redis);
    await redis.client.hSet(state, { "quote:AUDUSD": "not a row", "quote:NZDUSD": "null", "kline:EURUSD:H1 closed": "[7]" });
    const late = followVenue(redis);
    await vi.waitUntil(() => late.projection.view.quote("EURUSD") !== undefined, SOON);
    await node.pause();
    await sendUnkept([quote(2), quote(3)]);
    node.resume();
    await vi.waitUntil(() => node.projection.view.quote("EURUSD")?.bid === bidOf(3), SOON);
    expect(unexplained(node.events)).toEqual([]);
  });

  test("a follower starts although the header of the newest records cannot be decoded", async () => {
    const redis = await nodes.open("header");
    const { state } = logKeys(redis);
    await redis.client.hSet(state, { id: "1-1", header: "{", columns: "{}" });
    const node = followVenue(redis);
    await put(redis, batchFields({ n: 1 }, [quote(1)]));
    await vi.waitUntil(() => node.projection.view.quote("EURUSD") !== undefined, SOON);
  });

  test("a follower continues when Redis comes back empty with its clock behind, so that ids are lower than before", async () => {
    const { node, publisher, redis, clock } = await begun("behind");
    const ahead = `${Date.now() + HOUR_MS}-0`;
    await put(redis, batchFields({ n: 2 }, [quote(2)]), ahead);
    await put(redis, batchFields({ token: 0 }, []));
    await caughtUp(node);
    expect(seqs(node.events, "quote").at(-1)).toEqual([2, 0]);
    await nodes.server.kill();
    await nodes.server.start();
    await vi.waitUntil(() => redis.connected(), SOON);
    await sendWhole(publisher, [quote(2)]);
    publisher.append([quote(3)], 0);
    await clock.advance(STATE_INTERVAL_MS);
    await vi.waitUntil(() => node.events.at(-1)?.seq === 3, SOON);
    expect(seqs(node.events, "quote")).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    const [newest] = (await redis.client.xRevRange(logKeys(redis).events, "+", "-", { COUNT: 1 })) ?? [];
    expect(Number(newest?.id.split("-")[0])).toBeLessThan(Number(ahead.split("-")[0]));
  });

  test("a follower reports for how many seconds no events have arrived, even when it started after the last one", async () => {
    const { publisher, redis } = await begun("silent");
    await publisher.stop();
    // As after a crash: nothing followed the newest records.
    const [newest] = (await redis.client.xRevRange(logKeys(redis).events, "+", "-", { COUNT: 1 })) ?? [];
    await redis.client.hSet(logKeys(redis).state, "id", newest?.id ?? "");
    const late = followVenue(redis);
    await vi.waitUntil(() => late.projection.view.quote("EURUSD") !== undefined, SOON);
    await vi.waitUntil(() => late.follower.problem() !== "events cannot be read from Redis; serving the last known data", SOON);
    expect(late.follower.problem()).toMatch(/no events from an ingest node (yet|for \d+ s)/);
  });

  test("a follower starts a new epoch with the restored state, and ignores later batches of the previous one", async () => {
    const { node, redis } = await begun("epochs");
    const next = (event: MarketEvent): MarketEvent => ({ ...event, epoch: "next" });
    const publisher = appendTo(redis, { token: 2, epoch: "next" });
    await sendWhole(publisher, [{ ...next(quote(1)), restored: true }, next(quote(2))]);
    await put(redis, batchFields({ token: 1, n: 2 }, [quote(2)]));
    await sendWhole(publisher, [next(quote(3))]);
    await caughtUp(node);
    const seen = node.events.filter(({ type }) => type === "quote").map(({ epoch, seq, restored }) => [epoch, seq, restored]);
    expect(seen).toEqual([
      ["test", 1, undefined],
      ["next", 1, true],
      ["next", 2, undefined],
      ["next", 3, undefined],
    ]);
  });
});
