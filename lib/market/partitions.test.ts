import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { DAY_S, HOUR_S } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { testKline } from "#server/testing/market";
import { createKlineStore, type KlineTable } from "./kline-store";
import { createPartitions, dropShortKlines, expiredYears } from "./partitions";

const second = (year: number, month = 0, day = 1) => Date.UTC(year, month, day) / 1000;
const KEPT = ["D1", "W1", "MN1"];

let db: TestDatabase;
let store: KlineTable;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db.pool, "live");
});
afterAll(() => db.close());

/** A kline of each timeframe at the start and the end of a year, of two tickers. */
const wholeYear = (year: number): Kline[] =>
  ["EURUSD", "XAUUSD"].flatMap((ticker) =>
    TIMEFRAMES.flatMap((timeframe) => [second(year), second(year, 11, 31)].map((time) => testKline(ticker, timeframe, time))),
  );

/** Timeframes of which a ticker has klines in a year. */
async function held(year: number, ticker = "EURUSD"): Promise<string[]> {
  const window = { ticker, from: second(year), to: second(year + 1), limit: 10, end: "oldest" } as const;
  const found = await Promise.all(
    TIMEFRAMES.map(async (timeframe) => [timeframe, (await store.read({ ...window, timeframe })).length]),
  );
  return found.filter(([, count]) => count === 2).map(([timeframe]) => String(timeframe));
}

async function partitions(): Promise<string[]> {
  const { rows } = await db.pool.query(
    "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'kline'::regclass",
  );
  return rows.map(({ name }) => name);
}

/** Holds a lock on the klines until it is released. */
async function holding(statement: string) {
  const client = await db.pool.connect();
  await client.query("BEGIN");
  await client.query(statement);
  return async () => {
    await client.query("COMMIT");
    client.release();
  };
}

describe("expired years", () => {
  beforeAll(() => store.writeKlines([2003, 2004, 2005].flatMap(wholeYear)));

  test("a year expires when its end is before the retention time, to the second", async () => {
    const expired = (nowS: number, years: number) => expiredYears(db.pool, nowS, years);
    expect(await expired(second(2006, 5), 2)).toEqual([2003]);
    expect(await expired(second(2007) - 1, 2)).toEqual([2003]);
    expect(await expired(second(2007), 2)).toEqual([2003, 2004]);
    expect(await expired(second(2006, 5), 3)).toEqual([]);
  });

  test("no year expires without a retention time, nor a year with nothing to drop", async () => {
    expect(await expiredYears(db.pool, second(2100), 0)).toEqual([]);
    await createPartitions(db.pool)(second(2001), second(2001));
    await store.writeKlines([testKline("EURUSD", "D1", second(2002))]);
    expect((await expiredYears(db.pool, second(2006), 1)).filter((year) => year < 2003)).toEqual([]);
  });
});

