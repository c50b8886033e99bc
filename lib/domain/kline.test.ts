import fc from "fast-check";
import { expect, test } from "vitest";
import { Kline as PublicKline } from "#lib/contract/kline";
import { HOUR_MS } from "#lib/units";
import { aggregate, closesAtMs, foldQuote, isClosed, type Kline, mergeKlines, toPublic } from "./kline";
import { toQuote } from "./quote";
import type { Tick } from "./tick";
import { createAlignment, TIMEFRAMES_ORDER } from "./timeframe";

const DIGITS = 5;
const ALIGNMENT = createAlignment();

/** Ticks in ascending time, from anywhere in 2026, over minutes to weeks. */
const ticks = fc
  .record({
    start: fc.integer({ min: Date.parse("2026-01-01T00:00Z"), max: Date.parse("2026-12-31T00:00Z") }),
    pace: fc.constantFrom(1_000, 60_000, HOUR_MS, 40_000_000),
    steps: fc.array(
      fc.record({
        wait: fc.double({ min: 0, max: 1, noNaN: true }),
        bid: fc.integer({ min: 100_000, max: 120_000 }),
        spread: fc.integer({ min: 0, max: 50 }),
        volume: fc.option(fc.integer({ min: 0, max: 100_000 }).map((hundredths) => hundredths / 100)),
      }),
      { minLength: 1, maxLength: 60 },
    ),
  })
  .map(({ start, pace, steps }) => {
    let time_msc = start;
    return steps.map(({ wait, bid, spread, volume }): Tick => {
      time_msc += Math.floor(wait * pace);
      return { ticker: "EURUSD", time_msc, bid: bid / 1e5, ask: (bid + spread) / 1e5, volume: volume ?? undefined };
    });
  });
const timeframe = fc.constantFrom(...TIMEFRAMES_ORDER);

/** The klines of ticks in one timeframe, folded tick by tick. */
function fold(all: readonly Tick[], name: (typeof TIMEFRAMES_ORDER)[number]): Kline[] {
  const klines = new Map<number, Kline>();
  for (const tick of all) {
    const time = ALIGNMENT.openTime(name, Math.floor(tick.time_msc / 1000));
    klines.set(time, foldQuote(klines.get(time), toQuote(tick, DIGITS), tick.volume, name, time));
  }
  return [...klines.values()];
}

test("a kline is a record of the contract: low <= open, close <= high, spread not negative", () => {
  fc.assert(
    fc.property(ticks, timeframe, (all, name) => {
      const klines = fold(all, name);
      for (const kline of klines) {
        expect(PublicKline.parse(kline)).toEqual(kline);
        for (const price of [kline.open, kline.close]) {
          expect(price).toBeGreaterThanOrEqual(kline.low);
          expect(price).toBeLessThanOrEqual(kline.high);
        }
        expect(kline.spread).toBeGreaterThanOrEqual(0);
      }
      expect(klines.reduce((sum, kline) => sum + kline.tick_volume, 0)).toBe(all.length);
    }),
  );
});

test("a folded kline matches the ticks of its interval", () => {
  fc.assert(
    fc.property(ticks, timeframe, (all, name) => {
      for (const kline of fold(all, name)) {
        const inside = all.filter(({ time_msc }) => ALIGNMENT.openTime(name, Math.floor(time_msc / 1000)) === kline.time);
        const bids = inside.map(({ bid }) => bid);
        const volumes = inside.flatMap(({ volume }) => volume ?? []);
        const spreads = inside.map((tick) => toQuote(tick, DIGITS).spread);
        expect(kline).toMatchObject({ timeframe: name, open: bids[0], close: bids.at(-1), tick_volume: inside.length });
        expect(kline).toMatchObject({ high: Math.max(...bids), low: Math.min(...bids), spread: Math.min(...spreads) });
        if (volumes.length === 0) expect(kline.real_volume).toBeNull();
        else expect(kline.real_volume).toBeCloseTo(volumes.reduce((sum, volume) => sum + volume, 0));
      }
    }),
  );
});

test("two pieces of an interval, split anywhere, merge to the kline of the whole", () => {
  fc.assert(
    fc.property(ticks, timeframe, fc.nat(), (all, name, at) => {
      const cut = at % (all.length + 1);
      const pieces = [...fold(all.slice(0, cut), name), ...fold(all.slice(cut), name)];
      const merged: Kline[] = [];
      for (const piece of pieces) {
        const last = merged.at(-1);
        if (last?.time === piece.time) merged[merged.length - 1] = mergeKlines(last, piece);
        else merged.push(piece);
      }
      expect(merged).toEqual(fold(all, name));
    }),
  );
});

