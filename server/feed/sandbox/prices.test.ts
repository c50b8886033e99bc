import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { makeBlocksHere } from "./block-maker";
import { bytesOf } from "./columns";
import { FORMULA_VERSION } from "./formula";
import { createSandboxPrices, type PriceSeries } from "./prices";

const MINUTES_PER_DAY = 1_440;
const NOON_2025 = Date.UTC(2025, 2, 10, 12, 30) / 60_000;
const NIGHT_2031 = Date.UTC(2031, 11, 25, 3, 59) / 60_000;
const ORDINARY = SANDBOX_LISTINGS.filter((listing) => listing.assetClass !== "test");
const anyMinute = fc.integer({ min: Date.UTC(2020, 0, 1) / 60_000, max: Date.UTC(2036, 0, 1) / 60_000 - 1 });
const anyOrdinary = fc.constantFrom(...ORDINARY.map(({ ticker }) => ticker));

function sandbox(seed = 1) {
  const catalogue = createSandboxCatalogue();
  const prices = createSandboxPrices({ catalogue, seed });
  const series = (ticker: string): PriceSeries => prices.series(ticker) ?? expect.fail(`${ticker} has no series`);
  return { catalogue, prices, series };
}

/** One minute in points: open, high, low, close, spread, count. */
function minuteOf(series: PriceSeries, minute: number): number[] | undefined {
  const rows = series.minutes(Math.floor(minute / MINUTES_PER_DAY));
  const i = minute % MINUTES_PER_DAY;
  if (rows === undefined || rows.count[i] === 0) return undefined;
  return [rows.open, rows.high, rows.low, rows.close, rows.spread, rows.count].map((column) => column[i] ?? Number.NaN);
}

describe("the same prices everywhere", () => {
  test("two instances of sandbox prices agree whatever the order of requests", () => {
    const [one, other] = [sandbox(), sandbox()];
    fc.assert(
      fc.property(fc.array(fc.tuple(anyOrdinary, anyMinute), { maxLength: 12 }), (questions) => {
        const asked = questions.map(([ticker, minute]) => one.series(ticker).ticks(minute));
        const backwards = questions.toReversed().map(([ticker, minute]) => other.series(ticker).ticks(minute));
        expect(backwards.toReversed()).toEqual(asked);
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    // Open, high, low, close and spread in points, and the number of ticks.
    ["EURUSD", NOON_2025, [109626, 109655, 109615, 109640, 5, 49]],
    ["USDJPY", NOON_2025, [143322, 143354, 143314, 143316, 8, 31]],
    ["EURDKK", NOON_2025, [748008, 748008, 748002, 748008, 59, 43]],
    ["XAUUSD", NOON_2025, [3163986, 3165279, 3163039, 3164882, 284, 37]],
    ["TESTMETAL", NOON_2025, [2355573, 2356088, 2353693, 2354036, 207, 26]],
    ["TESTGAP", NOON_2025, [106307, 106327, 106294, 106326, 4, 29]],
    ["GBPUSD", NIGHT_2031, [136047, 136051, 136041, 136051, 11, 13]],
  ] as const)("%s keeps its golden minute, so sandbox prices never change by accident", (ticker, minute, golden) => {
    expect(minuteOf(sandbox().series(ticker), minute)).toEqual(golden);
  });

  test("the golden ticks of a sandbox minute never change", () => {
    expect(sandbox().series("EURUSD").ticks(NOON_2025).slice(0, 3)).toEqual([
      { ticker: "EURUSD", time_msc: 1_741_609_800_104, bid: 1.09626, ask: 1.09631 },
      { ticker: "EURUSD", time_msc: 1_741_609_802_410, bid: 1.09629, ask: 1.09635 },
      { ticker: "EURUSD", time_msc: 1_741_609_803_009, bid: 1.09626, ask: 1.09633 },
    ]);
  });

  test("golden trading days name the version of the formula, so that days on disk never come from another one", async () => {
    const { series } = sandbox();
    const { make } = makeBlocksHere();
    const hash = createHash("sha256").update(String(FORMULA_VERSION));
    for (const ticker of ["EURUSD", "USDJPY", "EURDKK", "XAUUSD", "TESTGAP", "TESTFX", "TESTSTALE"]) {
      const rows = await make(series(ticker).inputs, { grain: "D1", block: 1_276 });
      hash.update(new Uint8Array(bytesOf(rows ?? expect.fail("no prices"))));
    }
    // When prices change, raise FORMULA_VERSION too.
    expect(hash.digest("hex").slice(0, 16)).toBe("1a34e1765df18a4a");
  });

  test("a different seed gives different sandbox prices", () => {
    const minute = Date.UTC(2026, 5, 1) / 60_000;
    expect(minuteOf(sandbox(2).series("EURUSD"), minute)).not.toEqual(minuteOf(sandbox(1).series("EURUSD"), minute));
  });

  test("sandbox days that leave the cache are recomputed identically", () => {
    const { series } = sandbox();
    const eurusd = series("EURUSD");
    const first = eurusd.minutes(20_000);
    expect(eurusd.minutes(20_000)).toBe(first);
    for (let day = 20_001; day <= 20_400; day++) eurusd.minutes(day);
    const again = eurusd.minutes(20_000);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });
});

describe("always on", () => {
  test("every ordinary sandbox ticker has prices in every minute of any year", () => {
    const { series } = sandbox();
    fc.assert(
      fc.property(anyOrdinary, anyMinute, (ticker, minute) => {
        const ticks = series(ticker).ticks(minute);
        expect(ticks.length).toBeGreaterThanOrEqual(5);
        expect(ticks.length).toBeLessThanOrEqual(60);
      }),
      { numRuns: 150 },
    );
  });

  test("the last sandbox tick at any instant is the newest tick up to that instant", () => {
    const { series } = sandbox();
    fc.assert(
      fc.property(anyOrdinary, anyMinute, fc.integer({ min: 0, max: 59_999 }), (ticker, minute, ms) => {
        const atMs = minute * 60_000 + ms;
        const tick = series(ticker).lastTick(atMs);
        const both = [...series(ticker).ticks(minute - 1), ...series(ticker).ticks(minute)];
        expect(tick).toEqual(both.findLast(({ time_msc }) => time_msc <= atMs));
      }),
      { numRuns: 60 },
    );
  });
});

describe("an operator's edits", () => {
  const added = {
    ...(SANDBOX_LISTINGS[0] ?? expect.fail("empty catalogue")),
    ticker: "ABCXYZ",
    base: "ABC",
    quote: "XYZ",
    digits: 2,
  };

  test("a listing of unknown currencies has sandbox prices of at least five figures", () => {
    const { catalogue, prices, series } = sandbox();
    expect(prices.series("ABCXYZ")).toBeUndefined();
    catalogue.put(added);
    expect(prices.tickers()).toContain("ABCXYZ");
    for (const tick of series("ABCXYZ").ticks(29_500_000)) expect(tick.bid).toBeGreaterThan(50);
  });

  test("changed digits of a listing apply to sandbox prices at once", () => {
    const { catalogue, series } = sandbox();
    catalogue.put(added);
    series("ABCXYZ").ticks(29_500_000);
    catalogue.put({ ...added, digits: 0 });
    for (const { bid, ask } of series("ABCXYZ").ticks(29_500_000)) expect([bid % 1, ask % 1]).toEqual([0, 0]);
  });
});
