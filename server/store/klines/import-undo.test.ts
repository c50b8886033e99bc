import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { inTransaction } from "#server/store/history/transaction";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { storeTail } from "#server/testing/layered";
import { type HistoryAdmin, redoImport, tryUndone, undoImport } from "./import-undo";
import { addCounts, createTrial, NO_KLINES, partOf, storeBatch } from "./kline-batches";
import { createKlineStore, type KlineTable } from "./kline-store";

/** Monday before a month and a year end. */
const START_S = Date.UTC(2025, 11, 29, 21, 50) / 1000;
const clock = manualClock(Date.UTC(2026, 5, 1));

let db: TestDatabase;
let store: KlineTable;
let admin: HistoryAdmin;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
  admin = { db, clock, record: async () => undefined };
});
afterAll(() => db.close());

const minute = (ticker: string, slot: number, value: number): Kline => ({
  type: "kline",
  ticker,
  timeframe: "M1",
  time: START_S + slot * 60,
  tick_volume: value + 1,
  spread: value === 1 ? null : 0.0001,
  open: 1 + value / 10,
  high: 1.5 + value / 10,
  low: 0.5,
  close: 1.2,
  real_volume: value % 2 === 0 ? null : value,
});

const beginBatch = () => beginTestImport({ db, clock });

/** A batch of several writes, as an import stores them. @returns its number */
async function importBatch(parts: readonly (readonly Kline[])[]): Promise<number> {
  const number = await beginBatch();
  for (const part of parts) await inTransaction(db.pool, (client) => storeBatch(client, db.segments, number, part, clock.now()));
  return number;
}

const stored = (ticker: string, timeframe: (typeof TIMEFRAMES)[number]) =>
  store.read({ ticker, timeframe, from: 0, to: 4_000_000_000, limit: 100_000, end: "oldest" });

test("each kline of an import counts once: new, already there, overwritten, repeated or conflicting, in a trial too", async () => {
  const first = [0, 1, 2].map((slot) => minute("EURUSD", slot, 0));
  const begun = await importBatch([first]);
  const parts = [
    [minute("EURUSD", 1, 0), minute("EURUSD", 2, 1), minute("EURUSD", 3, 0), minute("EURUSD", 3, 0), minute("EURUSD", 4, 0)],
    [minute("EURUSD", 4, 0), minute("EURUSD", 3, 2), minute("EURUSD", 5, 0), minute("EURUSD", 5, 1)],
  ];
  const expected = { stored: 3, alreadyThere: 1, overwritten: 1, repeated: 2, conflicting: 2, covered: 0 };
  const client = await db.pool.connect();
  let trial = { ...NO_KLINES };
  const tried = createTrial(db.segments);
  for (const part of parts) trial = addCounts(trial, await tried(client, partOf(part)));
  client.release(true);
  expect(trial).toEqual(expected);
  expect(await stored("EURUSD", "M1")).toEqual(first);
  const number = await beginBatch();
  let counts = { ...NO_KLINES };
  for (const part of parts)
    counts = addCounts(
      counts,
      await inTransaction(db.pool, (connection) => storeBatch(connection, db.segments, number, part, clock.now())),
    );
  expect(counts).toEqual(expected);
  expect(await db.prisma.backfillSeries.findMany({ where: { batch: number } })).toEqual([
    {
      batch: number,
      ticker: "EURUSD",
      first: BigInt(START_S + 60),
      last: BigInt(START_S + 300),
      stored: 3n,
      alreadyThere: 1n,
      overwritten: 1n,
    },
  ]);
  await undoImport(admin, number);
  expect(await stored("EURUSD", "M1")).toEqual(first);
  await undoImport(admin, begun);
  expect(await stored("EURUSD", "M1")).toEqual([]);
});

const HOUR_S = START_S - (START_S % 3_600);
const hours = (ticker: string, values: readonly number[]) =>
  values.map((value, index): Kline => ({ ...minute(ticker, 0, value), timeframe: "H1", time: HOUR_S + index * 3_600 }));

