import fc from "fast-check";
import { expect, test } from "vitest";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_MS } from "#lib/units";
import { exponential } from "./noise";
import { createSandboxPrices } from "./prices";

const MINUTES_PER_DAY = 1_440;
const ORDINARY = SANDBOX_LISTINGS.filter((listing) => listing.assetClass !== "test");

const anyMinute = fc.integer({ min: Date.UTC(2020, 0, 1) / 60_000, max: Date.UTC(2036, 0, 1) / 60_000 - 1 });

const prices = createSandboxPrices({ catalogue: createSandboxCatalogue(), seed: 1 });
const series = (ticker: string) => prices.series(ticker) ?? expect.fail(`${ticker} has no series`);

/** Open and close of a minute, in points. */
function minuteOf(ticker: string, minute: number): { open: number; close: number } {
  const rows = series(ticker).minutes(Math.floor(minute / MINUTES_PER_DAY)) ?? expect.fail("no prices");
  return { open: rows.open[minute % MINUTES_PER_DAY] ?? 0, close: rows.close[minute % MINUTES_PER_DAY] ?? 0 };
}

test.each(ORDINARY)("$ticker has plausible levels, ranges, spreads and digits on any day", ({ ticker }) => {
  const own = series(ticker);
  const today = Date.UTC(2026, 0, 1) / DAY_MS;
  const middle = minuteOf(ticker, today * MINUTES_PER_DAY).open;
  for (const day of [18_262, today - 40, today, today + 1, today + 3_000]) {
    const rows = own.minutes(day) ?? expect.fail("no prices");
    const [high, low] = [Math.max(...rows.high), Math.min(...rows.low)];
    const range = (high - low) / low;
    expect(range).toBeGreaterThan(0.0001);
    expect(range).toBeLessThan(0.12);
    expect(Math.min(...rows.spread)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...rows.spread) / low).toBeLessThan(0.02);
    expect(low / middle).toBeGreaterThan(0.2);
    expect(high / middle).toBeLessThan(5);
    for (const column of Object.values(rows)) expect(column.every((value: number) => Number.isSafeInteger(value))).toBe(true);
    const outside = rows.open.filter((open, i) => {
      const close = rows.close[i] ?? 0;
      return (rows.low[i] ?? 0) > Math.min(open, close) || (rows.high[i] ?? 0) < Math.max(open, close);
    });
    expect(outside).toHaveLength(0);
  }
});

test("a sandbox minute opens near the close of the previous one, even across midnight", () => {
  const start = Date.UTC(2025, 6, 1) / 60_000;
  for (let minute = start - 30; minute < start + 30; minute++) {
    const { open } = minuteOf("EURUSD", minute);
    const { close } = minuteOf("EURUSD", minute - 1);
    expect(Math.abs(open - close) / open).toBeLessThan(0.0002);
  }
});

test("sandbox crosses are consistent: EURJPY is EURUSD times USDJPY", () => {
  fc.assert(
    fc.property(anyMinute, (minute) => {
      const close = (ticker: string) => minuteOf(ticker, minute).close / series(ticker).scale;
      expect((close("EURUSD") * close("USDJPY")) / close("EURJPY")).toBeCloseTo(1, 4);
      expect(close("XAUUSD") / close("EURUSD") / close("XAUEUR")).toBeCloseTo(1, 3);
    }),
    { numRuns: 50 },
  );
});

test("sandbox prices move more while London and New York trade than at night, with narrower spreads", () => {
  const sums = { day: { count: 0, range: 0, spread: 0 }, night: { count: 0, range: 0, spread: 0 } };
  for (let day = 20_000; day < 20_030; day++) {
    const rows = series("EURUSD").minutes(day) ?? expect.fail("no prices");
    for (let i = 0; i < MINUTES_PER_DAY; i++) {
      const hour = Math.floor(i / 60);
      const sum = hour === 14 ? sums.day : hour === 21 ? sums.night : undefined;
      if (sum === undefined) continue;
      sum.count += rows.count[i] ?? 0;
      sum.range += (rows.high[i] ?? 0) - (rows.low[i] ?? 0);
      sum.spread += rows.spread[i] ?? 0;
    }
  }
  expect(sums.day.count).toBeGreaterThan(1.5 * sums.night.count);
  expect(sums.day.range).toBeGreaterThan(1.5 * sums.night.range);
  expect(sums.night.spread).toBeGreaterThan(1.5 * sums.day.spread);
});

test("e to a power is computed without the engine's own Math.exp", () => {
  fc.assert(
    fc.property(fc.double({ min: -0.3, max: 0.3, noNaN: true }), (x) => {
      expect(exponential(x)).toBeCloseTo(Math.exp(x), 5);
    }),
  );
});
