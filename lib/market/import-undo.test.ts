import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { type HistoryAdmin, undoImport } from "./import-undo";
import { addCounts, NO_KLINES, storeBatch, tryBatch } from "./kline-batches";
import { createKlineStore, type KlineTable } from "./kline-store";
import { dropShortKlines, inTransaction } from "./partitions";
import { rebuildRange } from "./rebuild-range";
import { strike } from "./struck-minutes";

/** Monday before a month and a year end. */
const START_S = Date.UTC(2025, 11, 29, 21, 50) / 1000;
const clock = manualClock(Date.UTC(2026, 5, 1));

let db: TestDatabase;
let store: KlineTable;
let admin: HistoryAdmin;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db.pool, "live");
  await store.ensurePartitions(START_S, START_S + 40 * 86_400);
  admin = { db, clock, record: async () => undefined };
});
afterAll(() => db.close());

const minute = (ticker: string, slot: number, value: number): Kline => ({
  ...{
    type: "kline",
    ticker,
    timeframe: "M1",
    time: START_S + slot * 60,
    tick_volume: value + 1,
    spread: value === 1 ? null : 0.0001,
  },
  ...{ open: 1 + value / 10, high: 1.5 + value / 10, low: 0.5, close: 1.2, real_volume: value % 2 === 0 ? null : value },
});

const beginBatch = () => beginTestImport({ db, clock });

/** A batch of several writes, as an import stores them. @returns its number */
async function importBatch(parts: readonly (readonly Kline[])[]): Promise<number> {
  const number = await beginBatch();
  for (const part of parts) await inTransaction(db.pool, (client) => storeBatch(client, number, part));
  const times = parts.flat().map(({ time }) => time);
  const [ticker] = parts.flat().map((kline) => kline.ticker);
  if (ticker === undefined) return number;
  const range = { ticker, first: Math.min(...times), last: Math.max(...times) };
  await inTransaction(db.pool, (client) => rebuildRange(client, range, clock.now()));
  return number;
}

const timesOf = (klines: readonly Kline[]) => [...new Set(klines.map(({ time }) => time))].sort((a, b) => a - b);

/** Strikes out the minutes that are stored, as an operator does. @returns the number of the correction */
async function strikeBatch(ticker: string, times: readonly number[]): Promise<number> {
  const number = await beginBatch();
  await inTransaction(db.pool, async (client) => {
    await strike(client, number, ticker, times);
    const [first, last] = [times[0], times.at(-1)];
    if (first === undefined || last === undefined) return;
    await client.query("INSERT INTO backfill_series VALUES ($1, $2, $3, $4, 0, 0, 0)", [number, ticker, first, last]);
    await rebuildRange(client, { ticker, first, last }, clock.now());
  });
  return number;
}

const stored = (ticker: string, timeframe: (typeof TIMEFRAMES)[number]) =>
  store.read({ ticker, timeframe, from: 0, to: 4_000_000_000, limit: 100_000, end: "oldest" });

/** Writes of the same few minutes: an import of one or two parts, a feed, or a strike of what they name. */
const writes = fc.array(
  fc.record({
    by: fc.constantFrom("import" as const, "feed" as const, "strike" as const),
    parts: fc.array(fc.array(fc.tuple(fc.nat(14), fc.nat(2)), { maxLength: 8 }), { minLength: 1, maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 6 },
);

test("imports that are undone in any order leave the klines that would be stored without them", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(writes, fc.infiniteStream(fc.nat()), async (steps, choices) => {
      round += 1;
      const ticker = `T${round}`;
      // Slots lie hours apart, so that they touch several days, weeks and months.
      const rows = (part: readonly (readonly [number, number])[]) =>
        part.map(([slot, value]) => minute(ticker, slot * 731, value));
      const numbers = new Map<number, number>();
      /** What each strike took out: only minutes that were stored. */
      const strikes = new Map<number, readonly number[]>();
      for (const [index, { by, parts }] of steps.entries()) {
        if (by === "import") numbers.set(index, await importBatch(parts.map(rows)));
        else if (by === "feed") for (const part of parts) await store.writeKlines(rows(part));
        else {
          const named = timesOf(parts.flatMap(rows));
          strikes.set(
            index,
            timesOf(await stored(ticker, "M1")).filter((time) => named.includes(time)),
          );
          numbers.set(index, await strikeBatch(ticker, named));
        }
      }
      const undone = new Set<number>();
      while (numbers.size > 0) {
        const left = [...numbers.keys()];
        const chosen = left[(choices.next().value as number) % left.length] as number;
        await undoImport(admin, numbers.get(chosen) as number);
        numbers.delete(chosen);
        undone.add(chosen);
        const expected = new Map<number, Kline>();
        for (const [index, { by, parts }] of steps.entries()) {
          if (undone.has(index)) continue;
          for (const time of strikes.get(index) ?? []) expected.delete(time);
          if (by !== "strike") for (const kline of parts.flatMap(rows)) expected.set(kline.time, kline);
        }
        const minutes = [...expected.values()].sort((a, b) => a.time - b.time);
        expect(await stored(ticker, "M1")).toEqual(minutes);
        const touched = steps.some(({ by }) => by === "import");
        if (touched && steps.every(({ by }) => by !== "feed"))
          for (const timeframe of TIMEFRAMES.slice(1))
            expect(await stored(ticker, timeframe)).toEqual(aggregate(minutes, timeframe, createAlignment()));
      }
    }),
    { numRuns: 15 },
  );
  const left = await db.pool.query("SELECT FROM kline_previous");
  expect(left.rowCount).toBe(0);
});

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
  for (const part of parts) trial = addCounts(trial, await tryBatch(client, part));
  client.release(true);
  expect(trial).toEqual(expected);
  expect(await stored("EURUSD", "M1")).toEqual(first);
  const number = await beginBatch();
  let counts = { ...NO_KLINES };
  for (const part of parts)
    counts = addCounts(counts, await inTransaction(db.pool, (connection) => storeBatch(connection, number, part)));
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

test("an import whose minutes the retention deleted can no longer be undone, so its days stay", async () => {
  const at = Date.UTC(2011, 5, 6, 10) / 1000;
  await store.ensurePartitions(at, at);
  const number = await importBatch([[{ ...minute("NZDUSD", 0, 0), time: at }]]);
  expect(await dropShortKlines(db.pool, 2011)).toBe("dropped");
  await expect(undoImport(admin, number)).rejects.toMatchObject({
    data: { detail: expect.stringContaining("can no longer be undone") },
  });
  expect(await stored("NZDUSD", "M1")).toEqual([]);
  expect(await stored("NZDUSD", "D1")).toHaveLength(1);
});
