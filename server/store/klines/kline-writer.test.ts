import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { testKline } from "#server/testing/market";
import { createKlineStore, type KlineTable } from "./kline-store";
import { writeRows } from "./kline-writer";

const TIME_S = 1_767_225_600;

let db: TestDatabase;
let table: KlineTable;
beforeAll(async () => {
  db = await testDatabase();
  table = createKlineStore(db);
});
afterAll(() => db.close());

/** Klines have so many ticks of a journal, and as many are kept. */
const upTo = (journal: number, ticks: number, kept = ticks) => ({ stored: { journal, ticks }, kept: { journal, ticks: kept } });
const row = (close: number) => ({ ...testKline("EURUSD", "M1", TIME_S), close });
const stored = async () =>
  (await table.read({ ticker: "EURUSD", timeframe: "M1", from: 0, to: 2e9, limit: 1, end: "newest" })).at(0)?.close;

test("a later writer knows what is stored of the journal, and those before it change nothing any more", async () => {
  const first = await table.beginWriter(null, 0);
  expect(await first?.write([row(1.1)], [], [], upTo(first.number, 7, 5))).toBe(true);
  const second = await table.beginWriter(null, 0);
  expect(second).toMatchObject({ places: upTo(first?.number ?? 0, 7, 5) });
  expect(second?.number).toBeGreaterThan(first?.number ?? 0);
  expect(await first?.write([row(1.2)], [], [], upTo(first.number, 8))).toBe(false);
  expect(await stored()).toBe(1.1);
  expect(await table.beginWriter(null, 0)).toMatchObject({ places: { stored: { ticks: 7 } } });
});

test("what a process of the release before has stored stands for the ticks that are kept", async () => {
  const writer = await table.beginWriter(null, 0);
  await writer?.write([], [], [], upTo(writer.number, 7, 5));
  await db.pool.query("UPDATE venue_writer SET (writer, write, journal, ticks) = (writer + 1, 1, writer + 1, 3)");
  expect((await table.beginWriter(null, 0))?.places).toEqual(upTo((writer?.number ?? 0) + 1, 3));
});

test("a write that was given up and repeated changes nothing when it is done at last", async () => {
  const writer = await table.beginWriter(null, 0);
  const { number = 0 } = writer ?? {};
  await db.pool.query("UPDATE kline_tail SET close = 0");
  const hung = { token: null, writer: number, write: 1, ...upTo(number, 1) };
  expect(await writeRows(db.pool, "live", [[row(1.4)], [], []], { ...hung, ...upTo(number, 2), write: 2 })).toBe(true);
  expect(await writeRows(db.pool, "live", [[row(1.3)], [], []], hung)).toBe(false);
  expect(await stored()).toBe(1.4);
});

test("a write that is on its way when another writer begins is stored before it or not at all", async () => {
  const before = await table.beginWriter(null, 0);
  const holder = await db.pool.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT FROM venue_writer WHERE venue = 'live' FOR UPDATE");
  const waiting = async (count: number) => {
    const blocked =
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    while ((await db.pool.query<{ count: number }>(blocked)).rows[0]?.count !== count);
  };
  const next = table.beginWriter(null, 0);
  await waiting(1);
  const late = before?.write([row(1.5)], [], [], upTo(before.number, 1));
  await waiting(2);
  await holder.query("COMMIT");
  holder.release();
  expect((await next)?.number).toBe((before?.number ?? 0) + 1);
  expect(await late).toBe(false);
  expect(await stored()).not.toBe(1.5);
});

test("a writer has a higher number than any that its caller knows: the database may have been restored", async () => {
  expect((await table.beginWriter(null, 1_000))?.number).toBe(1_001);
});

test("without the lease nobody can begin to write", async () => {
  await db.pool.query("INSERT INTO venue_lease (venue, token, beat) VALUES ('live', 5, 0)");
  const { number = 0 } = (await table.beginWriter(null, 0)) ?? {};
  expect(await table.beginWriter(4, 0)).toBeNull();
  const holder = await table.beginWriter(5, 0);
  expect(holder?.number).toBe(number + 1);
  await db.pool.query("UPDATE venue_lease SET token = 6");
  expect(await holder?.write([row(1.6)], [], [], upTo(0, 0))).toBe(false);
  expect(await stored()).not.toBe(1.6);
});
