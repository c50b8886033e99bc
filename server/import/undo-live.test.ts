import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { createLog } from "#lib/log";
import { mergeRows } from "#lib/market/kline-merge";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { startMarket } from "#server/market/market";
import { inTransaction } from "#server/store/history/transaction";
import { undoImport } from "#server/store/klines/import-undo";
import { storeBatch } from "#server/store/klines/kline-batches";
import { createKlineStore } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { storeTail } from "#server/testing/layered";
import { testKline } from "#server/testing/market";

/** A Wednesday, the day after the month began. */
const NOW_MS = Date.parse("2026-12-02T12:00:30Z");
const READ = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000, end: "oldest" as const };

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

/** A service with earlier minutes, into whose current day, week and month an import went. */
async function scene(ticker: string, earlier: readonly Kline[], importedDays: readonly Kline[] = []) {
  const clock = manualClock(NOW_MS);
  const store = createKlineStore(db);
  const { calendar, find, list } = createSandboxCatalogue();
  const catalogue = {
    calendar,
    find,
    list: () => list().filter((listing) => listing.ticker === ticker),
    instrument: () => undefined,
  };
  await storeTail(db, earlier);
  if (importedDays.length > 0) {
    const number = await beginTestImport({ db, clock });
    await inTransaction(db.pool, (client) => storeBatch(client, db.segments, number, importedDays, NOW_MS));
  }
  const market = await startMarket({
    files: memoryFiles(),
    venue: "live",
    catalogue,
    store,
    writer: store,
    acceptsPush: true,
    provider: "push",
    clock,
    log: createLog("silent"),
    metrics: createMetrics(),
  });
  const served = async (timeframe: Kline["timeframe"]) =>
    mergeRows(await store.read({ ticker, timeframe, ...READ }), market.view.recentKlines(ticker, timeframe), READ);
  const everything = () => Promise.all(TIMEFRAMES.map(served));
  const before = await everything();

  const number = await beginTestImport({ db, clock });
  const lastS = Math.floor(NOW_MS / 60_000) * 60 - 120;
  const rows = [0, 60, 3_600, 86_400, 30 * 86_400].map((ago) => testKline(ticker, "M1", lastS - ago, 1.5)).reverse();
  await inTransaction(db.pool, (client) => storeBatch(client, db.segments, number, rows, NOW_MS));
  const changed = async () => {
    const done = market.historyChanged(ticker);
    await clock.advance(1_200);
    await done;
  };
  await changed();
  const undo = async () => {
    await undoImport({ db, clock, record: async () => undefined }, number);
    await changed();
  };
  return { clock, market, rows, before, everything, served, undo };
}

const alignment = createAlignment();

test.each([
  ["nothing else", "EURUSD", []],
  ["earlier minutes of the same day", "GBPUSD", ["2026-12-02T10:00:00Z", "2026-12-01T10:00:00Z"]],
  ["minutes of a year ago", "AUDUSD", ["2025-12-01T10:00:00Z"]],
])("a running service serves what it served before an import once it is undone: beside %s", async (_, ticker, times) => {
  const earlier = times.map((time) => testKline(ticker, "M1", Date.parse(time) / 1000, 1.1)).reverse();
  const { market, rows, before, everything, served, undo } = await scene(ticker, earlier);
  const minutes = [...earlier, ...rows].sort((a, b) => a.time - b.time);
  for (const timeframe of TIMEFRAMES.slice(1)) expect(await served(timeframe)).toEqual(aggregate(minutes, timeframe, alignment));
  await undo();
  expect(await everything()).toEqual(before);
  await market.stop();
});

test("ticks that came after an import stay when it is undone", async () => {
  const { clock, market, served, undo } = await scene("NZDUSD", []);
  const tick = { ticker: "NZDUSD", time_msc: clock.now(), bid: 0.6, ask: 0.6002 };
  expect(await market.leader.push([tick])).toEqual([null]);
  await clock.advance(1_200);
  await undo();
  for (const timeframe of TIMEFRAMES)
    expect(await served(timeframe)).toMatchObject([{ open: 0.6, high: 0.6, low: 0.6, close: 0.6, tick_volume: 1 }]);
  await market.stop();
});

test("days that were imported as such give the previous close, and are no part of the open week and month", async () => {
  // Monday and Tuesday of the week, which is also the first day of the month.
  const days = ["2026-11-29T22:00:00Z", "2026-11-30T22:00:00Z"].map((at) =>
    testKline("USDCHF", "D1", Date.parse(at) / 1000, 0.8),
  );
  const today = [testKline("USDCHF", "M1", Date.parse("2026-12-02T10:00:00Z") / 1000, 0.9)];
  const { clock, market, everything, before, undo, served } = await scene("USDCHF", today, days);
  expect(await served("D1")).toHaveLength(3 + 1);
  await undo();
  expect(await everything()).toEqual(before);
  expect(await served("D1")).toHaveLength(3);
  for (const timeframe of ["W1", "MN1"] as const) expect(await served(timeframe)).toEqual(aggregate(today, timeframe, alignment));
  expect(await market.leader.push([{ ticker: "USDCHF", time_msc: clock.now(), bid: 0.91, ask: 0.9102 }])).toEqual([null]);
  expect(market.view.snapshot("USDCHF")).toMatchObject({ close: days[1]?.close, bid: 0.91 });
  await market.stop();
});
