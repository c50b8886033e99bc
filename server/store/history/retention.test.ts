import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { DAY_S } from "#lib/units";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeFeed, storeLayer } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { dropExpired } from "./retention";

const second = (year: number, month = 0, day = 1, hour = 0) => Date.UTC(year, month, day, hour) / 1000;
const KEPT: readonly Timeframe[] = ["D1", "W1", "MN1"];
const alignment = createAlignment();

let db: TestDatabase;
let store: KlineTable;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
});
afterAll(() => db.close());
beforeEach(() => db.pool.query("TRUNCATE history_layer, history_visible, history_derived"));

const read = (ticker: string, timeframe: Timeframe) =>
  store.read({ ticker, timeframe, from: 0, to: 4e9, limit: 100_000, end: "oldest" });

/** Some minutes on each of the last days of a year and the first days of the next. */
const around = (ticker: string, year: number): Kline[] =>
  Array.from({ length: 12 }, (_, day) =>
    [0, 1, 2].map((minute) =>
      testKline(ticker, "M1", second(year + 1) + (day - 6) * DAY_S + 36_000 + minute * 60, 1 + day / 100),
    ),
  ).flat();

test("a year is dropped when its end is before the retention time, to the second, and none without a retention time", async () => {
  await storeFeed(
    db,
    [2003, 2004, 2005].map((year) => testKline("GBPUSD", "M1", second(year, 5))),
  );
  const years = async () => (await read("GBPUSD", "M1")).map(({ time }) => new Date(time * 1_000).getUTCFullYear());
  expect(await dropExpired(db, second(2100) * 1_000, 0)).toEqual([]);
  expect(await dropExpired(db, second(2006) * 1_000 - 1, 2)).toEqual([]);
  expect(await dropExpired(db, second(2006) * 1_000, 2)).toEqual(["GBPUSD"]);
  expect(await years()).toEqual([2004, 2005]);
  expect(await dropExpired(db, second(2007) * 1_000 - 1, 2)).toEqual([]);
  expect(await dropExpired(db, second(2007) * 1_000, 2)).toEqual(["GBPUSD"]);
  expect(await years()).toEqual([2005]);
});

test("days, weeks and months stay as they were, also those at the border of the year, and win over imported ones", async () => {
  await storeFeed(db, around("EURUSD", 2010));
  const before = new Map<Timeframe, Kline[]>();
  for (const timeframe of TIMEFRAMES) before.set(timeframe, await read("EURUSD", timeframe));
  expect(await dropExpired(db, second(2013) * 1_000, 2)).toEqual(["EURUSD"]);
  for (const timeframe of TIMEFRAMES) {
    const left = KEPT.includes(timeframe)
      ? before.get(timeframe)
      : before.get(timeframe)?.filter(({ time }) => alignment.nextOpenTime(timeframe, time) > second(2011));
    const found = await read("EURUSD", timeframe);
    // An H4 kline can span the border; what is left of it is made of the minutes that are left.
    expect(found.map(({ time }) => time)).toEqual(left?.map(({ time }) => time));
    if (timeframe !== "H4") expect(found).toEqual(left);
  }
  const [day] = before.get("D1") ?? [];
  const imported = { ...testKline("EURUSD", "D1", day?.time ?? 0, 9), tick_volume: 99 };
  await storeLayer(db, { ticker: "EURUSD", timeframe: "D1", layer: 5, klines: [imported], knownMs: 1 });
  expect((await read("EURUSD", "D1"))[0]).toEqual(day);
});

test("imported hours are dropped, and imported days stay", async () => {
  const at = alignment.openTime("D1", second(2000, 5, 6, 10));
  const hour = testKline("AUDUSD", "H1", at);
  const day = testKline("AUDUSD", "D1", at);
  for (const kline of [hour, day])
    await storeLayer(db, { ticker: "AUDUSD", timeframe: kline.timeframe, layer: 6, klines: [kline], knownMs: 1 });
  expect(await read("AUDUSD", "H1")).toEqual([hour]);
  expect(await dropExpired(db, second(2013) * 1_000, 2)).toEqual(["AUDUSD"]);
  expect([await read("AUDUSD", "H1"), await read("AUDUSD", "D1")]).toEqual([[], [day]]);
  expect(await dropExpired(db, second(2013) * 1_000, 2)).toEqual([]);
});

test("a ticker whose history another command changes is dropped later", async () => {
  const rows = around("USDJPY", 2010);
  await storeFeed(db, rows);
  const holder = await db.pool.connect();
  await holder.query("SELECT pg_advisory_lock($1, hashtext($2))", [0x7469636b, "USDJPY"]);
  expect(await dropExpired(db, second(2013) * 1_000, 1)).toEqual([]);
  await holder.query("SELECT pg_advisory_unlock_all()");
  holder.release();
  expect(await dropExpired(db, second(2013) * 1_000, 1)).toEqual(["USDJPY"]);
  expect(await read("USDJPY", "M1")).toEqual([]);
  expect(await read("USDJPY", "D1")).toEqual(aggregate(rows, "D1", alignment));
});