test("each longer kline of an import counts once: new, already there, overwritten, covered, repeated or conflicting, in a trial too", async () => {
  await importBatch([hours("CADJPY", [0, 0])]);
  await importBatch([[{ ...minute("CADJPY", 0, 0), time: HOUR_S + 2 * 3_600 + 600 }]]);
  const last = { ...(hours("CADJPY", [0, 0, 0, 0, 2])[4] as Kline) };
  const parts = [hours("CADJPY", [0, 1, 0, 0, 0]), [...hours("CADJPY", [0]), last]];
  const counts = { stored: 2, alreadyThere: 1, overwritten: 1, covered: 1, repeated: 1, conflicting: 1 };
  const before = await stored("CADJPY", "H1");
  const tried = createTrial(db.segments);
  const client = await db.pool.connect();
  let trial = { ...NO_KLINES };
  for (const part of parts) trial = addCounts(trial, await tried(client, partOf(part)));
  client.release();
  expect(trial).toEqual(counts);
  expect(await stored("CADJPY", "H1")).toEqual(before);
  const number = await beginBatch();
  let real = { ...NO_KLINES };
  for (const part of parts)
    real = addCounts(real, await inTransaction(db.pool, (on) => storeBatch(on, db.segments, number, part, clock.now())));
  expect(real).toEqual(counts);
  expect(await db.prisma.importedSeries.findFirst({ where: { batch: number } })).toMatchObject({
    ticker: "CADJPY",
    timeframe: "H1",
    first: BigInt(HOUR_S),
    last: BigInt(HOUR_S + 4 * 3_600),
    stored: 2n,
    alreadyThere: 1n,
    overwritten: 1n,
    covered: 1n,
  });
  await undoImport(admin, number);
  expect(await stored("CADJPY", "H1")).toEqual(before);
});

test("one import of minutes and longer klines is undone as a whole", async () => {
  const number = await importBatch([hours("CHFJPY", [1, 1, 1]), [{ ...minute("CHFJPY", 0, 0), time: HOUR_S }]]);
  expect((await stored("CHFJPY", "H1")).map(({ open }) => open)).toEqual([1, 1.1, 1.1]);
  expect(await undoImport(admin, number)).toMatchObject([{ timeframe: "H1", removed: 3 }, { timeframe: "M1" }]);
  for (const timeframe of TIMEFRAMES) expect(await stored("CHFJPY", timeframe)).toEqual([]);
});

test("an undo is refused with its reason: unknown, done twice, running, or while its history changes", async () => {
  await expect(undoImport(admin, 999_999)).rejects.toMatchObject({ id: "not_found" });
  const number = await importBatch([[minute("GBPUSD", 0, 0)]]);
  const holder = await db.pool.connect();
  const detail = (text: string) => ({ data: { parameter: "number", detail: expect.stringContaining(text) } });
  try {
    await holder.query("SELECT pg_advisory_lock($1, $2)", [0x62617463, number]);
    await expect(undoImport(admin, number)).rejects.toMatchObject(detail("still running"));
    await holder.query("SELECT pg_advisory_unlock_all()");
    await holder.query("SELECT pg_advisory_lock($1, hashtext($2))", [0x7469636b, "GBPUSD"]);
    await expect(undoImport(admin, number)).rejects.toMatchObject(detail("Another command is changing the history of GBPUSD"));
  } finally {
    holder.release(true);
  }
  expect(await stored("GBPUSD", "D1")).toHaveLength(1);
  await undoImport(admin, number);
  expect(await stored("GBPUSD", "D1")).toEqual([]);
  await expect(undoImport(admin, number)).rejects.toMatchObject(detail("already undone"));
});

test("an undo that fails changes nothing and can be repeated", async () => {
  const number = await importBatch([[minute("AUDUSD", 0, 0), minute("AUDUSD", 1, 0)]]);
  const failing = { ...admin, record: () => Promise.reject(new Error("the audit log is full")) };
  await expect(undoImport(failing, number)).rejects.toThrow("the audit log is full");
  expect(await stored("AUDUSD", "M1")).toHaveLength(2);
  expect(await stored("AUDUSD", "W1")).toHaveLength(1);
  await undoImport(admin, number);
  expect(await stored("AUDUSD", "M1")).toEqual([]);
});

test("an import that was undone can be put back, in any order and as often as wanted", async () => {
  const first = await importBatch([[minute("USDCHF", 0, 0), minute("USDCHF", 1, 0)]]);
  const second = await importBatch([[minute("USDCHF", 1, 2)]]);
  const both = [minute("USDCHF", 0, 0), minute("USDCHF", 1, 2)];
  await undoImport(admin, first);
  expect(await stored("USDCHF", "M1")).toEqual([minute("USDCHF", 1, 2)]);
  await redoImport(admin, first);
  expect(await stored("USDCHF", "M1")).toEqual(both);
  await undoImport(admin, second);
  await undoImport(admin, first);
  await redoImport(admin, second);
  expect(await stored("USDCHF", "M1")).toEqual([minute("USDCHF", 1, 2)]);
  await redoImport(admin, first);
  expect(await stored("USDCHF", "M1")).toEqual(both);
  await expect(redoImport(admin, first)).rejects.toMatchObject({ data: { detail: expect.stringContaining("not undone") } });
});

