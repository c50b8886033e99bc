import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import type { Side } from "#lib/domain/columns";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { TAKEN } from "#lib/domain/tick-columns";
import { DAY_S, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { storeLayer } from "#server/testing/layered";
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
