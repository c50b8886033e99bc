import { describe, expect, test } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { MINUTE_MS } from "#lib/units";
import { BATCH_EVERY_MS, CATCH_UP_MAX_MS, sandboxFeed } from "./feed";
import { createSandboxPrices } from "./prices";

const START_MS = Date.UTC(2026, 4, 6, 12, 30);

const catalogue = createSandboxCatalogue();
const prices = createSandboxPrices({ catalogue, seed: 1 });

/** All ticks of all tickers in [fromMs, toMs), according to the formula. */
function formula(fromMs: number, toMs: number): Tick[] {
  const ticks: Tick[] = [];
  for (let minute = Math.floor(fromMs / MINUTE_MS); minute * MINUTE_MS < toMs; minute++)
    for (const ticker of prices.tickers()) ticks.push(...(prices.series(ticker)?.ticks(minute) ?? []));
  return ticks.filter(({ time_msc }) => time_msc >= fromMs && time_msc < toMs);
}

const order = (a: Tick, b: Tick) => a.time_msc - b.time_msc || (a.ticker < b.ticker ? -1 : 1);

/** Lets a feed catch up: each missed minute takes one turn of the event loop. */
async function catchUp(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A feed whose batches are recorded with the time of their arrival. */
function follow(clock: ManualClock, options: Partial<Parameters<typeof sandboxFeed>[0]> = {}) {
  const batches: { atMs: number; ticks: readonly Tick[] }[] = [];
  const feed = sandboxFeed({ prices, clock, ...options });
  function start() {
    const stopping = new AbortController();
    const ended = (async () => {
      for await (const ticks of feed(stopping.signal)) batches.push({ atMs: clock.now(), ticks });
    })();
    return { stop: () => stopping.abort(), ended };
  }
  return { batches, start, ticks: () => batches.flatMap(({ ticks }) => ticks) };
}

describe("the sandbox feed", () => {
  test("the sandbox feed delivers exactly the ticks of the formula, from the start of the current minute", async () => {
    const clock = manualClock(START_MS + 20_000);
    const { start, ticks } = follow(clock);
    const run = start();
    await clock.advance(3 * MINUTE_MS);
    run.stop();
    await run.ended;
    expect(ticks().toSorted(order)).toEqual(formula(START_MS, clock.now() + 1).toSorted(order));
  });

  test("the sandbox feed delivers each tick on time: never early, and late by one batch interval at most", async () => {
    const clock = manualClock(START_MS);
    const { start, batches } = follow(clock);
    const run = start();
    await clock.advance(2 * MINUTE_MS);
    run.stop();
    await run.ended;
    for (const { atMs, ticks } of batches)
      for (const { time_msc } of ticks) {
        expect(time_msc).toBeLessThanOrEqual(atMs);
        expect(atMs - time_msc).toBeLessThanOrEqual(BATCH_EVERY_MS);
      }
  });

  test("times in the sandbox feed rise over all batches, and no batch is empty or crosses the end of a minute", async () => {
    const clock = manualClock(START_MS + 59_900);
    const { start, batches, ticks } = follow(clock);
    const run = start();
    await clock.advance(2 * MINUTE_MS);
    run.stop();
    await run.ended;
    const times = ticks().map(({ time_msc }) => time_msc);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const { ticks: batch } of batches)
      expect(new Set(batch.map(({ time_msc }) => Math.floor(time_msc / MINUTE_MS))).size).toBe(1);
  });

  test("the sandbox feed continues after a restart without missing or repeating a tick", async () => {
    const clock = manualClock(START_MS);
    const { start, ticks } = follow(clock, { startMs: START_MS - 30_000 });
    for (let i = 0; i < 3; i++) {
      const run = start();
      await clock.advance(25_200);
      run.stop();
      await run.ended;
      await clock.advance(7_000);
    }
    expect(ticks().toSorted(order)).toEqual(formula(START_MS - 30_000, clock.now() - 7_000 + 1).toSorted(order));
  });

  test("after a stall the sandbox feed catches up in order, one minute per batch", async () => {
    const clock = manualClock(START_MS);
    const { start, batches, ticks } = follow(clock);
    const run = start();
    await clock.advance(1_000);
    clock.set(START_MS + 10 * MINUTE_MS);
    await clock.advance(0);
    await catchUp();
    await clock.advance(60_000);
    run.stop();
    await run.ended;
    expect(ticks().toSorted(order)).toEqual(formula(START_MS, clock.now() + 1).toSorted(order));
    const times = ticks().map(({ time_msc }) => time_msc);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const minutes = batches.map(
      ({ ticks: batch }) => new Set(batch.map(({ time_msc }) => Math.floor(time_msc / MINUTE_MS))).size,
    );
    expect(new Set(minutes)).toEqual(new Set([1]));
  });

  test("the sandbox feed skips a stall that is too long, reports it, and continues with a complete minute", async () => {
    const clock = manualClock(START_MS);
    const skipped: [number, number][] = [];
    const { start, ticks } = follow(clock, { onSkip: (fromMs, toMs) => skipped.push([fromMs, toMs]) });
    const run = start();
    await clock.advance(1_000);
    const resumeMs = START_MS + 2 * CATCH_UP_MAX_MS;
    clock.set(resumeMs + 30_000);
    await clock.advance(1_000);
    run.stop();
    await run.ended;
    expect(skipped).toEqual([[START_MS + 1_001, resumeMs]]);
    const given = [...formula(START_MS, START_MS + 1_001), ...formula(resumeMs, clock.now() + 1)];
    expect(ticks().toSorted(order)).toEqual(given.toSorted(order));
  });

  test("the sandbox feed waits, and repeats nothing, when the clock goes back", async () => {
    const clock = manualClock(START_MS);
    const { start, ticks } = follow(clock);
    const run = start();
    await clock.advance(30_000);
    clock.set(START_MS + 10_000);
    await clock.advance(30_000);
    run.stop();
    await run.ended;
    expect(ticks().toSorted(order)).toEqual(formula(START_MS, clock.now() + 1).toSorted(order));
  });

  test("a slow consumer slows the sandbox feed down", async () => {
    const clock = manualClock(START_MS);
    const batches = sandboxFeed({ prices, clock })(new AbortController().signal)[Symbol.asyncIterator]();
    const first = batches.next();
    await clock.advance(5_000);
    const early = await first;
    await clock.advance(20_000);
    const next = await batches.next();
    await batches.return?.();
    const given = [...(early.value ?? []), ...(next.value ?? [])];
    expect(given.at(-1)?.time_msc).toBeGreaterThan(START_MS + 20_000);
    expect(given.toSorted(order)).toEqual(formula(START_MS, clock.now() + 1).toSorted(order));
  });

  test("a sandbox feed that is stopped before it starts ends at once", async () => {
    const { start, batches } = follow(manualClock(START_MS));
    const stopped = new AbortController();
    stopped.abort();
    for await (const _ of sandboxFeed({ prices, clock: manualClock(START_MS) })(stopped.signal)) expect.fail("yielded a batch");
    const run = start();
    run.stop();
    await run.ended;
    expect(batches.length).toBeLessThanOrEqual(1);
  });
});
