import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import type { Mending } from "#lib/market/mending";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import { lockTicker } from "#server/store/history/lock";
import { inTransaction } from "#server/store/history/transaction";
import { listBackfills } from "#server/store/market/backfills";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeTail } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { undoImport } from "./import-undo";
import { createKlineStore, type KlineTable } from "./kline-store";
import { createMinuteMender, LeaseLost, type MinuteMender } from "./mended-minutes";

const alignment = createAlignment();
const START_MS = Date.UTC(2026, 0, 7, 12);
const clock = manualClock(START_MS);
/** Two hours before. */
const FROM_S = START_MS / 1000 - 7_200;
const GAPS: Mending = { replace: "gaps", by: { keyId: "key-1", label: "sw_live_abcd…wxyz" } };
const ALL: Mending = { ...GAPS, replace: "all" };

let db: TestDatabase;
let store: KlineTable;
let mender: MinuteMender;
const recorded: unknown[] = [];

beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
  const record = async (_: unknown, change: unknown) => void recorded.push(change);
  mender = createMinuteMender({ db, clock, record });
});
afterAll(() => db?.close());
beforeEach(async () => {
  for (const table of ["kline_tail", "history_layer", "history_visible", "backfill", "watched_minutes"])
    await db.pool.query(`DELETE FROM ${table}`);
  recorded.length = 0;
  clock.set(START_MS);
});

const at = (minute: number, close = 1.1, ticker = "EURUSD"): Kline => testKline(ticker, "M1", FROM_S + minute * 60, close);
const undo = (number: number) => undoImport({ db, clock, record: async () => undefined }, number);
const read = (timeframe: Kline["timeframe"] = "M1", ticker = "EURUSD") =>
  store.read({ ticker, timeframe, from: 0, to: 4e9, limit: 100_000, end: "oldest" });
const closes = async () => new Map((await read()).map(({ time, close }) => [(time - FROM_S) / 60, close]));
const watched = (from: number, to: number, ticker: string | null = null) =>
  mender.noteWatched(null, [{ ticker, from: FROM_S + from * 60, to: FROM_S + to * 60 }]);

test("minutes without a kline and minutes seen in part are stored, watched ones never", async () => {
  await storeTail(db, [at(0), at(1), at(2), at(4)]);
  await watched(1, 2);
  await watched(2, 3, "XAUUSD");
  for (const mending of [GAPS, ALL]) {
    const { outcomes } = await mender.mend(null, [at(0, 1.2), at(1, 1.2), at(2, 1.2), at(3, 1.2), at(4)], mending);
    const first = mending === GAPS;
    const now = first ? null : "duplicate";
    expect(outcomes).toEqual([now, "watched", now, now, "duplicate"]);
  }
  expect(await closes()).toEqual(
    new Map([
      [0, 1.2],
      [1, 1.1],
      [2, 1.2],
      [3, 1.2],
      [4, 1.1],
    ]),
  );
});

test("a minute that another import stored is replaced only by `all`, one of the same import always", async () => {
  const other: Mending = { replace: "gaps", by: { keyId: "key-2", label: "sw_live_efgh…stuv" } };
  await mender.mend(null, [at(0, 1.2)], GAPS);
  expect((await mender.mend(null, [at(0, 1.3)], other)).outcomes).toEqual(["stored"]);
  expect((await mender.mend(null, [at(0, 1.4)], GAPS)).outcomes).toEqual([null]);
  expect((await mender.mend(null, [at(0, 1.5)], { ...other, replace: "all" })).outcomes).toEqual([null]);
  expect(await closes()).toEqual(new Map([[0, 1.5]]));
});

test("batches of a key are one import until it pauses or a day ends; it is listed, audited and can be undone", async () => {
  await storeTail(db, [at(0)]);
  const numbers: number[] = [];
  const push = async (minute: number) => numbers.push((await mender.mend(null, [at(minute, 1.2)], GAPS)).number ?? 0);
  await push(0);
  clock.set(START_MS + 10 * MINUTE_MS - 1);
  await push(1);
  clock.set(START_MS + 20 * MINUTE_MS);
  await push(2);
  clock.set(START_MS + DAY_MS / 2 - 1);
  await push(3);
  clock.set(START_MS + DAY_MS / 2);
  await push(4);
  const [first = 0, , , third = 0] = numbers;
  expect(numbers).toEqual([first, first, first + 1, third, third + 1]);
  expect(recorded).toHaveLength(4);
  expect(recorded[0]).toEqual({ action: "history.push", target: "live", after: { number: first, key: "sw_live_abcd…wxyz" } });
  const listed = (await listBackfills(db, clock)).find(({ number }) => number === first);
  expect(listed).toMatchObject({ state: "done", file: "klines pushed with sw_live_abcd…wxyz", rows: 2, share: 1 });
  expect(listed?.series).toMatchObject([{ ticker: "EURUSD", stored: 1, overwritten: 1 }]);
  await undo(first);
  expect(await closes()).toEqual(
    new Map([
      [0, 1.1],
      [2, 1.2],
      [3, 1.2],
      [4, 1.2],
    ]),
  );
  await undo(third + 1);
  expect((await mender.mend(null, [at(5)], GAPS)).number).toBe(third + 2);
});

