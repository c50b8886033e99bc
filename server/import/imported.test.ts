import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { type HistoryAdmin, undoImport } from "#lib/market/import-undo";
import { storeImported, tryImported } from "#lib/market/imported-klines";
import { addCounts, NO_KLINES, storeBatch } from "#lib/market/kline-batches";
import { createKlineStore, type KlineTable } from "#lib/market/kline-store";
import { dropShortKlines, inTransaction } from "#lib/market/partitions";
import { sealImports } from "#lib/market/seal-imports";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { createRebuilder } from "./rebuild";

/** Monday before a month and a year end. */
const START_S = Date.UTC(2025, 11, 29, 21, 50) / 1000;
const LONGER = TIMEFRAMES.slice(1);
const clock = manualClock(Date.UTC(2026, 5, 1));
const alignment = createAlignment();

let db: TestDatabase;
let store: KlineTable;
let admin: HistoryAdmin;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db.pool, "live");
  await store.ensurePartitions(START_S - 60 * 86_400, START_S + 60 * 86_400);
  admin = { db, clock, record: async () => undefined };
});
afterAll(() => db.close());

const kline = (ticker: string, timeframe: Timeframe, time: number, value: number): Kline => ({
  ...{ type: "kline", ticker, timeframe, time, tick_volume: value + 1, spread: value === 1 ? null : 0.0001 },
  ...{ open: 1 + value / 10, high: 1.5 + value / 10, low: 0.5, close: 1.2, real_volume: value % 2 === 0 ? null : value },
});

const begin = () => beginTestImport({ db, clock }, { state: "done" });
const stored = (ticker: string, timeframe: Timeframe) =>
  store.read({ ticker, timeframe, from: 0, to: 4_000_000_000, limit: 100_000, end: "oldest" });

async function importLonger(parts: readonly (readonly Kline[])[], number: Promise<number> = begin()): Promise<number> {
  const batch = await number;
  for (const part of parts) await inTransaction(db.pool, (client) => storeImported(client, batch, part));
  return batch;
}

async function importMinutes(ticker: string, rows: readonly Kline[], number: Promise<number> = begin()): Promise<number> {
  const batch = await number;
  const rebuilder = createRebuilder(store, ticker, clock);
  await rebuilder.follow(rows);
  await inTransaction(db.pool, (client) => storeBatch(client, batch, rows));
  await rebuilder.finish(() => undefined);
  return batch;
}

/** What a feed stores: minutes, and each longer kline when it closes. */
async function feed(ticker: string, rows: readonly Kline[]): Promise<void> {
  await store.writeKlines(rows);
  const minutes = await stored(ticker, "M1");
  const touched = (timeframe: Timeframe, time: number) => rows.some((row) => alignment.openTime(timeframe, row.time) === time);
  for (const timeframe of LONGER) {
    const longer = aggregate(minutes, timeframe, alignment).filter(({ time }) => touched(timeframe, time));
    await store.writeKlines(longer);
  }
}

const slots = fc.array(fc.tuple(fc.nat(9), fc.nat(2)), { minLength: 1, maxLength: 6 });
const step = fc.oneof(
  fc.record({
    kind: fc.constant("longer" as const),
    timeframe: fc.constantFrom(...LONGER),
    parts: fc.array(slots, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constantFrom("minutes" as const, "feed" as const), rows: slots }),
  fc.record({ kind: fc.constant("undo" as const), which: fc.nat() }),
);

interface Done {
  readonly kind: "minutes" | "longer" | "feed";
  /** Null for a feed. */
  readonly number: number | null;
  readonly rows: readonly Kline[];
}

/** A kline is the aggregation of its minutes; without minutes, that of the newest import. */
function expected(done: readonly Done[], timeframe: Timeframe): Kline[] {
  const minutes = new Map<number, Kline>();
  for (const { kind, rows } of done) if (kind !== "longer") for (const row of rows) minutes.set(row.time, row);
  const ordered = [...minutes.values()].sort((a, b) => a.time - b.time);
  if (timeframe === "M1") return ordered;
  const result = new Map<number, Kline>();
  for (const { kind, rows } of done.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0)))
    if (kind === "longer") for (const row of rows) if (row.timeframe === timeframe) result.set(row.time, row);
  for (const row of aggregate(ordered, timeframe, alignment)) result.set(row.time, row);
  return [...result.values()].sort((a, b) => a.time - b.time);
}

test("after imports of minutes and longer klines, ticks and undos in any order, each kline is made of minutes or the newest import", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async (steps) => {
      round += 1;
      const ticker = `T${round}`;
      let done: Done[] = [];
      // Slots lie hours apart, so that they touch several days, weeks and months.
      const timeOf = (slot: number) => START_S + slot * 731 * 60;
      for (const one of steps) {
        if (one.kind === "undo") {
          const imports = done.filter(({ number }) => number !== null);
          const chosen = imports[one.which % Math.max(imports.length, 1)];
          if (chosen === undefined) continue;
          await undoImport(admin, chosen.number as number);
          done = done.filter((other) => other !== chosen);
        } else if (one.kind === "longer") {
          const { timeframe } = one;
          const parts = one.parts.map((part) =>
            part.map(([slot, value]) => kline(ticker, timeframe, alignment.openTime(timeframe, timeOf(slot)), value)),
          );
          done.push({ kind: "longer", number: await importLonger(parts), rows: parts.flat() });
        } else {
          const rows = one.rows.map(([slot, value]) => kline(ticker, "M1", timeOf(slot), value));
          if (one.kind === "feed") await feed(ticker, rows);
          const number = one.kind === "feed" ? null : await importMinutes(ticker, rows);
          done.push({ kind: one.kind, number, rows });
        }
        for (const timeframe of TIMEFRAMES) expect(await stored(ticker, timeframe)).toEqual(expected(done, timeframe));
      }
    }),
    { numRuns: 25 },
  );
});

