import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { CORRECTION_SETTLE_S, type CorrectionForm, STRIKE_MAX_MINUTES } from "#lib/contract/portal-corrections";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { openWithout } from "#lib/market/coverage";
import { lockTicker } from "#server/store/history/lock";
import { inTransaction } from "#server/store/history/transaction";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeTail } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { undoImport } from "./import-undo";
import { createKlineStore, type KlineTable } from "./kline-store";
import { mendableMinutes } from "./mendable-minutes";
import { createMinuteMender } from "./mended-minutes";
import { correctMinutes } from "./minute-corrections";

/** A Wednesday. */
const START_MS = Date.UTC(2026, 0, 7, 12);
const FROM_S = START_MS / 1000 - 3_600;
const clock = manualClock(START_MS);

let db: TestDatabase;
let store: KlineTable;
let listing: Listing;
let calendar: NonNullable<ReturnType<Awaited<ReturnType<typeof createCatalogue>>["calendar"]>>;
const recorded: unknown[] = [];
const announced: unknown[] = [];

beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
  const catalogue = await createCatalogue(db, "live");
  listing = catalogue.find("EURUSD") as Listing;
  calendar = catalogue.calendar("EURUSD") as typeof calendar;
});
afterAll(() => db?.close());
beforeEach(async () => {
  for (const table of ["kline_tail", "history_layer", "history_visible", "backfill", "watched_minutes"])
    await db.pool.query(`DELETE FROM ${table}`);
  recorded.length = 0;
  announced.length = 0;
  clock.set(START_MS);
  await storeTail(
    db,
    [0, 1, 2].map((minute) => at(minute, minute === 1 ? 1.9 : 1.1)),
  );
});

async function publishWith(_: unknown, messages: readonly unknown[]) {
  announced.push(...messages);
}

const admin = () => ({
  db: { pool: db.pool, segments: db.segments, control: { publishWith } },
  clock,
  record: async (_: unknown, change: unknown) => void recorded.push(change),
});
const at = (minute: number, close = 1.1): Kline => testKline("EURUSD", "M1", FROM_S + minute * 60, close);
const strike = (minute: number, minutes = 1): CorrectionForm => ({
  action: "strike",
  time: FROM_S + minute * 60,
  minutes,
  reason: "a wrong tick",
});
const replace = (minute: number, changes: Partial<Extract<CorrectionForm, { action: "replace" }>> = {}): CorrectionForm => ({
  action: "replace",
  time: FROM_S + minute * 60,
  reason: "a wrong tick",
  tick_volume: 5,
  spread: null,
  open: 1.1,
  high: 1.12,
  low: 1.09,
  close: 1.1,
  ...changes,
});
const correct = (form: CorrectionForm) => correctMinutes(admin(), listing, form);
const read = (timeframe: Kline["timeframe"] = "M1") =>
  store.read({ ticker: "EURUSD", timeframe, from: 0, to: 4e9, limit: 1_000, end: "oldest" });
const closes = async () => (await read()).map(({ time, close }) => [(time - FROM_S) / 60, close]);
const mend = (minute: number, replaceWhat: "gaps" | "all" = "all") =>
  createMinuteMender({ db, clock, record: async () => undefined }).mend(null, [at(minute, 1.3)], {
    replace: replaceWhat,
    by: { keyId: "key-1", label: "sw_live_abcd…wxyz" },
  });
const expectLongerKlines = async () => {
  const minutes = await read();
  for (const timeframe of ["M5", "M15", "M30"] as const)
    expect(await read(timeframe)).toEqual(aggregate(minutes, timeframe, createAlignment()));
};

