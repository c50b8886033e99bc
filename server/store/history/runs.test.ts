import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { columnsOf } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";
import { saidBy } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { storeTail } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { say, strikes } from "./layers";
import { readRange, saidIn } from "./minutes";
import { minutesSince, storedMonths, storedRuns } from "./runs";
import { inTransaction } from "./transaction";

/** The last minutes of a year. */
const START_S = Date.UTC(2025, 11, 31, 23, 40) / 1_000;
const SLOTS_COUNT = 40;
const timeOf = (slot: number) => START_S + slot * 60;
const clock = manualClock(Date.UTC(2026, 5, 1));

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const slots = fc.uniqueArray(fc.nat(SLOTS_COUNT - 1), { maxLength: 25 }).map((list) => list.sort((a, b) => a - b));
/** What sources say one after the other: a strike has no close. `same` is the layer of the import before. */
const statements = fc.array(
  fc.record({
    kind: fc.constantFrom("sealed" as const, "tail" as const, "import" as const, "same" as const, "strike" as const),
    slots,
    close: fc.integer({ min: 110, max: 140 }).map((value) => value / 100),
  }),
  { minLength: 1, maxLength: 6 },
);

/** What a layer said last of each slot; null where it took the kline out. */
type Said = Map<number, number | null>;

test("months, runs, minutes since an instant and what each layer said are those of a replay minute by minute", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(statements, fc.nat(SLOTS_COUNT), fc.nat(SLOTS_COUNT), async (given, one, other) => {
      round += 1;
      const ticker = `R${round}`;
      const series = { ticker, timeframe: "M1" } as const;
      const [sealed, tail]: [Said, Said] = [new Map(), new Map()];
      const imports: { number: number; said: Said; operator: boolean }[] = [];
      for (const [index, { kind, slots: list, close }] of given.entries()) {
        if (list.length === 0) continue;
        const klines = list.map((slot): Kline => testKline(ticker, "M1", timeOf(slot), close));
        const last = imports.at(-1);
        if (kind === "tail") await storeTail(db, klines);
        else {
          const operator = kind === "strike";
          const joins = kind === "same" && last !== undefined && !last.operator;
          const number = kind === "sealed" ? 0 : joins ? last.number : await beginTestImport({ db, clock });
          if (operator) await db.pool.query("UPDATE backfill SET by_operator = true WHERE number = $1", [number]);
          const times = klines.map(({ time }) => time);
          const layers = times.map(() => number);
          const rows = operator ? strikes(times, layers, index) : saidBy(columnsOf(klines), number, index);
          await inTransaction(db.pool, (client) => say(client, db.segments, series, rows));
          if (number !== 0 && !joins) imports.push({ number, said: new Map(), operator });
        }
        const layer = kind === "tail" ? tail : kind === "sealed" ? sealed : imports.at(-1)?.said;
        for (const slot of list) layer?.set(slot, kind === "strike" ? null : close);
      }
      const shown: Said = new Map([...sealed, ...tail]);
      for (const operator of [false, true])
        for (const layer of imports)
          if (layer.operator === operator) for (const [slot, close] of layer.said) shown.set(slot, close);
      const all = [...shown].sort(([a], [b]) => a - b);
      const stored = all.filter(([, close]) => close !== null).map(([slot]) => timeOf(slot));

      const months = await storedMonths(db.pool, db.segments, ticker);
      const expected = [Date.UTC(2025, 11), Date.UTC(2026, 0)].map((startMs, month) => {
        const times = stored.filter((time) => new Date(time * 1_000).getUTCMonth() === (month === 0 ? 11 : 0));
        return { start: startMs / 1_000, rows: times.length, first: times[0], last: times.at(-1) };
      });
      expect(months).toEqual(expected.filter(({ rows }) => rows > 0));

      const [from, to] = [timeOf(Math.min(one, other)), timeOf(Math.max(one, other))];
      const isIn = (time: number) => time >= from && time < to;
      const { newest, runs } = await storedRuns(db.pool, db.segments, ticker, from, to);
      expect(newest).toBe(stored.at(-1) ?? null);
      const held = runs.flatMap((run) => Array.from({ length: (run.to - run.from) / 60 }, (_, index) => run.from + index * 60));
      expect(held).toEqual(all.map(([slot]) => timeOf(slot)).filter(isIn));
      for (const [index, run] of runs.entries()) expect(run.from).not.toBe(runs[index - 1]?.to);

      const since = await minutesSince(db.pool, db.segments, [ticker, "NONE"], from + 0.5);
      expect(since).toEqual({
        times: stored.filter((time) => time >= from),
        // A minute of the tail that was struck out had a price.
        earlier: [...shown, ...tail].some(([slot, close]) => close !== null && timeOf(slot) < from),
      });

      const { rows, struck } = await readRange(db.pool, db.segments, { ...series, from, to });
      expect([...rows.time].map((time, row) => [time, rows.close[row]])).toEqual(
        all
          .filter(([, close]) => close !== null)
          .map(([slot, close]) => [timeOf(slot), close])
          .filter(([time]) => isIn(time as number)),
      );
      expect([...struck.time]).toEqual(
        all
          .filter(([, close]) => close === null)
          .map(([slot]) => timeOf(slot))
          .filter(isIn),
      );

      for (const { number, said } of [{ number: 0, said: new Map([...sealed, ...tail]) }, ...imports]) {
        const layer = await saidIn(db.pool, db.segments, ticker, number, { from, to });
        const own = [...said].filter(([, close]) => close !== null).sort(([a], [b]) => a - b);
        expect([...layer.time].map((time, row) => [time, layer.close[row]])).toEqual(
          own.map(([slot, close]) => [timeOf(slot), close]).filter(([time]) => isIn(time as number)),
        );
      }
    }),
    { numRuns: 40 },
  );
});
