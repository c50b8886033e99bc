import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { KLINES_AS_OF_MAX_MINUTES } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { isFault } from "#lib/fault";
import { DAY_S } from "#lib/units";
import { TooManyStatements } from "#server/store/history/periods";
import { createReader } from "#server/store/history/reader";
import { sealTails } from "#server/store/history/tail";
import { inTransaction } from "#server/store/history/transaction";
import { createCatalogue } from "#server/store/market/catalogue";
import { createSegments } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { storeTail } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { redoImport, undoImport } from "./import-undo";
import { storeBatch } from "./kline-batches";
import { createKlineStore, type KlineTable } from "./kline-store";
import { createMinuteMender } from "./mended-minutes";
import { correctMinutes } from "./minute-corrections";

/** Tuesday before a month and a year end. */
const START_MS = Date.UTC(2025, 11, 30, 12);
const READ_TIMEFRAMES = ["M1", "M15", "H1", "H4", "D1", "W1", "MN1"] as const;
const TABLES = [
  "kline_tail",
  "history_layer",
  "history_visible",
  "history_derived",
  "history_change",
  "backfill",
  "watched_minutes",
];
const TICKER = "EURUSD";
const ALL = { limit: 1_000, end: "oldest" } as const;

const clock = manualClock(START_MS);
const alignment = createAlignment();
let db: TestDatabase;
let store: KlineTable;
let listing: Listing;

beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
  listing = (await createCatalogue(db, "live")).find(TICKER) as Listing;
});
afterAll(() => db?.close());

async function clear(): Promise<void> {
  for (const table of TABLES) await db.pool.query(`DELETE FROM ${table}`);
  clock.set(START_MS);
}

const nowS = () => clock.now() / 1_000;
const admin = () => ({ db, clock, record: async () => undefined });
const minuteAt = (time: number) => time - (time % 60);
const kline = (time: number, value: number, timeframe: Timeframe = "M1"): Kline => ({
  ...testKline(TICKER, timeframe, time, 1.1 + value / 100),
  tick_volume: value + 1,
  real_volume: value % 2 === 0 ? null : value,
  spread: value === 1 ? null : 0.0001,
});

async function importKlines(klines: readonly Kline[]): Promise<number> {
  const number = await beginTestImport({ db, clock }, { state: "done" });
  await inTransaction(db.pool, (client) => storeBatch(client, db.segments, number, klines, clock.now()));
  return number;
}

const push = (klines: readonly Kline[], replace: "all" | "gaps" = "all") =>
  createMinuteMender({ db, clock, record: async () => undefined }).mend(null, klines, {
    replace,
    by: { keyId: "key-1", label: "sw_live_abcd…wxyz" },
  });

const replaceMinute = (time: number) =>
  correctMinutes(admin(), listing, {
    action: "replace",
    time,
    reason: "a wrong tick",
    tick_volume: 5,
    spread: null,
    open: 1.1,
    high: 1.12,
    low: 1.09,
    close: 1.1,
  });

/** Minutes that ended since an instant, Unix seconds. */
const ended = (sinceS: number) => {
  const first = minuteAt(sinceS - 60) + 60;
  const count = Math.floor((nowS() - 60 - first) / 60) + 1;
  return (share: number) => (count <= 0 ? [] : [first + Math.floor(share * count) * 60]);
};

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
const slots = fc.array(fc.tuple(fc.nat(20), fc.nat(3)), { minLength: 1, maxLength: 6 });
const step = fc.record({
  waitS: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 200, max: 90_000 })),
  change: fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("import" as const), slots }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("longer" as const),
        timeframe: fc.constantFrom("H1" as const, "D1" as const),
        slots,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("push" as const), slots }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("replace" as const), slot: fc.nat(20) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("strike" as const), slot: fc.nat(20), minutes: fc.constantFrom(1, 60, 1_440) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("undo" as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("redo" as const), which: fc.nat() }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("feed" as const),
        shares: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 5 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("seal" as const) }) },
  ),
});

