import fc from "fast-check";
import { expect, test } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { foldQuote, type Kline, mergeKlines } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { createAlignment } from "#lib/domain/timeframe";
import { createLog } from "#lib/log";
import { mergeRows } from "#lib/market/kline-merge";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { type RunningMarket, startMarket } from "#server/market/market";
import { testKline } from "#server/testing/market";
import { createMemoryKlines, type MemoryKlines } from "#server/testing/memory-klines";

const TICKER = "EURUSD";
const DIGITS = 5;
const alignment = createAlignment();

/** Instants around which timeframes begin and clocks change. */
const STARTS = [
  "2026-12-02T12:00:00Z", // a Wednesday, the month began on Tuesday
  "2026-11-30T21:30:00Z", // the eve of the first
  "2026-12-31T21:58:00Z", // the first day of a month and a year, in the middle of a week
  "2026-11-01T21:50:00Z", // a Sunday and the first day of a month, after the clocks of New York changed
  "2026-03-29T20:30:00Z", // a Sunday, after the clocks of Europe changed
  "2026-06-12T20:57:00Z", // the last minutes of a week
];

const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("tick" as const), waitMs: fc.integer({ min: 1, max: 90_000 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("pause" as const), waitMs: fc.integer({ min: 1, max: 3 * DAY_MS }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("restart" as const, "crash" as const), waitMs: fc.nat(2 * HOUR_MS) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("import" as const),
      /** How long before now its last minute is. */
      agoMs: fc.oneof(
        fc.integer({ min: 0, max: 2 * HOUR_MS }),
        fc.integer({ min: 0, max: 40 * DAY_MS }),
        fc.constant(6 * 365 * DAY_MS),
      ),
      stepMs: fc.constantFrom(MINUTE_MS, 7 * MINUTE_MS, 5 * HOUR_MS, DAY_MS),
      rows: fc.integer({ min: 1, max: 6 }),
      /** How long it takes. */
      waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 * MINUTE_MS })),
      /** How long until the service hears of it. */
      heardMs: fc.nat(5_000),
    }),
  },
);

/** A running service whose history is imported, as the importer and the control message do it. */
function scene(startMs: number) {
  const clock: ManualClock = manualClock(startMs);
  const memory = createMemoryKlines();
  const { calendar, find, list } = createSandboxCatalogue();
  const catalogue = { calendar, find, list: () => list().filter(({ ticker }) => ticker === TICKER), instrument: () => undefined };
  /** The minutes that there should be. */
  const minutes = new Map<number, Kline>();
  const start = () =>
    startMarket({
      files: memoryFiles(),
      venue: "live",
      catalogue,
      store: memory,
      writer: memory,
      acceptsPush: true,
      provider: "push",
      clock,
      log: createLog("silent"),
      metrics: createMetrics(),
    });

  /** Jumps, so that not every tenth of a second is played; then klines close and are written. */
  async function pass(ms: number): Promise<void> {
    clock.set(clock.now() + ms);
    await clock.advance(1_200);
  }

  async function tick(market: RunningMarket, points: number): Promise<void> {
    const tick = { ticker: TICKER, time_msc: clock.now(), bid: points / 1e5, ask: (points + 9) / 1e5 };
    expect(await market.leader.push([tick])).toEqual([null]);
    const time = Math.floor(tick.time_msc / MINUTE_MS) * 60;
    minutes.set(time, foldQuote(minutes.get(time), toQuote(tick, DIGITS), undefined, "M1", time));
  }

  async function importRows(market: RunningMarket, rows: readonly Kline[], tookMs: number, heardMs: number): Promise<void> {
    await memory.writeBatch(rows, []);
    for (const row of rows) minutes.set(row.time, row);
    await pass(tookMs);
    await tick(market, 101_000);
    await pass(heardMs);
    const changed = market.historyChanged(TICKER);
    await clock.advance(1_200);
    await changed;
  }
  return { clock, memory, minutes, start, pass, tick, importRows };
}

/** The klines of a timeframe, each from its minutes, without a step in between. */
function reference(minutes: ReadonlyMap<number, Kline>, timeframe: Kline["timeframe"]): Kline[] {
  const klines = new Map<number, Kline>();
  for (const [, row] of [...minutes].sort(([a], [b]) => a - b)) {
    const time = alignment.openTime(timeframe, row.time);
    const known = klines.get(time);
    klines.set(time, known === undefined ? { ...row, timeframe, time } : mergeKlines(known, row));
  }
  return [...klines.values()];
}

async function expectTrue(market: RunningMarket, memory: MemoryKlines, minutes: ReadonlyMap<number, Kline>): Promise<void> {
  const read = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000, end: "oldest" as const };
  for (const timeframe of TIMEFRAMES) {
    const stored = await memory.read({ ticker: TICKER, timeframe, ...read });
    const served = mergeRows(stored, market.view.recentKlines(TICKER, timeframe), read);
    expect(served).toEqual(reference(minutes, timeframe));
  }
}

test("after imports, ticks, restarts and crashes in any order, every timeframe is the aggregation of its minutes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...STARTS),
      fc.integer({ min: 0, max: 10 * MINUTE_MS }),
      fc.array(event, { minLength: 2, maxLength: 12 }),
      async (start, laterMs, events) => {
        const { clock, memory, minutes, start: begin, pass, tick, importRows } = scene(Date.parse(start) + laterMs);
        let market = await begin();
        for (const [index, one] of events.entries()) {
          if (one.kind === "tick") {
            await pass(one.waitMs);
            await tick(market, 100_000 + index * 7);
          } else if (one.kind === "import") {
            const lastS = Math.floor((clock.now() - one.agoMs) / MINUTE_MS) * 60 - 120;
            const rows = Array.from({ length: one.rows }, (_, row) => {
              const time = Math.floor((lastS - ((one.rows - 1 - row) * one.stepMs) / 1000) / 60) * 60;
              return testKline(TICKER, "M1", time, 1 + ((index * 31 + row) % 90) / 1e4);
            });
            await importRows(market, rows, one.waitMs, one.heardMs);
          } else if (one.kind === "pause") await pass(one.waitMs);
          else {
            // A crash loses the klines that closed in the last half second, and no more ticks than the operator is promised.
            await clock.advance(501 + (one.waitMs % 700));
            memory.away(one.kind === "crash");
            await market.stop();
            memory.away(false);
            clock.set(clock.now() + one.waitMs);
            market = await begin();
          }
          await expectTrue(market, memory, minutes);
        }
        await market.stop();
      },
    ),
    { numRuns: 40 },
  );
});
