import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { NO_TICKS } from "#lib/domain/tick-columns";
import { partOf } from "#server/store/klines/kline-batches";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { type Batch, openBatch } from "./store";

const START_S = Date.UTC(2025, 5, 2, 12) / 1000;
const clock = manualClock(Date.UTC(2026, 5, 1));

let db: TestDatabase;
let store: KlineTable;
let batch: Batch;
beforeAll(async () => {
  db = await testDatabase();
  const number = await beginTestImport({ db, clock });
  store = createKlineStore(db, number);
  batch = await openBatch({ database: db, clock, number });
});
afterAll(async () => {
  await batch.close();
  await db.close();
});

const minutes = (ticker: string, from: number, count: number, price = 1.1) => ({
  ...partOf(
    Array.from({ length: count }, (_, index) => ({
      type: "kline",
      ticker,
      timeframe: "M1",
      time: START_S + (from + index) * 60,
      tick_volume: 1,
      open: price,
      high: price,
      low: price,
      close: price,
      real_volume: null,
      spread: null,
    })),
  ),
  ticks: NO_TICKS,
});
const stored = async (ticker: string) =>
  (await store.read({ ticker, timeframe: "M1", from: 0, to: 4_000_000_000, limit: 1_000, end: "oldest" })).length;

/** A gate that a test opens. */
function gate() {
  let open = () => undefined as unknown;
  const opened = new Promise<void>((resolve) => {
    open = resolve as () => unknown;
  });
  return { open, opened };
}

test("neither a later part nor its position is stored before the part before it", async () => {
  const put = batch.file();
  const saved: string[] = [];
  const [started, hold] = [gate(), gate()];
  const first = put(minutes("EURUSD", 0, 10), async () => {
    started.open();
    await hold.opened;
    saved.push("first");
  });
  await started.opened;
  const second = put(minutes("EURUSD", 10, 10), async () => void saved.push("second"));
  const third = put(minutes("EURUSD", 20, 10), async () => void saved.push("third"));
  expect([saved, await stored("EURUSD")]).toEqual([[], 0]);
  hold.open();
  expect((await Promise.all([first, second, third])).map((counts) => counts.stored)).toEqual([10, 10, 10]);
  expect([saved, await stored("EURUSD")]).toEqual([["first", "second", "third"], 30]);
});

test("parts with the same minutes wait for each other, and the last one counts", async () => {
  const put = batch.file();
  const parts = [minutes("XAUUSD", 0, 10, 4_000), minutes("XAUUSD", 5, 10, 4_001), minutes("XAUUSD", 0, 1, 4_002)];
  const counts = await Promise.all(parts.map((part) => put(part, async () => undefined)));
  expect(counts.map((each) => [each.stored, each.conflicting])).toEqual([
    [10, 0],
    [5, 5],
    [0, 1],
  ]);
  const [kline] = await store.read({ ticker: "XAUUSD", timeframe: "M1", from: 0, to: 4_000_000_000, limit: 1, end: "oldest" });
  expect(kline?.close).toBe(4_002);
});

test("the parts of a trial are compared one after the other", async () => {
  const trial = await openBatch({ database: db, clock, number: null });
  const put = trial.file();
  const parts = [minutes("USDJPY", 0, 10), minutes("USDJPY", 10, 10), minutes("USDJPY", 19, 2)];
  const counts = await Promise.all(parts.map((part) => put(part, async () => undefined)));
  expect(counts.map((each) => [each.stored, each.repeated])).toEqual([
    [10, 0],
    [10, 0],
    [1, 1],
  ]);
  await trial.close();
});

test("when a part fails, the parts that followed it are not stored, and the next file is", async () => {
  const put = batch.file();
  const hold = gate();
  const failing = put(minutes("GBPUSD", 0, 10), async () => {
    await hold.opened;
    throw new Error("the disk is full");
  });
  const following = put(minutes("GBPUSD", 10, 10), async () => undefined);
  const outcomes = Promise.allSettled([failing, following]);
  hold.open();
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await stored("GBPUSD")).toBe(0);
  // Not told yet that a part failed, its reader goes on.
  await expect(put(minutes("GBPUSD", 20, 10), async () => undefined)).rejects.toThrow("the disk is full");
  expect(await stored("GBPUSD")).toBe(0);
  await batch.file()(minutes("GBPUSD", 20, 10), async () => undefined);
  expect(await stored("GBPUSD")).toBe(10);
});