test("a struck minute is gone, longer klines are rebuilt, and the correction is audited, announced and can be undone", async () => {
  const { number, minutes } = await correct(strike(1, 2));
  expect(minutes).toBe(2);
  expect(await closes()).toEqual([[0, 1.1]]);
  await expectLongerKlines();
  expect(recorded).toEqual([
    {
      action: "history.correct",
      target: "EURUSD",
      before: [at(1, 1.9), at(2)],
      after: { number, reason: "a wrong tick", klines: [] },
    },
  ]);
  const range = { first: FROM_S + 60, last: FROM_S + 120 };
  expect(announced).toEqual([{ kind: "klines", venue: "live", ticker: "EURUSD", minutes: { ...range, struck: number } }]);
  expect(await store.stored.struckBy(number, "EURUSD")).toEqual([at(1, 1.9), at(2)]);
  await undoImport(admin(), number);
  expect(await read()).toEqual([at(0), at(1, 1.9), at(2)]);
  await expectLongerKlines();
});

test("a replaced minute has the new values, rounded to the digits of the instrument", async () => {
  const { number } = await correct(replace(1, { close: 1.1000049, spread: 0.00002 }));
  expect((await read())[1]).toMatchObject({ open: 1.1, high: 1.12, low: 1.09, close: 1.1, tick_volume: 5, spread: 0.00002 });
  await expectLongerKlines();
  // A minute without a kline gets one.
  await correct(replace(30));
  expect(await closes()).toContainEqual([30, 1.1]);
  await undoImport(admin(), number);
  expect((await read())[1]).toEqual(at(1, 1.9));
});

test("until the undo, neither pushes nor repairs write to a corrected minute; they may fill it afterwards", async () => {
  const corrections = [await correct(strike(1)), await correct(replace(2))];
  for (const minute of [1, 2]) expect((await mend(minute)).outcomes).toEqual(["corrected"]);
  const span = { from: FROM_S, to: FROM_S + 240 };
  expect(await mendableMinutes(db.pool, db.segments, "EURUSD", span, calendar)).toEqual([
    { from: FROM_S, to: FROM_S + 60 },
    { from: FROM_S + 180, to: FROM_S + 240 },
  ]);
  // Feeders are not asked for it either.
  const { runs } = await store.stored.runs("EURUSD", span.from, span.to);
  expect(openWithout(span, runs, [{ openMs: span.from * 1_000, closeMs: span.to * 1_000 }])).toEqual([
    { from: FROM_S + 180, to: FROM_S + 240 },
  ]);
  for (const { number } of corrections) await undoImport(admin(), number);
  for (const minute of [1, 2]) expect((await mend(minute)).outcomes).toEqual([null]);
});

test.each([
  ["a minute that is not over", () => strike(59, 1), "time", /60 s after its end/],
  ["minutes that are not all over", () => strike(0, STRIKE_MAX_MINUTES), "time", /60 s after its end/],
  ["a strike of nothing", () => strike(40), "time", /No kline is stored at 2026-01-07T11:40:00.000Z/],
  ["a low above the close", () => replace(1, { low: 1.11 }), "low", /lowest/],
  ["a high below the open", () => replace(1, { high: 1.05, low: 1.01 }), "high", /highest/],
  ["a price without its decimal point", () => replace(1, { high: 112 }), "high", /at most 3 times/],
  ["a price that rounds to nothing", () => replace(1, { low: 0.000001 }), "low", /price of this instrument/],
])("%s is refused, and nothing is stored", async (_, form, parameter, detail) => {
  await expect(correct(form())).rejects.toMatchObject({
    id: "invalid_parameter",
    data: { parameter, detail: expect.stringMatching(detail) },
  });
  expect(await closes()).toEqual([
    [0, 1.1],
    [1, 1.9],
    [2, 1.1],
  ]);
  expect([recorded, announced]).toEqual([[], []]);
});

test("the minute of 60 s ago can be corrected, and while an import changes the same ticker none can", async () => {
  await storeTail(db, [at(58)]);
  expect((await correct(strike(58))).minutes).toBe(1);
  expect(CORRECTION_SETTLE_S).toBe(60);
  await inTransaction(db.pool, async (client) => {
    expect(await lockTicker(client, "EURUSD", "transaction")).toBe(true);
    await expect(correct(strike(1))).rejects.toMatchObject({ data: { detail: expect.stringMatching(/Another command/) } });
  });
});
