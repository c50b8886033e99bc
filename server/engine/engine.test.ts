import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, foldQuote, isClosed, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { type DayState, foldDay } from "#lib/domain/snapshot";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import type { MarketEvent } from "#server/events/event";
import { createMemoryKlines } from "#server/testing/memory-klines";
import { createView } from "#server/view/view";
import { createEngine } from "./engine";
import { hydrateAll } from "./hydrate";

const alignment = createAlignment();
/** A Thursday, 21:59:40 UTC: 20 s before the trading day ends. */
const START_MS = Date.UTC(2026, 0, 15, 21, 59, 40);
const LISTING: Listing = {
  ticker: "EURUSD",
  assetClass: "forex",
  base: "EUR",
  quote: "USD",
  digits: 5,
  pipSize: 0.0001,
  streams: ["quote", "kline", "snapshot"],
  timeframes: TIMEFRAMES,
  calendar: null,
  staleAfterS: 60,
  openGraceS: 300,
};
const listingOf = (ticker: string) => (ticker === LISTING.ticker ? LISTING : undefined);

/** A step of a simulated market: a tick or a pause, after some milliseconds; now and then a crash with a restart. */
const step = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1_000, max: 4_000_000 })),
  kind: fc.constantFrom("tick", "tick", "tick", "pause", "crash"),
  points: fc.integer({ min: 100_000, max: 120_000 }),
  spread: fc.integer({ min: 0, max: 30 }),
});

/** Plays steps on engine, view and a store that is written at each event, as a recorder that never lags would. */
async function play(steps: readonly { afterMs: number; kind: string; points: number; spread: number }[]) {
  const store = createMemoryKlines();
  const accepted: Tick[] = [];
  const closed: Kline[] = [];
  let nowMs = START_MS;
  let { engine, view } = await start();

  async function start() {
    const view = createView();
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    const missed = await hydrateAll([LISTING], {
      store,
      view,
      calendarOf: () => undefined,
      alignment,
      nowMs,
      closedMs: () => nowMs,
      restore: (restored) => view.apply(engine.restore(restored)),
    });
    await store.writeBatch(missed, []);
    return { engine, view };
  }
  async function publish(events: readonly MarketEvent[]) {
    view.apply(events);
    for (const event of events) {
      if (event.type === "kline" && event.closed) closed.push(event.record);
      if (event.type === "kline" && event.record.timeframe === "M1") await store.writeBatch([event.record], []);
      if (event.type === "snapshot") await store.writeBatch([], [event.record]);
    }
  }

  for (const { afterMs, kind, points, spread } of steps) {
    nowMs += afterMs;
    if (kind === "crash") ({ engine, view } = await start());
    await publish(engine.advance(nowMs));
    const tick = { ticker: "EURUSD", time_msc: nowMs, bid: points / 100_000, ask: (points + spread) / 100_000 };
    if (kind !== "tick" || engine.judge(tick, nowMs) !== null) continue;
    accepted.push(tick);
    await publish(engine.ingest(tick));
  }
  return { store, accepted, closed, view, nowMs, engine };
}

/** M1 klines of ticks, folded one by one. */
function minutesOf(ticks: readonly Tick[]): Kline[] {
  const minutes = new Map<number, Kline>();
  for (const tick of ticks) {
    const time = alignment.openTime("M1", Math.floor(tick.time_msc / 1000));
    minutes.set(time, foldQuote(minutes.get(time), toQuote(tick, 5), undefined, "M1", time));
  }
  return [...minutes.values()];
}

