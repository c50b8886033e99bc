import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Mending } from "#lib/market/mending";
import { collectingLog } from "#lib/testing/collecting-log";
import { LACKING_MAX_RANGES } from "#server/store/klines/lacking-minutes";
import { eventOf } from "#server/testing/events";
import { testKline } from "#server/testing/market";
import { createMemoryKlines } from "#server/testing/memory-klines";
import { createMinuteKeeper, type LeasedMender } from "./mending";
import { createRecorder } from "./recorder";

const WAITING_MAX_COUNT = 10;
const WRITTEN_MAX_MS = 5_000;
const START_MS = Date.UTC(2026, 0, 7, 12);
const MINUTE = testKline("EURUSD", "M1", START_MS / 1000, 1.2);
const MENDING: Mending = { replace: "gaps", by: { number: 1 } };

function scene() {
  const clock = manualClock(START_MS);
  const store = createMemoryKlines();
  const log = collectingLog([], "warn");
  const recorder = createRecorder({ writer: store, clock, log });
  const stopping = new AbortController();
  const noted: unknown[] = [];
  const lacking: unknown[] = [];
  const done: (() => void)[] = [];
  let failing = false;
  const note = (to: unknown[]) => async (ranges: readonly unknown[]) => {
    if (failing) throw new Error("the database is away");
    to.push(...ranges);
  };
  const mender: LeasedMender = {
    async mend(klines) {
      await new Promise<void>((resolve) => done.push(resolve));
      await store.writeBatch(klines, []);
      return { outcomes: klines.map(() => null), number: 1, changed: [] };
    },
    noteWatched: note(noted),
    noteLacking: note(lacking),
  };
  const keeper = createMinuteKeeper({ mender, recorder, clock, log, stopping: stopping.signal });
  const away = (next: boolean) => {
    failing = next;
  };
  return { clock, store, recorder, stopping, noted, lacking, done, mender, keeper, away };
}

test("a minute is mended only when its recorded state is stored, which would replace it otherwise", async () => {
  const { recorder, store, keeper, done, stopping } = scene();
  recorder.record([eventOf(testKline("EURUSD", "M1", START_MS / 1000, 1.1))]);
  const mending = keeper.mend([MINUTE], MENDING);
  await expect.poll(() => done.length).toBe(1);
  expect(store.all()).toMatchObject([{ close: 1.1 }]);
  done[0]?.();
  await mending;
  stopping.abort();
  await recorder.run(stopping.signal);
  expect(store.all()).toMatchObject([{ close: 1.2 }]);
});

test("batches are mended one at a time, and past the limit they are refused", async () => {
  const { keeper, done } = scene();
  const mendings = Array.from({ length: WAITING_MAX_COUNT }, () => keeper.mend([MINUTE], MENDING));
  await expect(keeper.mend([MINUTE], MENDING)).rejects.toMatchObject({ id: "service_unavailable", data: { retry_after: 5 } });
  for (let index = 0; index < WAITING_MAX_COUNT; index += 1) {
    await expect.poll(() => done.length).toBe(index + 1);
    done[index]?.();
  }
  expect(await Promise.all(mendings)).toHaveLength(WAITING_MAX_COUNT);
  const next = keeper.mend([MINUTE], MENDING);
  await expect.poll(() => done.length).toBe(WAITING_MAX_COUNT + 1);
  done.at(-1)?.();
  expect(await next).toMatchObject({ number: 1 });
});

test("nothing is mended while the database takes nothing, or this node stops", async () => {
  const { keeper, recorder, store, clock, stopping, done } = scene();
  store.away(true);
  recorder.record([eventOf(MINUTE)]);
  const refused = expect(keeper.mend([MINUTE], MENDING)).rejects.toMatchObject({ id: "service_unavailable" });
  await clock.advance(WRITTEN_MAX_MS);
  await refused;
  const stopped = expect(keeper.mend([MINUTE], MENDING)).rejects.toMatchObject({ id: "service_unavailable" });
  await new Promise((resolve) => setImmediate(resolve));
  stopping.abort();
  await stopped;
  await expect(keeper.mend([MINUTE], MENDING)).rejects.toMatchObject({ id: "service_unavailable" });
  expect(done).toEqual([]);
});

