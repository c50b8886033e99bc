import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import type { Kline } from "#lib/domain/kline";
import { createLog } from "#lib/log";
import { collectingLog } from "#lib/testing/collecting-log";
import type { MarketEvent } from "#server/events/event";
import { eventOf } from "#server/testing/events";
import { createMemoryKlines, type MemoryKlines } from "#server/testing/memory-klines";
import { createRecorder, PENDING_MAX_ROWS } from "./recorder";

const log = createLog("silent");
const kline = (changes: Partial<Kline>): Kline => ({ ...klineExample, ...changes });
const quotesIn = async (store: MemoryKlines) => [...(await store.lastQuotes(Number.POSITIVE_INFINITY)).values()];
const klineEvent = (changes: Partial<Kline>, closed = false): MarketEvent => eventOf(kline(changes), { closed });

function start(pendingMaxRows?: number) {
  const clock = manualClock(0);
  const store = createMemoryKlines();
  const flushes: number[] = [];
  const onFlush = (rows: number, failed: boolean) => !failed && flushes.push(rows);
  const recorder = createRecorder({ writer: store, clock, log, onFlush, pendingMaxRows });
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
    expect(await quotesIn(store)).toEqual([snapshotExample]);
    expect(flushes).toEqual([2]);
    await clock.advance(5_000);
    expect(flushes).toEqual([2]);
    await stop();
  });

  test("the recorder stores minutes alone, and no corrections, which come from the store", async () => {
    const { clock, store, recorder, stop } = start();
    const corrected = { ...klineEvent({ timeframe: "M1", time: 0 }, true), corrected: true } as MarketEvent;
    recorder.record([klineEvent({ timeframe: "M1" }), klineEvent({ timeframe: "D1" }, true), corrected, eventOf(quoteExample)]);
    expect(recorder.pending()).toBe(1);
    await clock.advance(500);
    expect(store.all()).toEqual([kline({ timeframe: "M1" })]);
    await stop();
  });

  test("the recorder keeps a failed batch and writes it later, without overwriting newer states", async () => {
    const { clock, store, recorder, stop } = start();
    store.away(true);
    const [old, other] = [snapshotExample, { ...snapshotExample, ticker: "XAUUSD" }];
    recorder.record([klineEvent({ timeframe: "M1", close: 1.1 }), klineEvent({ timeframe: "M1", time: 60, close: 1 })]);
    recorder.record([eventOf(old), eventOf(other)]);
    await clock.advance(500);
    expect(recorder.pending()).toBe(4);
    recorder.record([klineEvent({ timeframe: "M1", close: 1.3 }), eventOf({ ...old, bid: 1.3 })]);
    store.away(false);
    await clock.advance(500);
    expect(store.all().map((row) => row.close)).toEqual([1, 1.3]);
    expect(await quotesIn(store)).toEqual([{ ...old, bid: 1.3 }, other]);
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
    let stored = false;
    const late = recorder.written(waiting.signal).then(() => {
      stored = true;
    });
    await clock.advance(5_000);
    expect(stored).toBe(false);
    store.away(false);
    await clock.advance(500);
    await late;
    expect(store.all().map((row) => row.close)).toEqual([1.3]);
    await stop();
  });

  test("a caller waits for the write that runs, but neither where nothing is left to write nor after it gave up", async () => {
    const { store, recorder, stop } = start();
    const waiting = new AbortController();
    let finish = () => {};
    Object.assign(store, {
      writeBatch: () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    });
    await recorder.written(waiting.signal);
    recorder.record([klineEvent({ timeframe: "M1" })]);
    const done: string[] = [];
    const first = recorder.written(waiting.signal).then(() => done.push("first"));
    expect(recorder.pending()).toBe(0);
    const second = recorder.written(waiting.signal).then(() => done.push("second"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual([]);
    finish();
    await Promise.all([first, second]);
    recorder.record([klineEvent({ timeframe: "M1" })]);
    const third = recorder.written(waiting.signal);
    waiting.abort();
    await third;
    await recorder.written(waiting.signal);
    finish();
    await stop();
  });

  test("the recorder says once that it cannot write, once that it writes again, and at the end only what it could not write", async () => {
    const lines: Record<string, unknown>[] = [];
    const [clock, store, stopping] = [manualClock(0), createMemoryKlines(), new AbortController()];
    let writes = 0;
    const writer = {
      writeBatch: (...batch: Parameters<typeof store.writeBatch>) => {
        writes += 1;
        return store.writeBatch(...batch);
      },
    };
    const recorder = createRecorder({ writer, clock, log: collectingLog(lines, "info") });
    const ended = recorder.run(stopping.signal);
    const told = () => lines.splice(0).map(({ level, rows }) => [level, rows]);
    const [info, error] = [30, 50];
    recorder.record([klineEvent({ timeframe: "M1" })]);
    await clock.advance(5_000);
    expect([told(), writes]).toEqual([[], 1]);
    store.away(true);
    recorder.record([klineEvent({ timeframe: "M1" })]);
    await clock.advance(500);
    // Callers that wait do not make it try more often.
    for (let count = 0; count < 5; count += 1) void recorder.written(stopping.signal);
    await clock.advance(4_500);
    expect(told()).toEqual([[error, 1]]);
    expect(writes).toBeLessThanOrEqual(11);
    store.away(false);
    await clock.advance(5_000);
    expect(told()).toEqual([[info, 1]]);
    store.away(true);
    recorder.record([klineEvent({ timeframe: "M1" })]);
    stopping.abort();
    await ended;
    expect(told()).toEqual([
      [error, 1],
      [error, 1],
    ]);
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
  test("feeders go on while there is room, and where they or the recorder stop", async () => {
    const { store, recorder, stop } = start(2);
    const [feeder, other] = [new AbortController(), new AbortController()];
    store.away(true);
    recorder.record([klineEvent({ timeframe: "M1", time: 60 })]);
    expect(recorder.hasRoom()).toBe(true);
    await recorder.room(feeder.signal);
    recorder.record([klineEvent({ timeframe: "M1", time: 120 })]);
    expect(recorder.hasRoom()).toBe(false);
    const stopped = recorder.room(feeder.signal);
    feeder.abort();
    await stopped;
    await recorder.room(feeder.signal);
    const released = recorder.room(other.signal);
    await stop();
    await released;
  });
});

describe("ticks", () => {
  const tick = (time_msc: number, ticker = "EURUSD") => ({ ticker, time_msc, bid: 1, ask: 2 });
  const timesIn = (store: MemoryKlines) =>
    store.ticks().map(({ ticker, numbers }) => `${ticker} ${numbers[0]}+${numbers.length / 5}`);

  function keeping(pendingMaxTicks?: number) {
    const clock = manualClock(0);
    const store = createMemoryKlines();
    let leftOut = 0;
    const recorder = createRecorder({
      writer: store,
      clock,
      log,
      pendingMaxTicks,
      leftOut: (ticks) => {
        leftOut += ticks;
      },
    });
    const stopping = new AbortController();
    const ended = recorder.run(stopping.signal);
    const stop = () => {
      stopping.abort();
      return ended;
    };
    return { clock, store, recorder, stop, leftOut: () => leftOut };
  }

  test("they are written every four seconds, those of a ticker and source in one chunk, and all at the end", async () => {
    const { clock, store, recorder, stop } = keeping();
    recorder.keep(tick(1), null, 10, "push");
    recorder.keep(tick(2, "XAUUSD"), null, 11, "push");
    recorder.keep(tick(3), "spike", 12, "push");
    recorder.keep(tick(4), null, 13, "oanda");
    await clock.advance(3_500);
    expect(store.ticks()).toEqual([]);
    await clock.advance(500);
    expect(store.ticks()).toMatchObject([
      {
        ticker: "EURUSD",
        source: "push",
        numbers: [1, 1, 2, Number.NaN, 10, 3, 1, 2, Number.NaN, 12],
        outcomes: ["taken", "spike"],
      },
      { ticker: "XAUUSD", source: "push" },
      { ticker: "EURUSD", source: "oanda" },
    ]);
    recorder.keep(tick(5), null, 14, "push");
    await stop();
    expect(timesIn(store).at(-1)).toBe("EURUSD 5+1");
  });

  test("a caller that waits for everything to be stored waits for ticks, too", async () => {
    const { store, recorder, stop } = keeping();
    recorder.keep(tick(1), null, 10, "push");
    await recorder.written(new AbortController().signal);
    expect(timesIn(store)).toEqual(["EURUSD 1+1"]);
    await stop();
  });

  test("a chunk whose write failed is written again as it was, before what came later", async () => {
    const { clock, store, recorder, stop } = keeping();
    const given: string[][] = [];
    const { writeBatch } = store;
    store.writeBatch = (...batch) => {
      given.push((batch[2] ?? []).map(({ id }) => id));
      return writeBatch(...batch);
    };
    store.away(true);
    recorder.keep(tick(1), null, 10, "push");
    await clock.advance(4_000);
    recorder.keep(tick(2), null, 11, "push");
    store.away(false);
    await clock.advance(4_000);
    expect(timesIn(store)).toEqual(["EURUSD 1+1", "EURUSD 2+1"]);
    expect(given[1]?.[0]).toBe(given[0]?.[0]);
    await stop();
  });

  test("past their bound they are left out and counted, and klines go on", async () => {
    const { clock, store, recorder, stop, leftOut } = keeping(2);
    store.away(true);
    for (let at = 1; at <= 5; at += 1) recorder.keep(tick(at), null, at, "push");
    recorder.record([klineEvent({ timeframe: "M1" })]);
    expect(recorder.hasRoom()).toBe(true);
    expect(leftOut()).toBe(3);
    store.away(false);
    await clock.advance(4_000);
    expect(timesIn(store)).toEqual(["EURUSD 1+2"]);
    expect(store.all().length).toBe(1);
    recorder.keep(tick(6), null, 6, "push");
    store.away(true);
    await stop();
    expect(leftOut()).toBe(4);
  });

  test("many are written in several groups, without waiting for the time", async () => {
    const { clock, store, recorder, stop } = keeping();
    for (let at = 0; at < 120_000; at += 1) recorder.keep(tick(at), null, at, "push");
    await clock.advance(500);
    const written = () => store.ticks().reduce((sum, { outcomes }) => sum + outcomes.length, 0);
    expect(written()).toBe(60_000);
    await stop();
    expect(written()).toBe(120_000);
  });
});
