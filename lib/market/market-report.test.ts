import { beforeEach, describe, expect, test } from "vitest";
import { CLOSURES_MAX_COUNT, FIRST_BARS_COUNT, SPARK_COUNT, SPARK_TOP } from "#lib/contract/markets";
import type { Venue } from "#lib/contract/primitives";
import { type Snapshot, snapshotExample } from "#lib/contract/snapshot";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Kline } from "#lib/domain/kline";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { watchedClock } from "#lib/testing/watched-clock";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { createTestMarket, testKlines } from "#server/testing/market";
import { createMemoryKlines } from "#server/testing/memory-klines";
import { createMarketsReport, type MarketsReport } from "./market-report";
import type { Market } from "./ports";

/** A Monday; Thanksgiving is its Thursday. */
const NOW_MS = Date.parse("2026-11-23T12:00:00Z");
const NOW_S = NOW_MS / 1_000;
const HALF_S = 30 * MINUTE_S;

let reads: string[];
/** The last price of EURUSD, and its klines that the view has. */
let quoted: Snapshot | undefined;
let newest: readonly Kline[];
let report: MarketsReport;

beforeEach(() => {
  reads = [];
  quoted = undefined;
  newest = [];
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
    view: {
      ...createTestMarket(venue, createSandboxCatalogue()).view,
      snapshot: (ticker) => (ticker === "EURUSD" ? quoted : undefined),
      recentKlines: (ticker, timeframe) => newest.filter((one) => one.ticker === ticker && one.timeframe === timeframe),
    },
    ...overrides,
  });
  const catalogue = createSandboxCatalogue();
  // The sandbox never closes; the live venue does.
  const real = { ...catalogue, calendar: () => catalogue.calendar("TESTMETAL") };
  report = createMarketsReport({ markets: { live: market("live", { catalogue: real }), sandbox: market("sandbox") }, clock });
});

describe("the list of markets", () => {
  test("has every instrument with its name, and its trading day as a line of whole numbers", async () => {
    const rows = await report.rows("sandbox");
    expect(rows.map(({ ticker }) => ticker)).toEqual(SANDBOX_LISTINGS.map(({ ticker }) => ticker));
    const euro = rows.find(({ ticker }) => ticker === "EURUSD");
    expect(euro).toMatchObject({ name: "Euro / US Dollar", pip_size: 0.0001 });
    // From Sunday 22:00, without a price to begin and to end with.
    expect(euro?.spark).toHaveLength(28);
    expect([euro?.spark[0], euro?.spark.at(-1)]).toEqual([0, SPARK_TOP]);
    expect(rows.find(({ ticker }) => ticker === "GBPUSD")?.spark).toEqual([]);
  });

  test("the line of a row begins at the close that its change is measured from, and ends at its price", async () => {
    quoted = { ...snapshotExample, time_msc: NOW_MS, close: 80, bid: 20, change_pct: -75 };
    const { spark = [] } = (await report.rows("sandbox")).find(({ ticker }) => ticker === "EURUSD") ?? {};
    expect(spark).toHaveLength(1 + 28 + 1);
    expect([spark[0], spark.at(-1)]).toEqual([SPARK_TOP, 0]);
  });

  test("on a weekend the line is that of the day of the last price", async () => {
    quoted = { ...snapshotExample, time_msc: NOW_MS - DAY_S * 1_000, close: null, bid: 20 };
    const { spark = [] } = (await report.rows("sandbox")).find(({ ticker }) => ticker === "EURUSD") ?? {};
    // Those read begin on Sunday at 12:00, and Monday's trading day on Sunday at 22:00.
    expect(spark).toHaveLength(20 + 1);
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
    expect(reads).toEqual(["H1", "M30", "W1", "MN1"].map((timeframe) => `sandbox EURUSD ${timeframe}`));
  });

  test("has the ranges of the trading week and month that hold its price, and none of an older one", async () => {
    const week = { time: Date.parse("2026-11-22T22:00:00Z") / 1_000, high: 1.2, low: 1.1 };
    const month = { time: Date.parse("2026-10-31T21:00:00Z") / 1_000, high: 1.3, low: 1 };
    newest = [
      { ...testKlines("EURUSD", "W1", week.time, 1, DAY_S)[0], ...week } as Kline,
      { ...testKlines("EURUSD", "MN1", month.time, 1, DAY_S)[0], ...month } as Kline,
    ];
    expect((await report.detail("sandbox", "EURUSD"))?.ranges).toEqual({ W1: week, MN1: month });
    quoted = { ...snapshotExample, time_msc: NOW_MS + 7 * DAY_S * 1_000 };
    expect((await report.detail("sandbox", "EURUSD"))?.ranges).toEqual({ W1: null, MN1: month });
  });

  test("lists a fortnight of closures of the venue that is asked for, day by day, with their reasons", async () => {
    expect(await report.detail("sandbox", "XAUUSD")).toMatchObject({ closures: [], in_live: true });
    const detail = await report.detail("live", "XAUUSD");
    const midnight = NOW_S - 12 * HOUR_S;
    const days = detail?.closures?.map(({ from }) => Math.floor((from - midnight) / DAY_S)) ?? [];
    expect([Math.min(...days), Math.max(...days)], "from the day before to the day after, for readers of all zones").toEqual([
      -1, 14,
    ]);
    const words = detail?.closures
      ?.filter(({ from }) => from >= midnight)
      .map(({ from, to, reason }) => {
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