test("a minute counts as watched only when its ticks are stored, at the latest when the recorder has ended", async () => {
  const { keeper, recorder, store, clock, stopping, noted } = scene();
  const running = keeper.run();
  store.away(true);
  recorder.record([eventOf(MINUTE)]);
  keeper.watch.alive(MINUTE.ticker, START_MS, 90_000);
  keeper.watch.alive(MINUTE.ticker, START_MS + 61_000, 90_000);
  await clock.advance(5_000);
  expect(noted).toEqual([]);
  stopping.abort();
  await running;
  expect(noted).toEqual([]);
  store.away(false);
  await recorder.run(stopping.signal);
  await keeper.save();
  expect(noted).toEqual([{ ticker: MINUTE.ticker, from: START_MS / 1000, to: START_MS / 1000 + 60 }]);
});

test("it is stored which minutes lack ticks: all that a range touches", async () => {
  const { clock, keeper, lacking, stopping } = scene();
  const running = keeper.run();
  keeper.lacks(["EURUSD", "XAUUSD"], START_MS + 59_999, START_MS + 120_001, "stopped");
  await clock.advance(5_000);
  const minutes = { from: START_MS / 1000, to: START_MS / 1000 + 180, reason: "stopped" };
  expect(lacking).toEqual([
    { ticker: "EURUSD", ...minutes },
    { ticker: "XAUUSD", ...minutes },
  ]);
  await clock.advance(5_000);
  expect(lacking).toHaveLength(2);
  stopping.abort();
  await running;
});

test("what was watched and what lacks is stored once, of each ticker, and again while it could not be", async () => {
  const { clock, keeper, noted, lacking, stopping, away } = scene();
  const running = keeper.run();
  away(true);
  for (const ticker of ["EURUSD", "XAUUSD"])
    for (const timeMs of [START_MS, START_MS + 61_000]) keeper.watch.alive(ticker, timeMs, 90_000);
  await clock.advance(20_000);
  keeper.lacks(["EURUSD"], START_MS, START_MS + 1, "stopped");
  await clock.advance(20_000);
  expect([noted, lacking]).toEqual([[], []]);
  away(false);
  await clock.advance(60_000);
  const minute = { from: START_MS / 1000, to: START_MS / 1000 + 60 };
  expect(noted).toEqual(["EURUSD", "XAUUSD"].map((ticker) => ({ ticker, ...minute })));
  expect(lacking).toEqual([{ ticker: "EURUSD", ...minute, reason: "stopped" }]);
  stopping.abort();
  await running;
});

test("minutes that come to lack while others are stored are stored next, at most so many ranges as are kept", async () => {
  const { keeper, mender, lacking } = scene();
  const { noteLacking } = mender;
  Object.assign(mender, {
    noteLacking: async (ranges: Parameters<typeof noteLacking>[0]) => {
      const first = lacking.length === 0;
      await noteLacking(ranges);
      if (first) keeper.lacks(["XAUUSD"], START_MS, START_MS + 1, "refused");
    },
  });
  const tickers = Array.from({ length: LACKING_MAX_RANGES + 1 }, (_, index) => `T${index}`);
  keeper.lacks(tickers, START_MS, START_MS + 1, "stopped");
  await keeper.save();
  expect(lacking).toHaveLength(LACKING_MAX_RANGES);
  expect(lacking[0]).toMatchObject({ ticker: "T1" });
  await keeper.save();
  expect(lacking.slice(LACKING_MAX_RANGES)).toMatchObject([{ ticker: "XAUUSD", reason: "refused" }]);
});

test("a minute whose ticks are stored later does not count as watched with the save that runs already", async () => {
  const { keeper, recorder, store, noted } = scene();
  const writes: (() => void)[] = [];
  Object.assign(store, { writeBatch: () => new Promise<void>((resolve) => writes.push(resolve)) });
  const saveMinute = async (minute: number) => {
    recorder.record([eventOf({ ...MINUTE, time: MINUTE.time + 60 * minute })]);
    for (const at of [minute, minute + 1]) keeper.watch.alive(MINUTE.ticker, START_MS + at * 60_000, 60_000);
    await keeper.save();
  };
  const range = { ticker: MINUTE.ticker, from: START_MS / 1000 };
  const first = saveMinute(0);
  await expect.poll(() => writes.length).toBe(1);
  const second = saveMinute(1);
  await new Promise((resolve) => setImmediate(resolve));
  writes[0]?.();
  await first;
  expect(noted).toEqual([{ ...range, to: range.from + 60 }]);
  await expect.poll(() => writes.length).toBe(2);
  writes[1]?.();
  await second;
  expect(noted.at(-1)).toEqual({ ...range, to: range.from + 120 });
});
