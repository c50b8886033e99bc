import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Mending } from "#lib/market/mending";
import { collectingLog } from "#lib/testing/collecting-log";
import { createMemoryKlines } from "#lib/testing/memory-klines";
import { eventOf } from "#server/testing/events";
import { testKline } from "#server/testing/market";
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
  const mender: LeasedMender = {
    async mend(klines) {
      await new Promise<void>((resolve) => done.push(resolve));
      await store.writeBatch(klines, []);
      return { outcomes: klines.map(() => null), number: 1, changed: [] };
    },
    noteWatched: async (ranges) => void noted.push(...ranges),
    noteLacking: async (ranges) => void lacking.push(...ranges),
  };
  const keeper = createMinuteKeeper({ mender, recorder, clock, log, stopping: stopping.signal });
  return { clock, store, recorder, stopping, noted, lacking, done, keeper };
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
  const { keeper, recorder, store, clock, stopping } = scene();
  store.away(true);
  recorder.record([eventOf(MINUTE)]);
  const refused = expect(keeper.mend([MINUTE], MENDING)).rejects.toMatchObject({ id: "service_unavailable" });
  await clock.advance(WRITTEN_MAX_MS);
  await refused;
  stopping.abort();
  await expect(keeper.mend([MINUTE], MENDING)).rejects.toMatchObject({ id: "service_unavailable" });
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