/** Slots lie days and then months before the start, in a bit more than three years: long klines of that are computed from kept ones. */
const slotTime = (slot: number) => START_MS / 1_000 - slot * slot * 4_321 * 60;
const closed = ([slot, value]: readonly [number, number], timeframe: Timeframe = "M1") => {
  const time = alignment.openTime(timeframe, slotTime(slot));
  return time + 180 > nowS() ? [] : [kline(time, value, timeframe)];
};

/** What a refused change does: nothing. */
async function unlessRefused(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

async function change(given: Step["change"], sinceS: number, imports: Set<number>, undone: Set<number>) {
  const remember = (number: number | null) => number !== null && imports.add(number);
  if (given.kind === "import" || given.kind === "longer") {
    const timeframe = given.kind === "longer" ? given.timeframe : "M1";
    const klines = given.slots.flatMap((slot) => closed(slot, timeframe)).sort((a, b) => a.time - b.time);
    if (klines.length > 0) remember(await importKlines(klines));
  } else if (given.kind === "push") {
    const klines = new Map(given.slots.flatMap((slot) => closed(slot)).map((row) => [row.time, row]));
    await unlessRefused(async () => remember((await push([...klines.values()])).number));
  } else if (given.kind === "replace")
    await unlessRefused(async () => remember((await replaceMinute(minuteAt(slotTime(given.slot)))).number));
  else if (given.kind === "strike") {
    const form = {
      action: "strike",
      time: minuteAt(slotTime(given.slot)),
      minutes: given.minutes,
      reason: "a wrong tick",
    } as const;
    await unlessRefused(async () => remember((await correctMinutes(admin(), listing, form)).number));
  } else if (given.kind === "feed") {
    const times = new Set(given.shares.flatMap(ended(sinceS)));
    await storeTail(
      db,
      [...times].map((time) => kline(time, 2)),
    );
  } else if (given.kind === "seal") await sealTails(db, nowS());
  else {
    const from = given.kind === "undo" ? imports : undone;
    const to = given.kind === "undo" ? undone : imports;
    const number = [...from][given.which % Math.max(1, from.size)];
    if (number === undefined) return;
    await (given.kind === "undo" ? undoImport : redoImport)(admin(), number);
    from.delete(number);
    to.add(number);
  }
}

const windowsAt = (atS: number) => [
  { from: 0, to: atS + 1, ...ALL },
  { from: 0, to: atS + 1, limit: 3, end: "newest" as const },
  { from: slotTime(14), to: slotTime(2), limit: 2, end: "oldest" as const },
];

test("what showed at an instant equals a copy that was made then, whatever was imported, pushed, corrected, undone, put back, recorded or sealed since", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      await clear();
      const copies: { readonly atS: number; readonly query: object; readonly timeframe: Timeframe; readonly rows: Kline[] }[] =
        [];
      const [imports, undone] = [new Set<number>(), new Set<number>()];
      for (const { waitS, change: given } of steps) {
        const sinceS = nowS();
        await clock.advance(waitS * 1_000);
        await change(given, sinceS, imports, undone);
        const atS = nowS();
        for (const timeframe of READ_TIMEFRAMES)
          for (const query of windowsAt(atS))
            copies.push({ atS, query, timeframe, rows: await store.read({ ticker: TICKER, timeframe, ...query }) });
      }
      /** Of another process, which has nothing in memory. */
      const other = createKlineStore({ pool: db.pool, segments: createSegments(db.segments.store, 16) });
      for (const { atS, query, timeframe, rows } of copies)
        expect([timeframe, query, await other.readAt({ ticker: TICKER, timeframe, ...query } as never, atS)]).toEqual([
          timeframe,
          query,
          rows,
        ]);
      const asked = { ticker: TICKER, timeframe: "M1", from: 0, to: 4e9, ...ALL } as const;
      expect(await other.readAt(asked, START_MS / 1_000 - DAY_S)).toEqual([]);
    }),
    { numRuns: 10 },
  );
});

