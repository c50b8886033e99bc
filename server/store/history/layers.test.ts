import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { columnsOf, klineAt } from "#lib/domain/columns";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { inPostgres } from "#server/store/segments/segment-store";
import { createSegments, saidBy } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { periodsOf, say, show, strikes } from "./layers";
import { createReader } from "./reader";
import { sealTail } from "./tail";
import { inTransaction } from "./transaction";

/** Monday before a month and a year end. */
const START_S = Date.UTC(2025, 11, 29, 21, 50) / 1000;
const clock = manualClock(Date.UTC(2026, 5, 1));
const alignment = createAlignment();
const segments = createSegments(inPostgres, 16);
/** Of another process, which has nothing in memory. */
const reader = createReader(createSegments(inPostgres, 16));

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const minute = (ticker: string, time: number, value: number, timeframe: Timeframe = "M1"): Kline => ({
  type: "kline",
  ticker,
  timeframe,
  time,
  open: 1 + value / 10,
  high: 1.5 + value / 10,
  low: 0.5,
  close: 1.2,
  tick_volume: value + 1,
  real_volume: value % 2 === 0 ? null : value,
  spread: value === 1 ? null : 0.0001,
});

/** What happens to a ticker. Slots lie hours apart, so that they touch several days, weeks and months. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("import" as const),
        rows: fc.array(fc.tuple(fc.nat(14), fc.nat(2)), { minLength: 1, maxLength: 8 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("feed" as const),
        rows: fc.array(fc.tuple(fc.nat(14), fc.nat(2)), { minLength: 1, maxLength: 8 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("longer" as const),
        timeframe: fc.constantFrom("H1" as const, "D1" as const, "MN1" as const),
        rows: fc.array(fc.tuple(fc.nat(14), fc.nat(2)), { minLength: 1, maxLength: 8 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("again" as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("correct" as const), slot: fc.nat(14), value: fc.option(fc.nat(2)) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("undo" as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("redo" as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("seal" as const), slot: fc.nat(15) }) },
  ),
  { minLength: 1, maxLength: 12 },
);

const timeOf = (slot: number) => START_S + slot * 731 * 60;

/** The same rules, row by row. */
function createModel(ticker: string) {
  const layers: { number: number; timeframe: Timeframe; operator: boolean; active: boolean; rows: Map<number, Kline | null> }[] =
    [];
  const feed = new Map<number, Kline>();
  function minutes(): Kline[] {
    const shown = new Map<number, Kline | null>(feed);
    for (const operator of [false, true])
      for (const layer of layers)
        if (layer.active && layer.operator === operator && layer.timeframe === "M1")
          for (const [time, kline] of layer.rows) shown.set(time, kline);
    return [...shown.values()].filter((kline) => kline !== null).sort((a, b) => a.time - b.time);
  }
  return {
    layers,
    feed,
    expected(timeframe: Timeframe): Kline[] {
      const own = timeframe === "M1" ? minutes() : aggregate(minutes(), timeframe, alignment);
      const shown = new Map<number, Kline>();
      for (const layer of layers)
        if (layer.active && layer.timeframe === timeframe && timeframe !== "M1")
          for (const [time, kline] of layer.rows) if (kline !== null) shown.set(time, kline);
      for (const kline of own) shown.set(kline.time, kline);
      return [...shown.values()].sort((a, b) => a.time - b.time).map((kline) => ({ ...kline, ticker, timeframe }));
    },
  };
}

