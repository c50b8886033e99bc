import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { aggregate } from "#lib/domain/kline";
import { createAlignment, TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_MS, HOUR_S } from "#lib/units";
import { makeBlocksHere } from "./block-maker";
import { createBlockStore } from "./block-store";
import { createSandboxKlines, HISTORY_START_S } from "./klines";
import { createSandboxPrices } from "./prices";

const ALL = Number.MAX_SAFE_INTEGER;
const NOW_MS = Date.UTC(2026, 10, 21, 5, 13, 27, 500);
const NOW_S = Math.floor(NOW_MS / 1000);
const TICKERS = ["EURUSD", "XAUUSD", "TESTGAP", "TESTFX", "TESTFLIP", "TESTSTALE"] as const;

const alignment = createAlignment();
const prices = createSandboxPrices({ catalogue: createSandboxCatalogue(), seed: 1 });

function storeAt(nowMs: number) {
  const store = createSandboxKlines({ prices, clock: manualClock(nowMs), alignment, blocks: createBlockStore(makeBlocksHere()) });
  const read = (
    ticker: string,
    timeframe: Timeframe,
    from: number,
    to: number,
    limit = ALL,
    end: "oldest" | "newest" = "oldest",
  ) => store.read({ ticker, timeframe, from, to, limit, end });
  return { ...store, read };
}

const { read, readAt, lastQuotes } = storeAt(NOW_MS);

/** The expected rows of a timeframe, aggregated from its M1 rows by the domain's own code. */
async function expected(ticker: string, timeframe: Timeframe, from: number, to: number) {
  const minutes = await read(ticker, "M1", alignment.openTime(timeframe, from), alignment.nextOpenTime(timeframe, to - 1));
  return aggregate(minutes, timeframe, alignment).filter(({ time }) => time >= from && time < to);
}

/** Instants with special cases: both clock changes in New York, the end of a year, the start of 2026, the current minute. */
const anyAnchor = fc.constantFrom(
  Date.UTC(2024, 2, 10, 7) / 1000,
  Date.UTC(2025, 10, 2, 6) / 1000,
  Date.UTC(2025, 11, 31, 22) / 1000,
  Date.UTC(2026, 0, 1) / 1000,
  Date.UTC(2026, 6, 14, 3) / 1000,
  NOW_S,
);

describe("windows", () => {
  test.each(TIMEFRAMES)("sandbox %s rows are the aggregates of their minutes, in any window", async (timeframe) => {
    // Long klines need many minutes for the comparison.
    const intervals = timeframe === "MN1" ? 2 : timeframe === "W1" ? 4 : 40;
    const span = TIMEFRAME_SECONDS[timeframe] * intervals;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...TICKERS),
        anyAnchor,
        fc.double({ min: -0.9, max: 0.9, noNaN: true }),
        fc.integer({ min: 1, max: span }),
        async (ticker, anchor, shift, length) => {
          const from = Math.round(anchor + shift * span);
          const rows = await read(ticker, timeframe, from, from + length);
          expect(rows).toEqual(await expected(ticker, timeframe, from, from + length));
        },
      ),
      { numRuns: timeframe === "MN1" || timeframe === "W1" ? 6 : 25 },
    );
  });

  test("a sandbox window over the limit keeps the rows of the requested end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...TICKERS),
        fc.constantFrom("M1", "M5", "H1", "H4", "D1" as const),
        anyAnchor,
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 60 }),
        async (ticker, timeframe, anchor, intervals, limit) => {
          const from = anchor - intervals * TIMEFRAME_SECONDS[timeframe];
          const all = await read(ticker, timeframe, from, anchor);
          expect(await read(ticker, timeframe, from, anchor, limit, "oldest")).toEqual(all.slice(0, limit));
          expect(await read(ticker, timeframe, from, anchor, limit, "newest")).toEqual(all.slice(-limit));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("a sandbox window returns the newest row even after a long silence", async () => {
    const [last] = await read("TESTSTALE", "M1", 0, NOW_S, 1, "newest");
    expect(last?.time).toBe(Date.UTC(2026, 0, 1) / 1000 - 60);
    const [friday] = await read("TESTFX", "M1", 0, NOW_S, 1, "newest");
    expect(friday?.time).toBe(Date.UTC(2026, 10, 20, 21, 59) / 1000);
  });

  test("a sandbox window is empty for an unknown ticker, one that was never quoted, or a reversed range", async () => {
    expect(await read("NOSUCH", "M1", 0, NOW_S)).toEqual([]);
    expect(await read("TESTMISSING", "D1", 0, NOW_S)).toEqual([]);
    expect(await read("EURUSD", "M1", NOW_S, NOW_S - HOUR_S)).toEqual([]);
  });
});

