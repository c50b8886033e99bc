import { afterAll, beforeAll, expect, test } from "vitest";
import { createPartitions } from "#server/store/klines/partitions";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { dropRows } from "./drop-rows";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test("rows of an earlier release are dropped when no ticker waits for its conversion, and their room is freed", async () => {
  await createPartitions(db.pool)(1_767_225_600, 1_767_225_600);
  await db.pool.query(`INSERT INTO kline (venue, ticker, timeframe, time, open, high, low, close, tick_volume)
    SELECT 'live', 'EURUSD', 'M1', 1767225600 + n * 60, 1, 1, 1, 1, 1 FROM generate_series(1, 10000) AS n`);
  await db.pool.query("INSERT INTO history_unconverted VALUES ('XAUUSD')");
  const rows = async () => (await db.pool.query("SELECT FROM kline")).rowCount;
  expect(await dropRows(db)).toEqual({ waiting: ["XAUUSD"], bytes: 0 });
  expect(await rows()).toBe(10_000);
  await db.pool.query("DELETE FROM history_unconverted");
  const { waiting, bytes } = await dropRows(db);
  expect([waiting, await rows()]).toEqual([[], 0]);
  expect(bytes).toBeGreaterThan(500_000);
  expect(await dropRows(db)).toMatchObject({ waiting: [] });
});