test("klines of all timeframes are what a replay of imports, feeds, corrections, undos and redos leaves, sealed or not", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      round += 1;
      const ticker = `T${round}`;
      const model = createModel(ticker);
      const series = (timeframe: Timeframe) => ({ ticker, timeframe });
      async function addLayer(timeframe: Timeframe, klines: readonly (Kline | number)[], operator: boolean): Promise<void> {
        const number = await beginTestImport({ db, clock });
        if (operator) await db.pool.query("UPDATE backfill SET by_operator = true WHERE number = $1", [number]);
        const rows = new Map(klines.map((kline) => (typeof kline === "number" ? [kline, null] : [kline.time, kline])));
        const said = [...rows.values()].filter((kline) => kline !== null).sort((a, b) => a.time - b.time);
        const struck = [...rows].filter(([, kline]) => kline === null).map(([time]) => time);
        const knownMs = clock.now() + number;
        await inTransaction(db.pool, async (client) => {
          const statements =
            struck.length > 0
              ? strikes(
                  struck,
                  struck.map(() => number),
                  knownMs,
                )
              : saidBy(columnsOf(said), number, knownMs);
          await say(client, segments, series(timeframe), statements);
        });
        model.layers.push({ number, timeframe, operator, active: true, rows });
      }
      async function setActive(which: number, active: boolean): Promise<void> {
        const found = model.layers.filter((layer) => layer.active !== active);
        const layer = found[which % Math.max(1, found.length)];
        if (layer === undefined) return;
        layer.active = active;
        await inTransaction(db.pool, async (client) => {
          await client.query("UPDATE backfill SET undone_at = $2 WHERE number = $1", [layer.number, active ? null : new Date()]);
          for (const period of await periodsOf(client, layer.number)) await show(client, segments, period, period.start);
        });
      }
      for (const step of given) {
        if (step.kind === "import")
          await addLayer(
            "M1",
            step.rows.map(([slot, value]) => minute(ticker, timeOf(slot), value)),
            false,
          );
        else if (step.kind === "longer") {
          const { timeframe } = step;
          const klines = step.rows.map(([slot, value]) =>
            minute(ticker, alignment.openTime(timeframe, timeOf(slot)), value, timeframe),
          );
          await addLayer(timeframe, klines, false);
        } else if (step.kind === "correct") {
          const time = timeOf(step.slot);
          await addLayer("M1", [step.value === null ? time : minute(ticker, time, step.value)], true);
        } else if (step.kind === "feed")
          for (const [slot, value] of step.rows) {
            const { time, open, high, low, close, tick_volume, real_volume, spread } = minute(ticker, timeOf(slot), value);
            await db.pool.query(
              `INSERT INTO kline_tail VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (ticker, time) DO UPDATE
                SET (open, high, low, close, tick_volume, real_volume, spread) = ($3, $4, $5, $6, $7, $8, $9)`,
              [ticker, time, open, high, low, close, tick_volume, real_volume, spread],
            );
            model.feed.set(time, minute(ticker, time, value));
          }
        else if (step.kind === "seal")
          await inTransaction(db.pool, (client) => sealTail(client, segments, series("M1"), timeOf(step.slot)));
        else if (step.kind === "again") {
          const layer = model.layers[step.which % Math.max(1, model.layers.length)];
          const rows = [...(layer?.rows ?? [])].map(([time, kline]) => kline ?? time);
          if (layer !== undefined) await addLayer(layer.timeframe, rows, layer.operator);
        } else await setActive(step.which, step.kind === "redo");
      }
      for (const timeframe of TIMEFRAMES) {
        const expected = model.expected(timeframe);
        const [from, to] = [timeOf(3), timeOf(11)];
        for (const [query, rows] of [
          [{ from: 0, to: 4e9, limit: 1_000, end: "oldest" }, expected],
          [{ from: 0, to: 4e9, limit: 3, end: "newest" }, expected.slice(-3)],
          [{ from, to, limit: 2, end: "oldest" }, expected.filter(({ time }) => time >= from && time < to).slice(0, 2)],
          [{ from, to, limit: 2, end: "newest" }, expected.filter(({ time }) => time >= from && time < to).slice(-2)],
        ] as const) {
          const { columns } = await reader.read(db.pool, { ticker, timeframe, ...query });
          expect([...columns.time.keys()].map((row) => klineAt(columns, row, ticker, timeframe))).toEqual(rows);
        }
      }
    }),
    { numRuns: 40 },
  );
});