describe("with a stored week", () => {
  const asked = { ticker: TICKER, timeframe: "M1", from: 0, to: 4e9, ...ALL } as const;

  test("a seal that runs meanwhile does not change what showed", async () => {
    await clear();
    await storeTail(
      db,
      Array.from({ length: 50 }, (_, index) => kline(START_MS / 1_000 - 3_600 + index * 60, 1)),
    );
    const before = await store.readAt(asked, nowS() - 1_800);
    expect(before).toHaveLength(30);
    const reads = [0, 1, 2, 3].map(() => store.readAt(asked, nowS() - 1_800));
    const [, ...during] = await Promise.all([sealTails(db, nowS() - 2_700), ...reads]);
    await sealTails(db, nowS());
    for (const rows of [...during, await store.readAt(asked, nowS() - 1_800)]) expect(rows).toEqual(before);
  });

  test("a flood of reads as of an instant is refused beyond those that can wait, and the others are answered", async () => {
    await clear();
    await importKlines([kline(START_MS / 1_000 - 3_600, 1)]);
    const reads = await Promise.allSettled(Array.from({ length: 50 }, () => store.readAt(asked, nowS())));
    const refused = reads.filter((read) => read.status === "rejected").map(({ reason }) => [reason.id, reason.data.retry_after]);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(String))).toEqual(new Set(["service_unavailable,5"]));
    expect(reads.filter((read) => read.status === "fulfilled").map(({ value }) => value.length)).toEqual(
      new Array(50 - refused.length).fill(1),
    );
    expect(await store.readAt(asked, nowS())).toHaveLength(1);
  });

  test("days of years that were imported again are answered as they were, with each month counted once", async () => {
    await clear();
    const months = 30;
    const times = Array.from({ length: months }, (_, month) => Date.UTC(2023, 6 + month, 10) / 1_000);
    const rows = (value: number) => times.flatMap((time) => [0, 1, 2].map((minute) => kline(time + minute * 60, value)));
    await importKlines(rows(1));
    const atS = nowS();
    const days = { ticker: TICKER, timeframe: "D1", from: 0, to: nowS() + 60 * DAY_S, limit: 5_000, end: "newest" } as const;
    const before = await store.read(days);
    await clock.advance(60_000);
    await importKlines(rows(3));
    expect(before).toHaveLength(months);
    expect(await store.read(days)).not.toEqual(before);
    expect(await store.readAt(days, atS)).toEqual(before);
    const reader = createReader(db.segments);
    const past = { atS, maxStatements: 3 * months };
    // However it has to count what months have: of few klines, those of few months are read.
    for (const limit of [1, 3, 20, 5_000])
      for (const timeframe of ["M1", "H1", "D1"] as const) {
        const { columns } = await reader.readAt(db.pool, { ...days, timeframe, limit }, past);
        expect(columns.time.length).toBe(Math.min(limit, timeframe === "M1" ? 3 * months : months));
      }
    const few = { atS, maxStatements: 3 };
    expect((await reader.readAt(db.pool, { ...days, timeframe: "M1", limit: 1 }, few)).columns.time.length).toBe(1);
  });

  test("only minutes that changed since count for the limit, and a read that needs more is refused", async () => {
    await clear();
    const minutes = Array.from({ length: 120 }, (_, index) => kline(START_MS / 1_000 - 7_200 + index * 60, 1));
    await importKlines(minutes);
    const atS = nowS();
    const reader = createReader(db.segments);
    const count = async (maxStatements: number) =>
      (await reader.readAt(db.pool, asked, { atS, maxStatements })).columns.time.length;
    expect(await count(0)).toBe(120);
    await clock.advance(60_000);
    await push([kline(START_MS / 1_000 - 3_600, 3)]);
    expect(await count(120)).toBe(120);
    await expect(count(119)).rejects.toThrow(TooManyStatements);
    // The layer of what was pushed later is not read.
    const { rows } = await db.pool.query("SELECT sum(rows)::int AS rows FROM history_layer");
    expect(rows).toEqual([{ rows: 121 }]);
    await db.pool.query("UPDATE history_layer SET rows = $1 WHERE rows = 120", [KLINES_AS_OF_MAX_MINUTES + 1]);
    await expect(store.readAt(asked, atS)).rejects.toMatchObject({
      id: "invalid_parameter",
      data: { parameter: "as_of", max: KLINES_AS_OF_MAX_MINUTES, detail: expect.stringContaining("15,000,000 stored minutes") },
    });
  });
});