describe("the clock", () => {
  test("a sandbox M1 kline exists as soon as its minute has passed, and not earlier", async () => {
    const minuteS = Math.floor(NOW_S / 60) * 60;
    const newest = async (nowMs: number) => (await storeAt(nowMs).read("EURUSD", "M1", 0, ALL, 1, "newest"))[0]?.time;
    expect(await newest((minuteS + 60) * 1000 - 1)).toBe(minuteS - 60);
    expect(await newest((minuteS + 60) * 1000)).toBe(minuteS);
  });

  test("a longer sandbox kline that is still open contains only its completed minutes", async () => {
    const openS = Math.floor(NOW_S / HOUR_S) * HOUR_S;
    const [running] = await read("EURUSD", "H1", openS, ALL);
    const minutes = await read("EURUSD", "M1", openS, ALL);
    expect(minutes).toHaveLength(13);
    expect(running?.tick_volume).toBe(minutes.reduce((sum, row) => sum + row.tick_volume, 0));
    expect(running?.close).toBe(minutes.at(-1)?.close);
  });

  test("the sandbox never returns klines from the future", async () => {
    for (const timeframe of TIMEFRAMES) expect(await read("EURUSD", timeframe, NOW_S, ALL)).toEqual([]);
  });
});

describe("history", () => {
  test("sandbox history goes back to the first trading day of 2020 in every timeframe", async () => {
    const first = await Promise.all(TIMEFRAMES.map(async (timeframe) => (await read("EURUSD", timeframe, 0, ALL, 1))[0]?.time));
    // The week of the first trading day opened on the Sunday before.
    const weekS = Date.UTC(2019, 11, 29, 22) / 1000;
    const start = (timeframe: Timeframe) => (timeframe === "W1" ? weekS : alignment.openTime(timeframe, HISTORY_START_S));
    expect(first).toEqual(TIMEFRAMES.map(start));
    expect(HISTORY_START_S).toBeLessThanOrEqual(Date.UTC(2020, 0, 1) / 1000);
  });

  test("sandbox history has every minute of ninety days for an ordinary ticker", async () => {
    const rows = await read("GBPJPY", "M1", NOW_S - 90 * 24 * HOUR_S, NOW_S);
    expect(rows).toHaveLength(90 * 1_440 - 1);
  });
});

describe("last quotes", () => {
  test("sandbox last quotes are the last tick of each ticker, with the ask range of its trading day", async () => {
    const quotes = await lastQuotes(NOW_MS);
    for (const ticker of TICKERS) {
      const series = prices.series(ticker) ?? expect.fail(`${ticker} has no series`);
      const last = series.lastTick(NOW_MS) ?? expect.fail("no tick");
      const dayOpen = alignment.tradingDayOpen(Math.floor(last.time_msc / 1000)) / 60;
      const asks: number[] = [];
      for (let minute = dayOpen; minute * 60_000 <= last.time_msc; minute++)
        for (const tick of series.ticks(minute)) if (tick.time_msc <= last.time_msc) asks.push(tick.ask);
      const { time_msc, bid, ask } = last;
      expect(quotes.get(ticker)).toEqual({ ticker, time_msc, bid, ask, ask_high: Math.max(...asks), ask_low: Math.min(...asks) });
    }
  });

  test("sandbox last quotes skip tickers that were never quoted, and contain nothing from the future", async () => {
    const quotes = await lastQuotes(NOW_MS + DAY_MS);
    expect(quotes.has("TESTMISSING")).toBe(false);
    expect(quotes.has("TESTNOTREADY")).toBe(false);
    for (const { time_msc } of quotes.values()) expect(time_msc).toBeLessThanOrEqual(NOW_MS);
  });
});

test("sandbox klines as of an instant are those that a service answered then, whatever the time is now", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TICKERS),
      fc.constantFrom(...TIMEFRAMES),
      anyAnchor,
      fc.integer({ min: -90_000, max: 90_000 }),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom("oldest", "newest" as const),
      async (ticker, timeframe, anchor, shift, limit, end) => {
        const atS = Math.min(NOW_S, anchor + shift);
        const from = end === "newest" ? 0 : atS - TIMEFRAME_SECONDS[timeframe] * 4;
        const then = await storeAt(atS * 1_000).read(ticker, timeframe, from, atS + 1, limit, end);
        const asked = { ticker, timeframe, from, to: atS + 1, limit, end };
        expect(await readAt(asked, atS)).toEqual(then);
      },
    ),
    { numRuns: 60 },
  );
  expect(
    await readAt({ ticker: "EURUSD", timeframe: "MN1", from: 0, to: 4e9, limit: ALL, end: "oldest" }, HISTORY_START_S),
  ).toEqual([]);
  expect(await readAt({ ticker: "NOTHING", timeframe: "M1", from: 0, to: 4e9, limit: ALL, end: "oldest" }, NOW_S)).toEqual([]);
});

test("the days that a sandbox kline of the past takes are admitted first", async () => {
  const asked = { ticker: "XAUUSD", timeframe: "H1", from: 0, to: 4e9, limit: 1, end: "newest" } as const;
  const refused = new Error("too many days");
  const admitDays = () => {
    throw refused;
  };
  const fresh = storeAt(NOW_MS);
  await expect(fresh.readAt({ ...asked, admitDays }, Date.UTC(2024, 4, 6, 10, 20) / 1000)).rejects.toBe(refused);
});
