import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { STREAM_CORRECTIONS_MAX_RECORDS } from "#lib/contract/limits";
import { HELD_BACK_LISTED_COUNT } from "#lib/contract/portal-feeds";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { compileCalendar } from "#lib/domain/calendar";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { Fault } from "#lib/fault";
import { createLog } from "#lib/log";
import { feedGaps } from "#lib/market/feed-gaps";
import { mergeRows } from "#lib/market/kline-merge";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_S, MINUTE_MS } from "#lib/units";
import type { KlineEvent, MarketEvent } from "#server/events/event";
import { type MarketFeed, Refused } from "#server/feed/feed";
import { createFeedFilter } from "#server/feed/filter/feed-filter";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { sandboxFeed } from "#server/feed/sandbox/feed";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices } from "#server/feed/sandbox/prices";
import { testKline } from "#server/testing/market";
import { createMemoryKlines } from "#server/testing/memory-klines";
import { type RunningMarket, startMarket } from "./market";

const TICKER = "EURUSD";
const alignment = createAlignment();
const log = createLog("silent");

/** One ticker of the sandbox, so that a run stays short. */
function catalogueOfOne() {
  const { calendar, find, list } = createSandboxCatalogue();
  const listings = list().filter(({ ticker }) => ticker === TICKER);
  return {
    calendar,
    list: () => listings,
    find: (ticker: string) => (ticker === TICKER ? find(ticker) : undefined),
    instrument: () => undefined,
  };
}

/** The rows of a window as a reader gets them: stored rows overlaid with those of the view. */
async function readAll({ store, view }: RunningMarket, timeframe: Timeframe, from: number, to: number): Promise<Kline[]> {
  const read = { from, to, limit: 10_000, end: "oldest" as const };
  return mergeRows(await store.read({ ticker: TICKER, timeframe, ...read }), view.recentKlines(TICKER, timeframe), read);
}

/** Compares each timeframe with the aggregation of the minutes, over the complete intervals that touch [fromS, toS). */
async function expectAggregates(market: RunningMarket, fromS: number, toS: number) {
  for (const timeframe of TIMEFRAMES.slice(1, -2)) {
    const from = alignment.openTime(timeframe, fromS);
    const minutes = await readAll(market, "M1", from, toS);
    expect(await readAll(market, timeframe, from, toS)).toEqual(aggregate(minutes, timeframe, alignment));
  }
}

function expectDay(market: RunningMarket) {
  const day = market.view.recentKlines(TICKER, "D1").at(-1);
  const snapshot = market.view.snapshot(TICKER);
  expect(snapshot).toMatchObject({ open: day?.open, bid_high: day?.high, bid_low: day?.low, bid: day?.close });
}