const HOUR_S = START_S - (START_S % 3_600);
const hours = (ticker: string, values: readonly number[]) =>
  values.map((value, index) => kline(ticker, "H1", HOUR_S + index * 3_600, value));

test("each longer kline of an import counts once: new, already there, overwritten, covered, repeated or conflicting, in a trial too", async () => {
  await importLonger([hours("EURUSD", [0, 0])]);
  await importMinutes("EURUSD", [kline("EURUSD", "M1", HOUR_S + 2 * 3_600 + 600, 0)]);
  const rows = hours("EURUSD", [0, 1, 0, 0, 0]);
  const parts = [rows, [...hours("EURUSD", [0]), kline("EURUSD", "H1", HOUR_S + 4 * 3_600, 2)]];
  const counts = { stored: 2, alreadyThere: 1, overwritten: 1, covered: 1, repeated: 1, conflicting: 1 };
  const before = await stored("EURUSD", "H1");
  const client = await db.pool.connect();
  let trial = { ...NO_KLINES };
  for (const part of parts) trial = addCounts(trial, await tryImported(client, part));
  client.release(true);
  expect(trial).toEqual(counts);
  expect(await stored("EURUSD", "H1")).toEqual(before);
  const number = await begin();
  let real = { ...NO_KLINES };
  for (const part of parts)
    real = addCounts(real, await inTransaction(db.pool, (connection) => storeImported(connection, number, part)));
  expect(real).toEqual(counts);
  expect(await db.prisma.importedSeries.findFirst({ where: { batch: number } })).toMatchObject({
    ...{ ticker: "EURUSD", timeframe: "H1", first: BigInt(HOUR_S), last: BigInt(HOUR_S + 4 * 3_600) },
    ...{ stored: 2n, alreadyThere: 1n, overwritten: 1n, covered: 1n },
  });
  await undoImport(admin, number);
  expect(await stored("EURUSD", "H1")).toEqual(before);
});

test("one import of minutes and longer klines is undone as a whole", async () => {
  const number = await importLonger([hours("GBPUSD", [1, 1, 1])]);
  await importMinutes("GBPUSD", [kline("GBPUSD", "M1", HOUR_S, 0)], Promise.resolve(number));
  expect((await stored("GBPUSD", "H1")).map(({ open }) => open)).toEqual([1, 1.1, 1.1]);
  expect(await undoImport(admin, number)).toMatchObject([{ timeframe: "M1" }, { timeframe: "H1", removed: 3 }]);
  for (const timeframe of TIMEFRAMES) expect(await stored("GBPUSD", timeframe)).toEqual([]);
});

test("what a sealed import replaced is deleted, and what shows stays", async () => {
  const first = await importLonger([hours("AUDUSD", [0, 0])]);
  const second = await importLonger([hours("AUDUSD", [1])]);
  const third = await importLonger([hours("AUDUSD", [2])]);
  await inTransaction(db.pool, (client) => sealImports(client, "SELECT unnest($1::integer[])", [[first, second]]));
  const { rows } = await db.pool.query("SELECT batch FROM kline_imported WHERE ticker = 'AUDUSD' ORDER BY time, batch");
  expect(rows.map(({ batch }) => batch)).toEqual([second, third, first]);
  await undoImport(admin, third);
  expect(await stored("AUDUSD", "H1")).toEqual(hours("AUDUSD", [1, 0]));
});

test("the retention deletes imported hours and keeps imported days, and a computed day stays without its minutes", async () => {
  const at = Date.UTC(2011, 5, 6, 10) / 1000;
  const days = [0, 1].map((day) => alignment.openTime("D1", at) + day * 86_400);
  const row = (timeframe: Timeframe, time: number, value: number) => kline("NZDUSD", timeframe, time, value);
  await store.ensurePartitions(at, at + 86_400);
  const import1 = await importLonger([[row("H1", at + 86_400, 1)], days.map((time) => row("D1", time, 1))]);
  await importMinutes("NZDUSD", [row("M1", at, 0)]);
  const computed = (await stored("NZDUSD", "D1"))[0];
  expect(await dropShortKlines(db.pool, 2011)).toBe("dropped");
  expect(await stored("NZDUSD", "H1")).toEqual([]);
  const import2 = await importLonger([days.map((time) => row("D1", time, 2))]);
  expect(await stored("NZDUSD", "D1")).toEqual([computed, row("D1", days[1] ?? 0, 2)]);
  await undoImport(admin, import2);
  await undoImport(admin, import1);
  expect(await stored("NZDUSD", "D1")).toEqual([computed]);
  expect((await db.pool.query("SELECT FROM kline_imported WHERE ticker = 'NZDUSD'")).rowCount).toBe(0);
});