describe("dropping the short klines of a year", () => {
  test("dropping keeps days, weeks, months and other years, and the year can be written and dropped again", async () => {
    await store.writeKlines([2009, 2010, 2011].flatMap(wholeYear));
    for (let time = 1; time <= 2; time += 1) {
      expect(await held(2010)).toEqual([...TIMEFRAMES]);
      expect(await dropShortKlines(db.pool, 2010)).toBe("dropped");
      for (const ticker of ["EURUSD", "XAUUSD"]) expect(await held(2010, ticker)).toEqual(KEPT);
      expect(await expiredYears(db.pool, second(2012), 1)).not.toContain(2010);
      for (const year of [2009, 2011]) expect(await held(year)).toEqual([...TIMEFRAMES]);
      await store.writeKlines(wholeYear(2010));
    }
    const { rows } = await db.pool.query("SELECT relname FROM pg_class WHERE relname LIKE 'kline\\_y2010%' ORDER BY 1");
    expect(rows.map(({ relname }) => relname)).toEqual(["kline_y2010", "kline_y2010_pkey"]);
  });

  test("dropping frees disk space", async () => {
    const size = async () => Number((await db.pool.query("SELECT pg_total_relation_size('kline_y2012') AS size")).rows[0].size);
    await store.copyKlines(Array.from({ length: 20_000 }, (_, index) => testKline("EURUSD", "M1", second(2012) + index * 60)));
    const before = await size();
    expect(await dropShortKlines(db.pool, 2012)).toBe("dropped");
    expect(await size()).toBeLessThan(before / 20);
  });

  test("dropping disturbs neither readers nor writers, and dropped rows never come back", async () => {
    await store.copyKlines([
      ...Array.from({ length: 50_000 }, (_, index) => testKline("GBPUSD", "M1", second(2014) + index * 60)),
      ...Array.from({ length: 300 }, (_, index) => testKline("GBPUSD", "D1", second(2014) + index * DAY_S)),
    ]);
    const read = async (timeframe: "M1" | "D1") =>
      (await store.read({ ticker: "GBPUSD", timeframe, from: 0, to: 4e9, limit: 500, end: "oldest" })).length;
    let over = false;
    let written = 0;
    const days: number[] = [];
    const minutes: number[] = [];
    const slowest = { ms: 0 };
    async function timed(work: () => Promise<unknown>): Promise<void> {
      const begun = performance.now();
      await work();
      slowest.ms = Math.max(slowest.ms, performance.now() - begun);
    }
    async function reading(): Promise<void> {
      while (!over) {
        await timed(async () => days.push(await read("D1")));
        await timed(async () => minutes.push(await read("M1")));
      }
    }
    async function writing(): Promise<void> {
      for (; !over; written += 1)
        await timed(() => store.writeKlines([testKline("GBPUSD", "H1", second(2026) + written * HOUR_S)]));
    }
    // Creates the partition, so that the timed writes need not.
    await store.writeKlines([testKline("GBPUSD", "H1", second(2026))]);
    const busy = [reading(), writing()];
    let outcome = await dropShortKlines(db.pool, 2014);
    for (let attempt = 0; attempt < 20 && outcome === "busy"; attempt += 1) outcome = await dropShortKlines(db.pool, 2014);
    const readBefore = minutes.length;
    while (minutes.length < readBefore + 3) await read("D1");
    over = true;
    await Promise.all(busy);
    expect(outcome).toBe("dropped");
    expect(new Set(days)).toEqual(new Set([300]));
    expect(minutes.join(" ")).toMatch(/^(500 )*0( 0)*$/);
    expect(written).toBeGreaterThan(0);
    expect(slowest.ms).toBeLessThan(5_000);
    const hours = await store.read({ ticker: "GBPUSD", timeframe: "H1", from: 0, to: 4e9, limit: 5_000, end: "oldest" });
    expect(hours).toHaveLength(Math.min(written, 5_000));
  });

  test.each([
    ["a long-running reader", "SELECT FROM kline LIMIT 1"],
    ["a writer of that year", "UPDATE kline_y2016 SET close = close"],
  ])("dropping backs off for %s and leaves nothing behind", async (_what, statement) => {
    await store.writeKlines(wholeYear(2016));
    const letGo = await holding(statement);
    expect(await dropShortKlines(db.pool, 2016)).toBe("busy");
    expect(await held(2016)).toEqual([...TIMEFRAMES]);
    await letGo();
    const { rows } = await db.pool.query("SELECT to_regclass('kline_y2016_rest') AS left");
    expect(rows).toEqual([{ left: null }]);
  });

  test("only one process drops at a time", async () => {
    await store.writeKlines(wholeYear(2018));
    const outcomes = await Promise.all([dropShortKlines(db.pool, 2018), dropShortKlines(db.pool, 2018)]);
    expect(outcomes.sort()).toEqual(["dropped", "elsewhere"]);
    expect(await held(2018)).toEqual(KEPT);
  });

  test("dropping completes what a killed attempt left unfinished", async () => {
    await store.writeKlines(wholeYear(2020));
    await db.pool.query("CREATE TABLE kline_y2020_rest (LIKE kline INCLUDING ALL)");
    expect(await dropShortKlines(db.pool, 2020)).toBe("dropped");
    expect(await held(2020)).toEqual(KEPT);
  });

  test("a failed drop changes nothing", async () => {
    const before = await partitions();
    await expect(dropShortKlines(db.pool, 1980)).rejects.toThrow(/kline_y1980/);
    expect(await partitions()).toEqual(before);
  });
});