describe("a running market", () => {
  test("a market refuses ticks while its store is unavailable and its queue is full, and accepts them again afterwards", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 7, 12));
    const store = createMemoryKlines();
    const settings = { venue: "live", store, writer: store, acceptsPush: true, provider: "push" } as const;
    const catalogue = catalogueOfOne();
    const market = await startMarket({
      files: memoryFiles(),
      ...settings,
      catalogue,
      clock,
      log,
      metrics: createMetrics(),
      pendingMaxRows: 2,
    });
    const push = () => market.leader.push([{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }]);
    store.away(true);
    expect(await push()).toEqual([null]);
    await clock.advance(1_000);
    const refused = expect(push()).rejects.toMatchObject({ id: "service_unavailable", data: { retry_after: 5 } });
    await clock.advance(6_000);
    await refused;
    store.away(false);
    await clock.advance(1_000);
    expect(await push()).toEqual([null]);
    await market.stop();
  });

  test("a market refuses what is pushed while there is no room for it, and accepts it again afterwards", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 7, 12));
    const store = createMemoryKlines();
    const settings = { venue: "live", store, writer: store, acceptsPush: true, provider: "push" } as const;
    let full = true;
    const requireRoom = () => {
      if (full) throw new Fault("service_unavailable", { detail: "full" });
    };
    const options = {
      ...settings,
      files: memoryFiles(),
      catalogue: catalogueOfOne(),
      requireRoom,
      clock,
      log,
      metrics: createMetrics(),
    };
    const market = await startMarket(options);
    const push = () => market.leader.push([{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }]);
    await expect(push()).rejects.toMatchObject({ id: "service_unavailable" });
    expect(market.view.quote(TICKER)).toBeUndefined();
    full = false;
    expect(await push()).toEqual([null]);
    await market.stop();
  });

  test("the events of a large batch are published in parts, each once and in order, before the push is answered", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 7, 12));
    const settings = { venue: "live", store: createMemoryKlines(), acceptsPush: true, provider: "push" } as const;
    const market = await startMarket({
      files: memoryFiles(),
      ...settings,
      catalogue: catalogueOfOne(),
      clock,
      log,
      metrics: createMetrics(),
    });
    const parts: MarketEvent[][] = [];
    market.follow((events) => parts.push([...events]));
    const fromMs = clock.now();
    const ticks = Array.from({ length: 500 }, (_, i) => ({ ticker: TICKER, time_msc: fromMs + i, bid: 1.1 + i / 1e5, ask: 1.2 }));
    expect(await market.leader.push(ticks)).toEqual(ticks.map(() => null));
    const events = parts.flat();
    const topics = new Set(events.map(({ topic }) => topic));
    expect(topics.size).toBe(2 + TIMEFRAMES.length);
    for (const topic of topics)
      expect(events.filter((event) => event.topic === topic).map(({ seq }) => seq)).toEqual(ticks.map((_, i) => i + 1));
    expect(events.flatMap(({ type, record }) => (type === "quote" ? [record.time_msc] : []))).toEqual(
      ticks.map(({ time_msc }) => time_msc),
    );
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(events.length / 10);
    expect(market.view.quote(TICKER)?.time_msc).toBe(ticks.at(-1)?.time_msc);
    await market.stop();
  });

  test("a feed's problem ends when it is connected, which may be long before its next tick", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 10, 12));
    const tries: [string, number][] = [];
    const feed: MarketFeed = {
      name: "test",
      keepsTime: false,
      lost: (error, untilMs) => tries.push([(error as Error).message, untilMs]),
      providers: () => [],
      open: ({ connected }) =>
        async function* open(signal) {
          if (tries.length === 0) throw new Refused("wrong key");
          connected();
          await clock.wait(MINUTE_MS, signal);
          yield [{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }];
        },
    };
    const store = createMemoryKlines();
    const settings = { venue: "live", store, acceptsPush: false, provider: "test" } as const;
    const market = await startMarket({
      files: memoryFiles(),
      ...settings,
      feed,
      catalogue: catalogueOfOne(),
      clock,
      log,
      metrics: createMetrics(),
    });
    await clock.advance(1);
    expect(market.feedProblem()).toBe("feed test refuses the connection: wrong key");
    expect(tries).toEqual([["wrong key", Date.UTC(2026, 0, 10, 12, 1)]]);
    expect(market.feed().providers).toEqual([]);
    await clock.advance(MINUTE_MS);
    expect(market.feedProblem()).toBeNull();
    await market.stop();
  });

  test("a pushed price that cannot be true does not become the day's high, and operators see what was kept out", async () => {
    const sundayMs = Date.UTC(2026, 0, 11, 12);
    const clock = manualClock(sundayMs);
    const metrics = createMetrics();
    const { find, ...catalogue } = catalogueOfOne();
    const calendar = compileCalendar({ kind: "cycle", anchorS: sundayMs / 1_000 + 600, openS: DAY_S, closedS: DAY_S }, []);
    const market = await startMarket({
      files: memoryFiles(),
      venue: "live",
      store: createMemoryKlines(),
      acceptsPush: true,
      provider: "push",
      clock,
      log,
      metrics,
      catalogue: { ...catalogue, find, calendar: () => calendar },
      filter: createFeedFilter({ name: () => "push", off: [], metrics }),
    });
    const push = async (...bids: number[]) =>
      market.leader.push(bids.map((bid, at) => ({ ticker: TICKER, time_msc: clock.now() + at, bid, ask: bid * 1.0001 })));
    expect(await push(1.09)).toEqual(["market_closed"]);
    await clock.advance(15 * MINUTE_MS);
    await push(...new Array<number>(20).fill(1.1).map((bid, at) => bid + at * 0.00001));
    await clock.advance(1_000);
    expect(await push(9.9e11, 1.6, 1.1001)).toEqual(["implausible_price", "spike", null]);
    await clock.advance(1_000);
    expect(await push(1.12, 1.1201, 1.1202)).toEqual(["spike", "spike", null]);
    await clock.advance(10);
    expect(await push(1.13)).toEqual(["spike"]);
    await clock.advance(2_000);
    expect(market.view.snapshot(TICKER)).toMatchObject({ bid: 1.1202, bid_high: 1.1202 });
    expect(market.feed().heldBack).toMatchObject({
      counts: [
        { reason: "market_closed", count: 1 },
        { reason: "implausible_price", count: 1 },
        { reason: "spike", count: 2 },
      ],
      newest: [
        { bid: 1.13 },
        { bid: 1.6, reason: "spike" },
        { bid: 9.9e11, reason: "implausible_price" },
        { bid: 1.09, reason: "market_closed" },
      ],
    });
    const text = await metrics.registry.metrics();
    for (const line of [
      'spotwire_feed_quarantined_total{upstream="push",reason="spike"} 2',
      'spotwire_ticks_total{venue="live",outcome="spike"} 2',
      'spotwire_ticks_total{venue="live",outcome="accepted"} 24',
    ])
      expect(text).toContain(line);
    await market.stop();
  });

  test("a market remembers a bounded number of ticks that were kept out, and counts all", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 7, 12));
    const metrics = createMetrics();
    const market = await startMarket({
      files: memoryFiles(),
      venue: "live",
      catalogue: catalogueOfOne(),
      store: createMemoryKlines(),
      acceptsPush: true,
      provider: "push",
      clock,
      log,
      metrics,
      filter: createFeedFilter({ name: () => "push", off: [], metrics }),
    });
    const crossed = { ticker: TICKER, time_msc: clock.now(), bid: 1.2, ask: 1.1 };
    expect(await market.leader.push(new Array(5_000).fill(crossed))).toEqual(new Array(5_000).fill("crossed_quote"));
    const kept = market.feed().heldBack;
    expect([kept?.counts, kept?.newest.length]).toEqual([[{ reason: "crossed_quote", count: 5_000 }], HELD_BACK_LISTED_COUNT]);
    await market.stop();
  });

  test("a market shows rewritten history in klines that it closed itself, in open klines and in the snapshot", async () => {
    const startMs = Date.UTC(2026, 0, 7, 12);
    const clock = manualClock(startMs);
    const store = createMemoryKlines();
    const catalogue = catalogueOfOne();
    const market = await startMarket({
      files: memoryFiles(),
      venue: "live",
      catalogue,
      store,
      writer: store,
      acceptsPush: true,
      provider: "push",
      clock,
      log,
      metrics: createMetrics(),
    });
    for (let minute = 0; minute < 130; minute += 5) {
      expect(await market.leader.push([{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }])).toEqual([null]);
      await clock.advance(5 * MINUTE_MS);
    }
    // What an import does: adds minutes between the recorded ones, and the longer klines that it can build from them.
    const from = startMs / 1000;
    const imported = testKline(TICKER, "M1", from + 60, 1.5);
    await store.writeBatch([imported], []);
    const minutes = await store.read({
      ticker: TICKER,
      timeframe: "M1",
      from: 0,
      to: from + DAY_S,
      limit: 10_000,
      end: "oldest",
    });
    for (const timeframe of TIMEFRAMES.slice(1)) await store.writeBatch(aggregate(minutes, timeframe, alignment), []);
    const changed = market.historyChanged(TICKER);
    await clock.advance(1_000);
    await changed;

    await expectAggregates(market, from, clock.now() / 1000);
    expect((await readAll(market, "H1", from, from + 1))[0]?.high).toBe(1.5);
    expect(market.view.snapshot(TICKER)?.bid_high).toBe(1.5);
    expectDay(market);
    await market.stop();
  });

  test("subscribers get the closed klines of minutes that changed, the newest of each timeframe, and nothing is stored again", async () => {
    const startMs = Date.UTC(2026, 0, 7, 12);
    const clock = manualClock(startMs);
    const store = createMemoryKlines();
    const options = { venue: "live", catalogue: catalogueOfOne(), store, writer: store, acceptsPush: true } as const;
    const market = await startMarket({
      files: memoryFiles(),
      ...options,
      provider: "push",
      clock,
      log,
      metrics: createMetrics(),
    });
    for (let minute = 0; minute < 7; minute += 1) {
      await market.leader.push([{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }]);
      await clock.advance(MINUTE_MS);
    }
    const from = startMs / 1000;
    const seqs = new Map<string, number>();
    const corrections: KlineEvent[] = [];
    market.follow((events) => {
      for (const event of events) {
        if (seqs.has(event.topic)) expect(event.seq).toBe((seqs.get(event.topic) ?? 0) + 1);
        seqs.set(event.topic, event.seq);
        if (event.type === "kline" && event.corrected) corrections.push(event);
      }
    });
    const repaired = testKline(TICKER, "M1", from + 120, 1.5);
    const [five] = aggregate([testKline(TICKER, "M1", from, 1.1), repaired], "M5", alignment);
    const history = Array.from({ length: 150 }, (_, index) => testKline(TICKER, "M1", from - (index + 1) * 60, 1.2));
    await store.writeBatch([repaired, five as Kline, ...history], []);
    const change = async (first: number, last: number) => {
      const changed = market.historyChanged(TICKER, { first, last });
      await clock.advance(1_000);
      await changed;
      return corrections
        .splice(0)
        .map(({ closed, record }) => [closed, record.timeframe, (record.time - from) / 60, record.high]);
    };
    expect(await change(from + 120, from + 120)).toEqual([
      [true, "M1", 2, 1.5],
      [true, "M5", 0, 1.5],
    ]);
    const many = (await change(from - 9_000, from + 120)).filter(([, timeframe]) => timeframe === "M1");
    expect(many).toHaveLength(STREAM_CORRECTIONS_MAX_RECORDS);
    expect(many.at(-1)).toEqual([true, "M1", 2, 1.5]);
    // The hour is open: its change is an update.
    expect(market.view.recentKlines(TICKER, "H1").at(-1)?.high).toBe(1.5);
    await market.stop();
    expect(store.all().find(({ time, timeframe }) => timeframe === "M1" && time === from + 120)).toEqual(repaired);
  });

  test("a market loses no closed kline that the recorder could not write yet", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 7, 12));
    const store = createMemoryKlines();
    const options = { venue: "live", catalogue: catalogueOfOne(), store, writer: store, acceptsPush: true } as const;
    const market = await startMarket({
      files: memoryFiles(),
      ...options,
      provider: "push",
      clock,
      log,
      metrics: createMetrics(),
    });
    store.away(true);
    await market.leader.push([{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }]);
    await clock.advance(2 * MINUTE_MS);
    const changed = market.historyChanged(TICKER);
    await clock.advance(1_000);
    expect(market.view.recentKlines(TICKER, "M1")).toHaveLength(1);
    store.away(false);
    await clock.advance(1_000);
    await changed;
    const written = store.all().filter(({ timeframe }) => timeframe === "M1");
    expect(written).toHaveLength(1);
    expect(market.view.recentKlines(TICKER, "M1")).toEqual(written);
    await market.stop();
  });

  test("a market closes a kline once, also when that falls into the reads after a change of history", async () => {
    const startMs = Date.UTC(2026, 0, 7, 12);
    const clock = manualClock(startMs + MINUTE_MS - 1_000);
    const store = createMemoryKlines();
    let opened: Promise<void> = Promise.resolve();
    const slow = { ...store, read: (query: Parameters<typeof store.read>[0]) => opened.then(() => store.read(query)) };
    const options = { venue: "live", catalogue: catalogueOfOne(), store: slow, writer: store, acceptsPush: true } as const;
    const market = await startMarket({
      files: memoryFiles(),
      ...options,
      provider: "push",
      clock,
      log,
      metrics: createMetrics(),
    });
    const closes: number[] = [];
    market.follow((events) => {
      for (const event of events)
        if (event.type === "kline" && event.closed && event.record.timeframe === "M1") closes.push(event.record.time);
    });
    await market.leader.push([{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }]);
    await clock.advance(500);
    let release = () => {};
    opened = new Promise((resolve) => {
      release = resolve;
    });
    const changed = market.historyChanged(TICKER);
    await clock.advance(10_000);
    expect(closes).toEqual([startMs / 1000]);
    release();
    await changed;
    await clock.advance(1_000);
    expect(closes).toEqual([startMs / 1000]);
    await market.stop();
  });

  test("a sandbox that was stopped for hours has complete klines and a complete trading day again", async () => {
    // 19:40 to 22:12:20 UTC: the trading day ends in between.
    const clock = manualClock(Date.UTC(2026, 0, 7, 19, 40, 30));
    const catalogue = catalogueOfOne();
    const prices = createSandboxPrices({ catalogue, seed: 1 });
    const startMs = Date.UTC(2026, 0, 7, 19, 40);
    const skips: number[] = [];
    const open: MarketFeed["open"] = ({ skipped }) => {
      const onSkip = (fromMs: number, toMs: number) => {
        skips.push(toMs);
        skipped(fromMs, toMs);
      };
      return sandboxFeed({ prices, clock, startMs, onSkip });
    };
    const market = await startMarket({
      files: memoryFiles(),
      venue: "sandbox",
      catalogue,
      store: createSandboxKlines({ prices, clock, alignment, blocks: createBlockStore(makeBlocksHere()) }),
      feed: { name: "sandbox", open, keepsTime: true, startMs: startMs - 1 },
      acceptsPush: false,
      provider: "sandbox",
      clock,
      log,
      metrics: createMetrics(),
    });
    await clock.advance(10_000);
    clock.set(Date.UTC(2026, 0, 7, 22, 12, 20));
    await clock.advance(10_000);
    expect(skips).toHaveLength(1);
    await clock.advance(5_000);
    await expectAggregates(market, startMs / 1000, clock.now() / 1000);
    expectDay(market);
    const [before] = await readAll(market, "D1", alignment.openTime("D1", startMs / 1000), startMs / 1000);
    expect(market.view.snapshot(TICKER)?.close).toBe(before?.close);
    // Its klines are complete, but the ticks of that time were not sent to anyone.
    expect(feedGaps(market.coverage, catalogue, clock.now()).items).toEqual([
      { starts_at: "2026-01-07T19:41:00.000Z", ends_at: "2026-01-07T22:12:00.000Z", length_s: 151 * 60 },
    ]);
    await market.stop();
  });

  test("after a restart a market knows which minutes it missed, except those that an import has filled since", async () => {
    const startMs = Date.UTC(2026, 0, 7, 12);
    const stored = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => testKline(TICKER, "M1", startMs / 1000 + (from + index) * 60));
    const store = createMemoryKlines([...stored(-1_500, -90), ...stored(-60, -30)]);
    const clock = manualClock(startMs);
    const catalogue = catalogueOfOne();
    const options = { venue: "live", catalogue, store, writer: store, acceptsPush: true, provider: "push" } as const;
    const market = await startMarket({ files: memoryFiles(), ...options, clock, log, metrics: createMetrics() });
    const lengths = () => feedGaps(market.coverage, catalogue, clock.now()).items.map(({ length_s }) => length_s / 60);
    expect(market.coverage.filling()).toEqual({ tickers: 1, restored: 1, startedMs: startMs, endedMs: startMs });
    expect(lengths()).toEqual([30, 30]);
    await market.leader.push([{ ticker: TICKER, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }]);
    await clock.advance(5 * MINUTE_MS);
    expect(lengths()).toEqual([4, 30, 30]);
    await store.writeBatch(stored(-90, -60), []);
    const changed = market.historyChanged(TICKER);
    await clock.advance(1_000);
    await changed;
    expect(lengths()).toEqual([4, 30]);
    await market.stop();
  });
});