describe("engine", () => {
  test("the engine makes the klines of a plain aggregation in all nine timeframes, for any order of ticks, pauses and crashes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { store, accepted, view, nowMs } = await play(steps);
        const minutes = minutesOf(accepted);
        for (const timeframe of TIMEFRAMES) {
          const expected = timeframe === "M1" ? minutes : aggregate(minutes, timeframe, alignment);
          const stored = await store.read({ ticker: "EURUSD", timeframe, from: 0, to: 4e9, limit: 1e6, end: "oldest" });
          const known = new Map(stored.map((kline) => [kline.time, kline]));
          for (const kline of view.recentKlines("EURUSD", timeframe)) known.set(kline.time, kline);
          expect([...known.values()].sort((a, b) => a.time - b.time)).toEqual(expected);
          const open = expected.filter((kline) => !isClosed(kline, nowMs, alignment));
          if (open.length > 0) expect(view.recentKlines("EURUSD", timeframe).slice(-open.length)).toEqual(open);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("a kline closes once, on the clock, two seconds after its end, without a tick", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { closed } = await play(steps.map((one) => ({ ...one, kind: one.kind === "crash" ? "pause" : one.kind })));
        const keys = closed.map((kline) => `${kline.timeframe}:${kline.time}`);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 60 },
    );
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    engine.ingest({ ticker: "EURUSD", time_msc: START_MS, bid: 1.1, ask: 1.1001 });
    expect(engine.advance(START_MS + 21_999)).toEqual([]);
    const events = engine.advance(START_MS + 22_000);
    expect(events.map((event) => event.type === "kline" && [event.record.timeframe, event.closed])).toEqual(
      ["M1", "M5", "M15", "M30", "H1", "H4", "D1"].map((timeframe) => [timeframe, true]),
    );
  });

  test("a tick of the next interval does not close the previous kline early", () => {
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    engine.ingest({ ticker: "EURUSD", time_msc: START_MS, bid: 1.1, ask: 1.1001 });
    const next = { ticker: "EURUSD", time_msc: START_MS + 20_000, bid: 1.2, ask: 1.2001 };
    expect(engine.judge(next, START_MS + 20_000)).toBeNull();
    expect(engine.ingest(next).every((event) => event.type !== "kline" || !event.closed)).toBe(true);
    const closing = engine.advance(START_MS + 22_000);
    expect(closing.map((event) => event.type === "kline" && [event.record.timeframe, event.record.close])).toContainEqual([
      "D1",
      1.1,
    ]);
  });

  test("ticks of unknown and retired tickers are rejected as such", () => {
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    expect(engine.judge({ ticker: "XXXYYY", time_msc: START_MS, bid: 1, ask: 1 }, START_MS)).toBe("unknown_ticker");
  });

  test("a price that would be rounded to zero is rejected", () => {
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    const tick = (bid: number) => engine.judge({ ticker: "EURUSD", time_msc: START_MS, bid, ask: 1 }, START_MS);
    expect([1e-9, 0.000004, 0.00001].map(tick)).toEqual(["bad_price", "bad_price", null]);
  });

  test("a snapshot carries the trading day and the previous close", () => {
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    engine.ingest({ ticker: "EURUSD", time_msc: START_MS, bid: 1.1, ask: 1.1001 });
    const events = engine.ingest({ ticker: "EURUSD", time_msc: START_MS + 20_000, bid: 1.2, ask: 1.2002 });
    const snapshot = events.find((event) => event.type === "snapshot")?.record;
    expect(snapshot).toMatchObject({ open: 1.2, close: 1.1, bid_high: 1.2, ask_low: 1.2002, change: 0.1, change_pct: 9.0909 });
  });

  test("an edited listing keeps the klines that wait for their close, and their sequences", () => {
    let listing = LISTING;
    const engine = createEngine({ listingOf: () => listing, calendarOf: () => undefined, alignment, epoch: "test" });
    engine.ingest({ ticker: "EURUSD", time_msc: START_MS, bid: 1.1, ask: 1.1001 });
    engine.ingest({ ticker: "EURUSD", time_msc: START_MS + 20_000, bid: 1.2, ask: 1.2001 });
    listing = { ...LISTING, staleAfterS: 90 };
    engine.judge({ ticker: "EURUSD", time_msc: START_MS + 20_500, bid: 1.2, ask: 1.2001 }, START_MS + 20_500);
    const closing = engine
      .advance(START_MS + 22_000)
      .filter((event) => event.type === "kline" && event.record.timeframe === "M1");
    expect(closing).toMatchObject([{ closed: true, record: { time: START_MS / 1_000 - 40, close: 1.1 }, seq: 3 }]);
  });

  const openMinute = (time: number, close: number): Kline => ({
    type: "kline",
    ticker: "EURUSD",
    timeframe: "M1",
    time,
    open: close,
    high: close,
    low: close,
    close,
    tick_volume: 1,
    real_volume: null,
    spread: 0.0001,
  });
  const closedMinutes = (events: readonly MarketEvent[]) =>
    events.flatMap((event) => (event.type === "kline" && event.closed ? [[event.record.time, event.record.close]] : []));

  test("klines that are restored close on the clock, without a tick, each once however often it is restored", () => {
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    const minute = START_MS / 1_000 - 40;
    const restored = { ticker: "EURUSD", lastQuote: undefined, day: undefined };
    engine.restore({ ...restored, openKlines: [openMinute(minute, 1.1), openMinute(minute + 60, 1.2)] });
    engine.restore({ ...restored, openKlines: [openMinute(minute, 1.15), openMinute(minute + 60, 1.2)] });
    expect(engine.advance((minute + 60) * 1_000 + 1_999)).toEqual([]);
    expect(closedMinutes(engine.advance((minute + 60) * 1_000 + 2_000))).toEqual([[minute, 1.15]]);
    expect(closedMinutes(engine.advance((minute + 120) * 1_000 + 2_000))).toEqual([[minute + 60, 1.2]]);
    expect(engine.advance((minute + 600) * 1_000)).toEqual([]);
  });

  test("a restored day keeps the ask range that ticks gave while its bids are the same, and takes another day as it is", () => {
    const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment, epoch: "test" });
    const tick = { ticker: "EURUSD", time_msc: START_MS + 20_000, bid: 1.2, ask: 1.2002 };
    const [, first] = engine.ingest(tick);
    if (first?.type !== "snapshot") throw new Error("no snapshot");
    const known: DayState = {
      ...foldDay(undefined, toQuote(tick, 5), alignment, undefined),
      askHigh: null,
      askLow: null,
    };
    const snapshotAfter = (day: DayState) =>
      engine.restore({ ticker: "EURUSD", lastQuote: undefined, openKlines: [], day }).find((event) => event.type === "snapshot")
        ?.record;
    expect(snapshotAfter(known)).toMatchObject({ bid_high: 1.2, bid_low: 1.2, ask_high: 1.2002, ask_low: 1.2002 });
    expect(snapshotAfter({ ...known, bidHigh: 1.3 })).toMatchObject({
      bid_high: 1.3,
      bid_low: 1.2,
      ask_high: null,
      ask_low: null,
    });
  });
});
