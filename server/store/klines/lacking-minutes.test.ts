import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { collectingLog } from "#lib/testing/collecting-log";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { readRange } from "#server/store/history/minutes";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeLayer, storeTail } from "#server/testing/layered";
import { testKlines } from "#server/testing/market";
import {
  followLacking,
  forgetMended,
  LACKING_MAX_RANGES,
  lackingAmong,
  lackingRanges,
  minutesTouched,
  noteLacking,
} from "./lacking-minutes";

const START_S = 1_767_225_600;
const START_MS = START_S * SECOND_MS;
const minute = (index: number) => START_S + index * 60;
const range = (from: number, to: number, ticker = "EURUSD") =>
  ({ ticker, from: minute(from), to: minute(to), reason: "stopped" }) as const;

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  for (const table of ["kline_tail", "history_layer", "history_visible", "lacking_minutes", "venue_lease"])
    await db.pool.query(`DELETE FROM ${table}`);
  await storeTail(db, testKlines("EURUSD", "M1", START_S, 10, 60));
});

function follow(lines: Record<string, unknown>[] = []) {
  const clock = manualClock(START_MS);
  return followLacking({ db, clock, log: collectingLog(lines, "warn") }).then((lacking) => ({ clock, lacking }));
}

test("a range of instants has all minutes that it touches", () => {
  expect(minutesTouched(START_MS + 1, START_MS + 60_001)).toEqual({ from: minute(0), to: minute(2) });
  expect(minutesTouched(START_MS, START_MS + 60_000)).toEqual({ from: minute(0), to: minute(1) });
});

test("klines that were recorded in part are known, those that an import wrote and other tickers are not", async () => {
  await noteLacking(db.pool, null, [range(2, 5), range(8, 20), range(0, 10, "XAUUSD")]);
  await storeLayer(db, {
    ticker: "EURUSD",
    timeframe: "M1",
    layer: 1,
    klines: testKlines("EURUSD", "M1", minute(3), 1, 60),
    knownMs: 1,
  });
  const { lacking } = await follow();
  expect(await lacking.minutes("EURUSD", minute(0), minute(30))).toEqual([2, 4, 8, 9].map(minute));
  expect(await lacking.minutes("EURUSD", minute(4), minute(9))).toEqual([4, 8].map(minute));
  expect(await lacking.minutes("XAUUSD", minute(0), minute(30))).toEqual([]);
  const span = { from: minute(0), to: minute(30) };
  const { rows } = await readRange(db.pool, db.segments, { ticker: "EURUSD", timeframe: "M1", ...span });
  expect(lackingAmong(rows, await lackingRanges(db, "EURUSD", span))).toEqual([
    { reason: "stopped", first: minute(8), last: minute(9), rows: 2 },
    { reason: "stopped", first: minute(2), last: minute(4), rows: 2 },
  ]);
  await lacking.stop();
});

test("what another process notes is known soon, and while the database is away the last state counts", async () => {
  const { clock, lacking } = await follow();
  const before = lacking.revision();
  expect(await lacking.minutes("EURUSD", minute(0), minute(9))).toEqual([]);
  await noteLacking(db.pool, null, [range(0, 1), range(0, 2)]);
  await clock.advance(10 * SECOND_MS);
  await expect.poll(() => lacking.revision()).toBe(before + 1);
  expect(await lacking.minutes("EURUSD", minute(0), minute(9))).toEqual([0, 1].map(minute));
  await lacking.stop();
});

test("ranges whose klines are mended are forgotten after a day, others stay, and their number has a limit", async () => {
  await noteLacking(db.pool, null, [range(2, 3), range(50, 60)]);
  const kept = async () =>
    (await db.pool.query("SELECT from_s::float8 AS from FROM lacking_minutes ORDER BY 1")).rows.map((row) => row.from);
  expect(await kept()).toEqual([2, 50].map(minute));
  await forgetMended(db, START_MS + DAY_MS);
  expect(await kept()).toEqual([2, 50].map(minute));
  await forgetMended(db, START_MS + 2 * DAY_MS);
  expect(await kept()).toEqual([minute(2)]);
  const many = Array.from({ length: LACKING_MAX_RANGES }, (_, index) => range(100 + index, 101 + index));
  await noteLacking(db.pool, null, many);
  expect((await kept()).length).toBe(LACKING_MAX_RANGES);
  expect((await kept())[0]).toBe(minute(100));
});

test("without the lease nothing is noted", async () => {
  await db.pool.query("INSERT INTO venue_lease (venue, token, beat) VALUES ('live', 5, 0)");
  await noteLacking(db.pool, 4, [range(0, 1)]);
  expect((await db.pool.query("SELECT FROM lacking_minutes")).rowCount).toBe(0);
  await noteLacking(db.pool, 5, [range(0, 1)]);
  expect((await db.pool.query("SELECT FROM lacking_minutes")).rowCount).toBe(1);
});