test("the import of a repair takes no more minutes once it is undone", async () => {
  const { number = 0 } = await mender.mend(null, [at(0)], GAPS);
  const repair: Mending = { replace: "gaps", by: { number: number ?? 0 } };
  expect(await mender.mend(null, [at(1)], repair)).toMatchObject({ number, outcomes: [null] });
  await undo(number ?? 0);
  await expect(mender.mend(null, [at(2)], repair)).rejects.toMatchObject({ id: "not_found" });
  expect(await read()).toEqual([]);
});

test("a batch that changes nothing begins no import, and one that fails leaves nothing", async () => {
  await storeTail(db, [at(0)]);
  expect(await mender.mend(null, [at(0)], GAPS)).toEqual({ outcomes: ["duplicate"], number: null, changed: [] });
  expect(await mender.mend(null, [], GAPS)).toEqual({ outcomes: [], number: null, changed: [] });
  await inTransaction(db.pool, async (client) => {
    await lockTicker(client, "XAUUSD", "transaction");
    const mending = mender.mend(null, [at(1), at(1, 1.1, "XAUUSD")], GAPS);
    await expect(mending).rejects.toMatchObject({ id: "service_unavailable", data: { retry_after: 10 } });
  });
  expect(await closes()).toEqual(new Map([[0, 1.1]]));
  expect(await listBackfills(db, clock)).toEqual([]);
});

test("with the token of a lease that another node took, nothing is stored", async () => {
  await db.pool.query("INSERT INTO venue_lease (venue, token, beat) VALUES ('live', 7, 0)");
  await expect(mender.mend(6, [at(0)], GAPS)).rejects.toThrow(LeaseLost);
  await mender.noteWatched(6, [{ ticker: null, from: FROM_S, to: FROM_S + 600 }]);
  expect(await listBackfills(db, clock)).toEqual([]);
  const { rowCount } = await db.pool.query("SELECT FROM watched_minutes");
  expect(rowCount).toBe(0);
  expect(await mender.mend(7, [at(0)], GAPS)).toMatchObject({ outcomes: [null] });
});

test("ranges of watched minutes grow, shrink, and are forgotten when they are of no use", async () => {
  const ranges = async () => (await db.pool.query("SELECT from_s::int, to_s::int FROM watched_minutes ORDER BY from_s")).rows;
  await watched(0, 10);
  await watched(0, 5);
  await watched(6, 9);
  const range = (from: number, to: number) => ({ from_s: FROM_S + from * 60, to_s: FROM_S + to * 60 });
  expect(await ranges()).toEqual([range(0, 5), range(6, 9)]);
  clock.set(START_MS + 50 * DAY_MS);
  await watched(100, 101);
  expect(await ranges()).toEqual([]);
});

test("after any batches M5 to MN1 are the aggregation of the minutes, and the changed minutes are named", async () => {
  const minute = fc.record({ minute: fc.integer({ min: 0, max: 118 }), close: fc.integer({ min: 100, max: 120 }) });
  const batch = fc.uniqueArray(minute, { maxLength: 25, selector: (one) => one.minute });
  await fc.assert(
    fc
      .asyncProperty(fc.array(batch, { minLength: 1, maxLength: 3 }), async (batches) => {
        for (const minutes of batches) {
          const klines = minutes.map((one) => at(one.minute, one.close / 100));
          const before = await closes();
          const { changed } = await mender.mend(null, klines, ALL);
          const after = await closes();
          const times = [...after].filter(([key, close]) => before.get(key) !== close).map(([key]) => FROM_S + key * 60);
          const expected = { ticker: "EURUSD", first: Math.min(...times), last: Math.max(...times) };
          expect(changed).toEqual(times.length > 0 ? [expected] : []);
        }
        const minutes = await read();
        for (const timeframe of TIMEFRAMES.slice(1)) {
          expect(await read(timeframe)).toEqual(aggregate(minutes, timeframe, alignment));
        }
      })
      .beforeEach(async () => {
        await db.pool.query("TRUNCATE kline_tail, history_layer, history_visible");
      }),
    { numRuns: 15 },
  );
});