describe("an undo and a redo say what they change, which a trial says before", () => {
  const other = (slot: number) => minute("NZDUSD", slot, 2);
  const same = (slot: number) => minute("NZDUSD", slot, 0);
  /** What a trial says, and then the change, which must be the same. */
  async function changed(number: number, undone: boolean) {
    const before = await stored("NZDUSD", "M1");
    const tried = await tryUndone(admin, number, undone);
    expect(await stored("NZDUSD", "M1")).toEqual(before);
    expect(await (undone ? undoImport : redoImport)(admin, number)).toEqual(tried);
    return tried;
  }
  const series = { ticker: "NZDUSD", timeframe: "M1", ticks: 0 };
  const nothing = { added: 0, removed: 0, changed: 0 };

  test("by what shows, whatever the imports said of it when they were stored", async () => {
    const first = await importBatch([[same(0), same(1), same(2)]]);
    // When it was stored, it overwrote two klines and added one.
    const second = await importBatch([[other(1), other(2), other(3)]]);
    const range = { first: START_S + 60, last: START_S + 180 };
    expect(await changed(first, true)).toMatchObject([{ ...series, ...nothing, removed: 1, others: [second] }]);
    expect(await changed(second, true)).toEqual([{ ...series, ...range, ...nothing, removed: 3, others: [] }]);
    expect(await changed(first, false)).toMatchObject([{ ...nothing, added: 3, others: [] }]);
    expect(await changed(second, false)).toEqual([{ ...series, ...range, ...nothing, added: 1, changed: 2, others: [] }]);
    for (const number of [second, first]) await undoImport(admin, number);
  });

  test("that nothing changes, and which imports show instead", async () => {
    const first = await importBatch([[same(0), same(1)]]);
    const second = await importBatch([[same(0)]]);
    const third = await importBatch([[other(1)]]);
    const none = [{ ...series, ...nothing, first: START_S, last: START_S + 60, others: [second, third] }];
    expect(await changed(first, true)).toEqual(none);
    expect(await changed(first, false)).toEqual(none);
    for (const number of [third, second, first]) await undoImport(admin, number);
  });

  test("with the minutes of the feed that no layer has yet", async () => {
    await storeTail(db, [same(0)]);
    const number = await importBatch([[other(0), other(1)]]);
    expect(await changed(number, true)).toMatchObject([{ removed: 1, changed: 1, others: [0] }]);
    expect(await changed(number, false)).toMatchObject([{ added: 1, changed: 1, others: [] }]);
  });
});

test("an import that is undone and whose klines a retention deleted cannot be put back", async () => {
  const number = await importBatch([[minute("EURSEK", 0, 0)]]);
  await db.pool.query("DELETE FROM history_layer WHERE layer = $1", [number]);
  await db.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [number]);
  await expect(redoImport(admin, number)).rejects.toMatchObject({
    data: { detail: `Import ${number} cannot be put back: none of its klines are kept.` },
  });
  expect(await db.prisma.backfill.findUniqueOrThrow({ where: { number } })).toMatchObject({ undoneAt: expect.any(Date) });
});

test("what long klines are read from is computed after an undo and a redo, not by the first reader", async () => {
  const months = Array.from({ length: 12 }, (_, month) => Date.UTC(2025, month, 15) / 1_000);
  const first = await importBatch([months.map((time) => ({ ...minute("USDPLN", 0, 0), time }))]);
  const second = await importBatch([months.map((time) => ({ ...minute("USDPLN", 0, 1), time }))]);
  const computed = async () => {
    const { rows } = await db.pool.query(
      "SELECT timeframe, content FROM history_derived WHERE ticker = 'USDPLN' ORDER BY timeframe",
    );
    return rows;
  };
  expect(await computed()).toEqual([]);
  await undoImport(admin, second);
  const undone = await computed();
  expect(undone.map(({ timeframe }) => timeframe)).toEqual(["D1", "H1"]);
  await redoImport(admin, second);
  const shown = await computed();
  expect(shown.map(({ content }) => content)).not.toEqual(undone.map(({ content }) => content));
  expect((await stored("USDPLN", "D1")).map(({ open }) => open)).toEqual(months.map(() => 1.1));
  expect(await computed()).toEqual(shown);
  for (const number of [second, first]) await undoImport(admin, number);
});
