import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAlignment } from "#lib/domain/timeframe";
import { showAgain } from "#server/store/history/layers";
import { inTransaction } from "#server/store/history/transaction";
import { createPartitions } from "#server/store/klines/partitions";
import { createConversionBench, rowKline as kline } from "#server/testing/converted";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { convertTicker } from "./convert";

/** Monday before a month and a year end. */
const START_S = Date.UTC(2025, 11, 29, 21, 50) / 1_000;
const alignment = createAlignment();

let db: TestDatabase;
let bench: ReturnType<typeof createConversionBench>;
beforeAll(async () => {
  db = await testDatabase();
  await createPartitions(db.pool)(START_S - 400 * 86_400, START_S + 400 * 86_400);
  bench = createConversionBench(db);
});
afterAll(() => db.close());

async function convert(ticker: string) {
  await bench.await(ticker);
  return convertTicker(db, ticker, { signal: new AbortController().signal, onProgress: () => undefined });
}

async function undo(number: number, ticker: string): Promise<void> {
  await bench.rows.undo(number, ticker);
  await inTransaction(db.pool, async (client) => {
    await showAgain(client, db.segments, number);
  });
}

const rowsOf = fc.uniqueArray(fc.tuple(fc.nat(14), fc.nat(2)), { minLength: 1, maxLength: 8, selector: ([slot]) => slot });
const startedMs = fc.nat(5).map((hours) => START_S * 1_000 - hours * 3_600_000);
/** What happens to a ticker. Slots lie hours apart, so that they touch several days, weeks and months. */
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("import" as const), rows: rowsOf, startedMs }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("continue" as const), rows: rowsOf, which: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("feed" as const), rows: rowsOf }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("longer" as const),
        timeframe: fc.constantFrom("M5" as const, "H1" as const, "H4" as const, "D1" as const, "W1" as const, "MN1" as const),
        rows: rowsOf,
        startedMs,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("correct" as const), slot: fc.nat(14), value: fc.nat(2), startedMs }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("strike" as const), rows: rowsOf, startedMs }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("undo" as const), which: fc.nat() }) },
  ),
  { minLength: 1, maxLength: 12 },
);

const timeOf = (slot: number) => START_S + slot * 731 * 60;

type Step = typeof steps extends fc.Arbitrary<(infer Of)[]> ? Of : never;

function unlessRepeated(error: unknown): void {
  if ((error as { code?: string }).code !== "23505") throw error;
}

/** Runs steps as the release before did. @returns the numbers of the imports that are not undone */
async function replay(ticker: string, given: readonly Step[]): Promise<number[]> {
  const active: number[] = [];
  const minutes = (rows: readonly (readonly [number, number])[]) =>
    rows.map(([slot, value]) => kline(ticker, timeOf(slot), value));
  async function begin(startedMs: number, byOperator = false): Promise<number> {
    const number = await bench.begin(startedMs, byOperator);
    active.push(number);
    return number;
  }
  for (const step of given) {
    if (step.kind === "feed") await bench.rows.feed(ticker, minutes(step.rows));
    else if (step.kind === "import") {
      await bench.rows.store(await begin(step.startedMs), ticker, minutes(step.rows));
    } else if (step.kind === "correct") {
      await bench.rows.store(await begin(step.startedMs, true), ticker, minutes([[step.slot, step.value]]));
    } else if (step.kind === "strike") {
      const times = step.rows.map(([slot]) => timeOf(slot));
      await bench.rows.strike(await begin(step.startedMs, true), ticker, times);
    } else if (step.kind === "longer") {
      const { timeframe } = step;
      const rows = step.rows.map(([slot, value]) => [alignment.openTime(timeframe, timeOf(slot)), value] as const);
      const klines = [...new Map(rows)].map(([time, value]) => kline(ticker, time, value, timeframe));
      await bench.rows.storeLonger(await begin(step.startedMs), ticker, timeframe, klines);
    } else {
      const number = active[step.which % Math.max(1, active.length)];
      if (number === undefined) continue;
      if (step.kind === "undo") {
        await bench.rows.undo(number, ticker);
        active.splice(active.indexOf(number), 1);
      } else {
        const operator = await db.pool.query("SELECT FROM backfill WHERE number = $1 AND by_operator", [number]);
        // That release refused to write a minute a second time which the import had replaced before another one did.
        if (operator.rowCount === 0) await bench.rows.store(number, ticker, minutes(step.rows)).catch(unlessRepeated);
      }
    }
  }
  return active;
}

test("a converted ticker shows what its rows showed, and after undos in any order what they would have shown", async () => {
  let round = 0;
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.infiniteStream(fc.nat()), async (given, choices) => {
      round += 1;
      const ticker = `T${round}`;
      const active = await replay(ticker, given);
      const converted = await convert(ticker);
      expect(converted?.rowsIn).toBe(converted?.rowsOut);
      await bench.expectEqual(ticker);
      while (active.length > 0) {
        const number = active[(choices.next().value as number) % active.length] as number;
        active.splice(active.indexOf(number), 1);
        await undo(number, ticker);
        // A correction that an import wrote over is not brought back.
        if (converted?.leftOut === 0) await bench.expectEqual(ticker);
        compared += converted?.leftOut === 0 ? 1 : 0;
      }
    }),
    { numRuns: 12 },
  );
  expect(compared).toBeGreaterThan(10);
});
