import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { snapshotExample } from "#lib/contract/snapshot";
import type { Kline } from "#lib/domain/kline";
import { createLog } from "#lib/log";
import { createMemoryKlines } from "#lib/testing/memory-klines";
import type { MarketEvent } from "#server/events/event";
import { eventOf } from "#server/testing/events";
import { createRecorder, PENDING_MAX_ROWS } from "./recorder";

const log = createLog("silent");
const kline = (changes: Partial<Kline>): Kline => ({ ...klineExample, ...changes });
const klineEvent = (changes: Partial<Kline>, closed = false): MarketEvent => eventOf(kline(changes), { closed });

function start() {
  const clock = manualClock(0);
  const store = createMemoryKlines();
  const flushes: number[] = [];
  const recorder = createRecorder({ writer: store, clock, log, onFlush: (rows, failed) => !failed && flushes.push(rows) });
  const stopping = new AbortController();
  const ended = recorder.run(stopping.signal);
  const stop = () => {
    stopping.abort();
    return ended;
  };
  return { clock, store, recorder, flushes, stop };
}

describe("recorder", () => {
  test("the recorder writes each dirty row once, in its newest state, within half a second", async () => {
    const { clock, store, recorder, flushes, stop } = start();
    recorder.record([klineEvent({ timeframe: "M1", close: 1.1 }), eventOf(snapshotExample)]);
    recorder.record([klineEvent({ timeframe: "M1", close: 1.2 })]);
    await clock.advance(500);
    expect(store.all()).toEqual([kline({ timeframe: "M1", close: 1.2 })]);
    expect(flushes).toEqual([2]);
    await clock.advance(5_000);
    expect(flushes).toEqual([2]);
    await stop();
  });

  test("the recorder stores higher timeframes only when they close", async () => {
    const { clock, store, recorder, stop } = start();
    recorder.record([klineEvent({ timeframe: "H1" }), klineEvent({ timeframe: "D1" }, true)]);
    await clock.advance(500);
    expect(store.all().map((row) => row.timeframe)).toEqual(["D1"]);
    await stop();
  });

  test("the recorder keeps a failed batch and writes it later, without overwriting newer states", async () => {
    const { clock, store, recorder, stop } = start();
    store.away(true);
    recorder.record([klineEvent({ timeframe: "M1", close: 1.1 }), klineEvent({ timeframe: "M1", time: 60, close: 1 })]);
    await clock.advance(500);
    expect(recorder.pending()).toBe(2);
    recorder.record([klineEvent({ timeframe: "M1", close: 1.3 })]);
    store.away(false);
    await clock.advance(500);
    expect(store.all().map((row) => row.close)).toEqual([1, 1.3]);
    await stop();
  });

  test("the recorder writes at once for a caller that waits, also during a write and after a failure", async () => {
    const { clock, store, recorder, stop } = start();
    const waiting = new AbortController();
    recorder.record([klineEvent({ timeframe: "M1", close: 1.1 })]);
    const first = recorder.written(waiting.signal);
    recorder.record([klineEvent({ timeframe: "M1", close: 1.2 })]);
    await Promise.all([first, recorder.written(waiting.signal)]);
    expect(store.all().map((row) => row.close)).toEqual([1.2]);
    store.away(true);
    recorder.record([klineEvent({ timeframe: "M1", close: 1.3 })]);
    const late = recorder.written(waiting.signal);
    await clock.advance(5_000);
    store.away(false);
    await clock.advance(500);
    await late;
    expect(store.all().map((row) => row.close)).toEqual([1.3]);
    await stop();
  });

  test("a stopped recorder writes its remaining rows", async () => {
    const { store, recorder, stop } = start();
    recorder.record([klineEvent({ timeframe: "M1" })]);
    await stop();
    expect(store.all()).toHaveLength(1);
  });

  test("the recorder blocks feeders while too many rows wait, and releases them when there is room", async () => {
    const { clock, store, recorder, stop } = start();
    store.away(true);
    recorder.record(Array.from({ length: PENDING_MAX_ROWS }, (_, index) => klineEvent({ timeframe: "M1", time: index * 60 })));
    let going = false;
    const waiting = recorder.room().then(() => {
      going = true;
    });
    await clock.advance(500);
    expect(going).toBe(false);
    store.away(false);
    await clock.advance(500);
    await waiting;
    expect(store.all()).toHaveLength(PENDING_MAX_ROWS);
    await stop();
  });
});