test("a higher timeframe always equals the aggregation of its M1 rows, in any number of steps", () => {
  fc.assert(
    fc.property(ticks, timeframe, timeframe, (all, name, between) => {
      const minutes = fold(all, "M1");
      expect(aggregate(minutes, name, ALIGNMENT)).toEqual(fold(all, name));
      const steps = TIMEFRAMES_ORDER.indexOf(between) <= TIMEFRAMES_ORDER.indexOf(name);
      // A week belongs to two months.
      if (steps && !(between === "W1" && name === "MN1"))
        expect(aggregate(aggregate(minutes, between, ALIGNMENT), name, ALIGNMENT)).toEqual(fold(all, name));
    }),
  );
});

test("the spread of a kline is the smallest known one of its minutes, unknown only where none is known, and 0 for clients then", () => {
  const unknown = fc.infiniteStream(fc.boolean());
  fc.assert(
    fc.property(ticks, timeframe, unknown, (all, name, hides) => {
      const rows = fold(all, "M1").map((row) => (hides.next().value ? { ...row, spread: null } : row));
      for (const kline of aggregate(rows, name, ALIGNMENT)) {
        const inside = rows.filter(({ time }) => ALIGNMENT.openTime(name, time) === kline.time);
        const known = inside.flatMap(({ spread }) => spread ?? []);
        expect(kline.spread).toBe(known.length === 0 ? null : Math.min(...known));
        expect(PublicKline.parse(toPublic(kline))).toEqual({ ...kline, spread: kline.spread ?? 0 });
      }
    }),
  );
});

test("the first quote in an interval whose minutes have no spread gives it one", () => {
  const tick = { ticker: "EURUSD", time_msc: 1_767_225_720_000, bid: 1.08543, ask: 1.08551 };
  const quote = toQuote(tick, DIGITS);
  const imported = { ...foldQuote(undefined, quote, undefined, "H1", 1_767_225_600), spread: null };
  expect(foldQuote(imported, quote, undefined, "H1", 1_767_225_600).spread).toBe(0.00008);
});

test("an interval without quotes has no kline", () => {
  expect(aggregate([], "H1", ALIGNMENT)).toEqual([]);
});

test("folding and aggregating never mutate their arguments", () => {
  fc.assert(
    fc.property(ticks, timeframe, (all, name) => {
      const rows = fold(all, "M1").map((row) => Object.freeze(row));
      aggregate(Object.freeze(rows), name, ALIGNMENT);
      const [first] = rows;
      if (first !== undefined) foldQuote(first, Object.freeze(toQuote(all[0] as Tick, DIGITS)), 1, "M1", first.time);
    }),
  );
});

test("a quote of another interval starts a new kline and leaves the old one unchanged", () => {
  const tick = { ticker: "EURUSD", time_msc: 1_767_225_720_000, bid: 1.08543, ask: 1.08551 };
  const before = foldQuote(undefined, toQuote(tick, DIGITS), undefined, "M1", 1_767_225_660);
  expect(foldQuote(before, toQuote(tick, DIGITS), undefined, "M1", 1_767_225_720)).toEqual({ ...before, time: 1_767_225_720 });
});

test("a crossed quote counts as spread 0", () => {
  const tick = { ticker: "EURUSD", time_msc: 1_767_225_600_000, bid: 1.08551, ask: 1.08543 };
  expect(foldQuote(undefined, toQuote(tick, DIGITS), undefined, "M1", 1_767_225_600).spread).toBe(0);
});

test("a kline closes on the clock, two seconds after its end, as the contract promises", () => {
  fc.assert(
    fc.property(ticks, timeframe, (all, name) => {
      for (const kline of fold(all, name)) {
        const endMs = ALIGNMENT.nextOpenTime(name, kline.time) * 1000;
        expect(closesAtMs(kline, ALIGNMENT)).toBe(endMs + 2_000);
        expect(isClosed(kline, endMs + 1_999, ALIGNMENT)).toBe(false);
        expect(isClosed(kline, endMs + 2_000, ALIGNMENT)).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});
