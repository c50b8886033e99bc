import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import type { Side } from "#lib/domain/columns";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { TAKEN } from "#lib/domain/tick-columns";
import { createAlignment } from "#lib/domain/timeframe";
import { DAY_S, HOUR_MS, HOUR_S, MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { storeLayer } from "#server/testing/layered";
import { testKline, testKlines } from "#server/testing/market";
import { sealTails } from "./tail";
import { addTick, sealTicks, type TickChunk } from "./tick-tail";

/** A Wednesday. */
const START_MS = Date.UTC(2026, 0, 7, 12);
const START_S = START_MS / 1_000;
const COUNT = 130;

let db: TestDatabase;
let table: KlineTable;
beforeAll(async () => {
  db = await testDatabase();
  table = createKlineStore(db);
});
afterAll(() => db.close());

/** A tick every twenty seconds, as it is kept, and the minutes that they make. */
const ticks = Array.from({ length: COUNT * 3 }, (_, at) => ({
  ticker: "EURUSD",
  time_msc: START_MS + at * 20_000,
  bid: 1.1 + Math.round(30 * Math.sin(at / 5)) / 1e5,
  ask: 1.1 + Math.round(30 * Math.sin(at / 5) + 4 + (at % 3)) / 1e5,
}));
function minutesOf(price: "bid" | Side): Kline[] {
  const minutes = new Map<number, Kline>();
  for (const tick of ticks) {
    const time = Math.floor(tick.time_msc / MINUTE_MS) * 60;
    const quote = toQuote(tick, 5);
    const bids = foldQuote(minutes.get(time), { ...quote, bid: quote[price] }, undefined, "M1", time);
    minutes.set(time, bids);
  }
  return [...minutes.values()];
}

beforeEach(async () => {
  await db.pool.query(
    "TRUNCATE kline_tail, history_layer, history_visible, history_derived, tick_tail, tick_segment, backfill CASCADE",
  );
  const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  for (const tick of ticks) addTick(chunk, tick, tick.time_msc, TAKEN);
  await table.writeBatch(minutesOf("bid"), [], [chunk]);
});

const read = (price: Side | undefined, timeframe: Timeframe = "M1", limit = 1_000) =>
  table.read({ ticker: "EURUSD", timeframe, from: START_S, to: START_S + DAY_S, limit, end: "oldest", price });
const seal = async () => {
  await sealTails(db, START_S + DAY_S);
  await sealTicks(db, START_MS + 24 * HOUR_MS);
};

test.each(["ask", "mid"] as const)("klines of %s are those of the ticks, before and after they are sealed", async (price) => {
  const expected = minutesOf(price);
  expect(await read(price)).toEqual(expected);
  const hours = await read(price, "H1");
  expect(hours.map(({ open }) => open)).toEqual([0, 60, 120].map((minute) => expected[minute]?.open));
  await seal();
  expect(await read(price)).toEqual(expected);
  expect(await read(price, "H1")).toEqual(hours);
  expect(await read(undefined)).toEqual(minutesOf("bid"));
});

test("ticks that are deleted later take nothing from sealed minutes, and those that were never kept leave minutes out", async () => {
  await seal();
  await db.pool.query("TRUNCATE tick_segment");
  expect(await read("ask")).toEqual(minutesOf("ask"));
  await db.pool.query("TRUNCATE kline_tail, history_layer, history_visible");
  await table.writeBatch(minutesOf("bid"), []);
  expect(await read("ask")).toEqual([]);
  await sealTails(db, START_S + DAY_S);
  expect(await read("ask")).toEqual([]);
  expect(await read(undefined)).toHaveLength(COUNT);
});

describe("a longer kline exists only where every minute of its interval has the side", () => {
  const ASIDE = Date.UTC(2025, 10, 20) / SECOND_MS;
  const END = Date.UTC(2026, 0, 12) / SECOND_MS;
  /** A minute in seven of almost eight weeks, of which some days lack an ask now and then, and one week has none. */
  const minutes = Array.from({ length: Math.floor((END - ASIDE) / (7 * MINUTE_S)) }, (_, index) => {
    const time = ASIDE + index * 7 * MINUTE_S;
    const day = Math.floor((time - ASIDE) / DAY_S);
    const lacks = (day >= 30 && day < 37) || (day % 4 === 2 && index % 23 === 0);
    const bid = (110_000 + Math.round(500 * Math.sin(index))) / 1e5;
    return { kline: testKline("EURUSD", "M1", time, bid), ask: lacks ? null : bid + 0.0001 };
  });
  const alignment = createAlignment();

  /** The ask klines of a timeframe by the naive way. */
  function expected(timeframe: Timeframe): { readonly time: number; readonly high: number }[] {
    const groups = new Map<number, (number | null)[]>();
    for (const { kline, ask } of minutes) {
      const open = alignment.openTime(timeframe, kline.time);
      groups.set(open, [...(groups.get(open) ?? []), ask]);
    }
    return [...groups].flatMap(([time, asks]) =>
      asks.includes(null) ? [] : [{ time, high: Number(Math.max(...(asks as number[])).toFixed(5)) }],
    );
  }

  test("in every timeframe, from both ends and with any limit", async () => {
    await db.pool.query("TRUNCATE kline_tail, tick_tail");
    const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
    for (const { kline, ask } of minutes) {
      const tick = { time_msc: kline.time * SECOND_MS, bid: kline.close, ask: ask ?? 0 };
      if (ask !== null) addTick(chunk, tick, tick.time_msc, TAKEN);
    }
    const klines = minutes.map(({ kline }) => ({ ...kline, tick_volume: 1 }));
    await table.writeBatch(klines, [], [chunk]);
    // The last days stay rows.
    await sealTails(db, END - 2 * DAY_S);
    await sealTicks(db, (END - 2 * DAY_S) * SECOND_MS);
    for (const timeframe of TIMEFRAMES) {
      const all = expected(timeframe);
      for (const limit of [1, 3, 50, 100_000])
        for (const end of ["oldest", "newest"] as const) {
          const rows = await table.read({ ticker: "EURUSD", timeframe, from: 0, to: END, limit, end, price: "ask" });
          expect(
            rows.map(({ time, high }) => ({ time, high })),
            `${timeframe} ${limit} ${end}`,
          ).toEqual(end === "oldest" ? all.slice(0, limit) : all.slice(-limit));
        }
    }
  });
});

test("a limit is filled from the months before, if one has asks in every hour and all of none", async () => {
  const months = [Date.UTC(2025, 10, 12) / SECOND_MS, Date.UTC(2025, 11, 10) / SECOND_MS];
  const minutes = months.flatMap((from) => testKlines("EURUSD", "M1", from, 20 * 60, MINUTE_S));
  const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  await db.pool.query("TRUNCATE kline_tail, tick_tail");
  for (const [index, { time, close }] of minutes.entries()) {
    const lacks = index >= minutes.length / 2 && index % 60 === 30;
    const tick = { time_msc: time * SECOND_MS, bid: close, ask: close + 0.0001 };
    if (!lacks) addTick(chunk, tick, tick.time_msc, TAKEN);
  }
  const watched = minutes.map((kline) => ({ ...kline, tick_volume: 1 }));
  await table.writeBatch(watched, [], [chunk]);
  await seal();
  const query = { ticker: "EURUSD", timeframe: "H1", from: 0, to: START_S, limit: 10, end: "newest" } as const;
  const hours = await table.read({ ...query, price: "ask" });
  expect(hours.map(({ time }) => time)).toEqual(Array.from({ length: 10 }, (_, hour) => (months[0] ?? 0) + (10 + hour) * HOUR_S));
});

test("the minute that has just ended is left out until its ticks are stored", async () => {
  const last = START_S + (COUNT - 1) * MINUTE_S;
  const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  await db.pool.query("TRUNCATE kline_tail, tick_tail");
  for (const tick of ticks) if (tick.time_msc < last * SECOND_MS) addTick(chunk, tick, tick.time_msc, TAKEN);
  await table.writeBatch(minutesOf("bid"), [], [chunk]);
  const hour = { ticker: "EURUSD", timeframe: "H1", from: START_S, to: START_S + DAY_S, limit: 9, end: "oldest" } as const;
  const asks = (endedBy?: number) => table.read({ ...hour, price: "ask", endedBy });
  expect(await asks()).toHaveLength(2);
  expect((await asks(last)).at(-1)).toMatchObject({ time: START_S + 7_200, close: minutesOf("ask").at(-2)?.close });
});

test("minutes over which an import without asks lies have none until it is undone, and a limit counts those that have some", async () => {
  await seal();
  const layer = await beginTestImport({ db, clock: manualClock(START_S * SECOND_MS) }, { state: "done" });
  const klines = minutesOf("bid").slice(0, 100);
  await storeLayer(db, { ticker: "EURUSD", timeframe: "M1", layer, klines, knownMs: 1 });
  const left = minutesOf("ask").slice(100);
  expect(await read("ask")).toEqual(left);
  expect(await read("ask", "M1", 10)).toEqual(left.slice(0, 10));
  expect(await read(undefined)).toHaveLength(COUNT);
  const { rows: visible } = await db.pool.query("SELECT rows, sides FROM history_visible");
  expect(visible).toEqual([{ rows: COUNT, sides: COUNT - 100 }]);
});
