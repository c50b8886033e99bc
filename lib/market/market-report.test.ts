import { beforeEach, describe, expect, test } from "vitest";
import { CLOSURES_MAX_COUNT, FIRST_BARS_COUNT, SPARK_COUNT, SPARK_TOP } from "#lib/contract/markets";
import type { Venue } from "#lib/contract/primitives";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { createMemoryKlines } from "#lib/testing/memory-klines";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { watchedClock } from "#lib/testing/watched-clock";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { createTestMarket, testKlines } from "#server/testing/market";
import { createMarketsReport, type MarketsReport } from "./market-report";
import type { Market } from "./ports";

/** A Monday; Thanksgiving is its Thursday. */
const NOW_MS = Date.parse("2026-11-23T12:00:00Z");
const NOW_S = NOW_MS / 1_000;
const HALF_S = 30 * MINUTE_S;

let reads: string[];
let report: MarketsReport;

beforeEach(() => {
  reads = [];
  const clock = watchedClock();
  clock.set(NOW_MS);
  const halves = testKlines("EURUSD", "M30", NOW_S - 60 * HALF_S, 60, HALF_S).map((kline, index) => ({
    ...kline,
    close: 1 + index,
  }));
  const store = createMemoryKlines([...halves, ...testKlines("EURUSD", "H1", NOW_S - 200 * HOUR_S, 200, HOUR_S)]);
  const market = (venue: Venue, overrides: Partial<Market> = {}): Market => ({
    ...createTestMarket(venue, createSandboxCatalogue()),
    store: {
      ...store,
      async read(query) {
        reads.push(`${venue} ${query.ticker} ${query.timeframe}`);
        return store.read(query);
      },
    },
    ...overrides,
  });
  report = createMarketsReport({ markets: { live: market("live"), sandbox: market("sandbox") }, clock });
});

describe("the list of markets", () => {
  test("has every instrument with its name, and the last 24 hours as a line of whole numbers", async () => {
    const rows = await report.rows("sandbox");
    expect(rows.map(({ ticker }) => ticker)).toEqual(SANDBOX_LISTINGS.map(({ ticker }) => ticker));
    const euro = rows.find(({ ticker }) => ticker === "EURUSD");
    expect(euro).toMatchObject({ name: "Euro / US Dollar", pip_size: 0.0001 });
    expect(euro?.spark).toHaveLength(SPARK_COUNT);
    expect([euro?.spark[0], euro?.spark.at(-1)]).toEqual([0, SPARK_TOP]);
    expect(rows.find(({ ticker }) => ticker === "GBPUSD")?.spark).toEqual([]);
  });

  test("reads each series once, however many visitors come", async () => {
    for (let visit = 0; visit < 20; visit += 1) await report.rows("sandbox");
    expect(reads).toHaveLength(SANDBOX_LISTINGS.length);
    expect(new Set(reads).size).toBe(SANDBOX_LISTINGS.length);
  });
});

describe("the page of a market", () => {
  test("has bounded klines and spreads, and does not exist for an unknown ticker", async () => {
    const detail = await report.detail("sandbox", "EURUSD");
    expect(detail?.bars).toHaveLength(FIRST_BARS_COUNT);
    expect(detail?.bars.at(-1)?.[0]).toBe(NOW_S - HOUR_S);
    expect(detail?.spreads).toHaveLength(SPARK_COUNT);
    expect(detail?.instrument.ticker).toBe("EURUSD");
    expect(await report.detail("sandbox", "NOPE")).toBeUndefined();
    expect(reads).toEqual(["sandbox EURUSD H1", "sandbox EURUSD M30"]);
  });

  test("lists the closures of a fortnight day by day with their reasons, from the live venue's calendar", async () => {
    const detail = await report.detail("sandbox", "TESTMETAL");
    expect(detail?.closures_of).toBe("live");
    const midnight = NOW_S - 12 * HOUR_S;
    const words = detail?.closures?.map(({ from, to, reason }) => {
      const day = Math.floor((from - midnight) / DAY_S);
      return `${day} ${(from - midnight) / HOUR_S - 24 * day}–${(to - midnight) / HOUR_S - 24 * day} ${reason}`;
    });
    expect(words?.slice(0, 7)).toEqual([
      "0 22–23 daily_break",
      "1 22–23 daily_break",
      "2 22–23 daily_break",
      "3 19.5–23 early_close",
      "4 19.75–24 early_close",
      "5 0–24 weekend",
      "6 0–23 weekend",
    ]);
    expect(detail?.hours?.open.length).toBeGreaterThan(200);
  });

  test("says nothing about a calendar that is missing, or that flips more often than can be listed", async () => {
    expect(await report.detail("sandbox", "TESTUNKNOWN")).toMatchObject({ closures: null, hours: null });
    expect(await report.detail("sandbox", "TESTFLIP")).toMatchObject({ closures: null, hours: null });
    const metals = await report.detail("sandbox", "TESTMETAL");
    expect(metals?.closures?.length).toBeLessThanOrEqual(CLOSURES_MAX_COUNT);
  });
});
