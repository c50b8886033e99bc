import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import { DAY_MS, DAY_S, HOUR_MS, MINUTE_MS } from "#lib/units";
import { createKlineStore } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { beginTestImport } from "#server/testing/imports";
import { sweepSegments } from "./sweep";
import { dropTicks, storedTicks, storeTicks, TICK_SEGMENT_MAX_ROWS, ticksOfLayers } from "./tick-days";
import { addTick, sealTicks, type TickChunk } from "./tick-tail";
import { daysWithTicks, everyTickOfDay, readTicks, ticksOfDay } from "./ticks";
import { inTransaction } from "./transaction";

/** A Wednesday. */
const START_MS = Date.UTC(2026, 0, 7);
const DAY = START_MS / 1_000;
const ALL = { ticker: "EURUSD", from: 0, to: START_MS + 100 * DAY_MS, limit: 1_000_000, end: "oldest" } as const;

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(() => db.pool.query("TRUNCATE tick_tail, tick_segment, backfill CASCADE"));

/** Ticks of EURUSD at these times that came as they happened, told apart by their bids. */
function chunkOf(times: readonly number[], outcome: string = TAKEN, first = 1): TickChunk {
  const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  for (const [at, time_msc] of times.entries()) addTick(chunk, { time_msc, bid: first + at, ask: first + at }, time_msc, outcome);
  return chunk;
}
const write = (...chunks: TickChunk[]) => createKlineStore(db).writeBatch([], [], chunks);
const stored = () => ({ client: db.pool, segments: db.segments });
const seal = (beforeMs = START_MS + 200 * DAY_MS) => sealTicks(db, beforeMs);
const rowsOf = ({ time, bid }: TickColumns) => Array.from(time, (at, row) => [at, bid[row] as number] as const);

const beginImport = () => beginTestImport({ db, clock: manualClock(START_MS) }, { state: "done" });

/** Stores ticks as a file of an import does. @returns the number of the import: that of a new one, unless it is given */
async function importTicks(times: readonly number[], first: number, begun?: number): Promise<number> {
  const layer = begun ?? (await beginImport());
  const column = (values: readonly number[]) => Float64Array.from(values);
  const ticks: TickColumns = {
    time: column(times),
    bid: column(times.map((_, at) => first + at)),
    ask: column(times.map((_, at) => first + at)),
    volume: column(times.map(() => Number.NaN)),
    received: column(times.map(() => Number.NaN)),
    source: times.map(() => "file"),
    outcome: times.map(() => TAKEN),
  };
  await inTransaction(db.pool, (client) => storeTicks(client, db.segments, { ticker: "EURUSD", layer }, ticks));
  return layer;
}

test("whatever is written, sealed, imported and undone in any order, reads give the ticks that show, from either end", async () => {
  const times = fc.array(
    // Some are of the same minute.
    fc.oneof(fc.nat(3 * DAY_MS), fc.nat(5 * MINUTE_MS)).map((ms) => START_MS + ms),
    { minLength: 1, maxLength: 20 },
  );
  const step = fc.oneof(
    fc.record({ kind: fc.constant("write" as const), times }),
    fc.record({ kind: fc.constantFrom("import" as const, "next file" as const), times }),
    fc.record({ kind: fc.constantFrom("seal" as const, "undo" as const), times: fc.constant([]) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.record({ from: fc.nat(3 * DAY_MS), length: fc.nat(3 * DAY_MS), limit: fc.integer({ min: 1, max: 30 }) }),
      async (steps, asked) => {
        await db.pool.query("TRUNCATE tick_tail, tick_segment, backfill CASCADE");
        let layers: { number: number; rows: (readonly [number, number])[] }[] = [{ number: 0, rows: [] }];
        let next = 1;
        for (const { kind, times: at } of steps) {
          const sorted = [...at].sort((a, b) => a - b);
          const rows = sorted.map((time, index) => [time, next + index] as const);
          if (kind === "write") {
            await write(chunkOf(sorted, TAKEN, next));
            layers[0]?.rows.push(...rows);
          } else if (kind === "import") layers.push({ number: await importTicks(sorted, next), rows });
          else if (kind === "next file") {
            const layer = layers.at(-1) as (typeof layers)[number];
            if (layer.number === 0) continue;
            await importTicks(sorted, next, layer.number);
            const minutes = new Set(sorted.map((time) => Math.floor(time / MINUTE_MS)));
            layer.rows = [...layer.rows.filter(([time]) => !minutes.has(Math.floor(time / MINUTE_MS))), ...rows];
          } else if (kind === "seal") await seal();
          else {
            const last = layers.at(-1)?.number ?? 0;
            await db.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [last]);
            layers = layers.filter(({ number }) => number === 0 || number !== last);
          }
          next += at.length;
        }
        const minutes = new Map<number, number>();
        for (const [index, { rows }] of layers.entries())
          for (const [time] of rows) minutes.set(Math.floor(time / MINUTE_MS), index);
        const shown = layers
          .flatMap(({ rows }, index) => rows.filter(([time]) => minutes.get(Math.floor(time / MINUTE_MS)) === index))
          .sort((a, b) => a[0] - b[0]);
        expect(rowsOf(await readTicks(stored(), ALL))).toEqual(shown);
        const range = { from: START_MS + asked.from, to: START_MS + asked.from + asked.length, limit: asked.limit };
        const inRange = shown.filter(([time]) => time >= range.from && time < range.to);
        for (const end of ["oldest", "newest"] as const)
          expect(rowsOf(await readTicks(stored(), { ...ALL, ...range, end }))).toEqual(
            end === "oldest" ? inRange.slice(0, asked.limit) : inRange.slice(-asked.limit),
          );
      },
    ),
    { numRuns: 60 },
  );
});

test("ticks of more days than one statement looks up are read to the end", async () => {
  const times = Array.from({ length: 80 }, (_, day) => START_MS + day * DAY_MS);
  await write(chunkOf(times));
  await seal();
  expect((await readTicks(stored(), ALL)).time).toEqual(Float64Array.from(times));
  expect((await readTicks(stored(), { ...ALL, limit: 70, end: "newest" })).time).toEqual(Float64Array.from(times.slice(-70)));
});

test("a write that is repeated, because nobody knows what became of it, stores ticks once", async () => {
  const chunk = chunkOf([START_MS, START_MS]);
  await write(chunk);
  await write(chunk, chunkOf([START_MS + 1], TAKEN, 9));
  expect(rowsOf(await readTicks(stored(), ALL))).toEqual([
    [START_MS, 1],
    [START_MS, 2],
    [START_MS + 1, 9],
  ]);
});

test("ticks that were not taken are kept with the reason, on the day on which they came, and show nowhere else", async () => {
  const nextWeek = START_MS + 7 * DAY_MS;
  const held = chunkOf([START_MS + 5], "spike");
  addTick(held, { time_msc: nextWeek, bid: 7, ask: 7, volume: 3 }, START_MS + 6, "in_future");
  await write(chunkOf([START_MS + 4]), held);
  for (const sealed of [0, 2]) {
    if (sealed > 0) expect(await seal()).toBe(sealed);
    expect(rowsOf(await readTicks(stored(), ALL))).toEqual([[START_MS + 4, 1]]);
    const { outcome, time, volume } = await everyTickOfDay(stored(), "EURUSD", DAY);
    expect(outcome).toEqual([TAKEN, "spike", "in_future"]);
    expect([time[2], volume[2]]).toEqual([nextWeek, 3]);
  }
  expect(await daysWithTicks(db.pool, "EURUSD", 0, nextWeek + DAY_MS)).toEqual([DAY]);
});

test("a day of very many ticks has several segments", async () => {
  const times = Array.from({ length: TICK_SEGMENT_MAX_ROWS + 10 }, (_, at) => START_MS + at);
  await importTicks(times, 1);
  const { rows } = await db.pool.query("SELECT part, rows FROM tick_segment ORDER BY part");
  expect(rows).toEqual([
    { part: 0, rows: TICK_SEGMENT_MAX_ROWS },
    { part: 1, rows: 10 },
  ]);
  expect((await ticksOfDay(stored(), "EURUSD", DAY)).time).toEqual(Float64Array.from(times));
});

test("a file of an import with minutes of a day of several segments replaces them, and leaves no segment too many", async () => {
  const times = Array.from({ length: TICK_SEGMENT_MAX_ROWS + 10 }, (_, at) => START_MS + at);
  const layer = await importTicks(times, 1);
  await importTicks([START_MS + HOUR_MS], 5, layer);
  await importTicks([START_MS], 7, layer);
  const kept = times.filter((at) => at >= START_MS + MINUTE_MS);
  expect(rowsOf(await ticksOfDay(stored(), "EURUSD", DAY))).toEqual([
    [START_MS, 7],
    ...kept.map((at) => [at, at - START_MS + 1]),
    [START_MS + HOUR_MS, 5],
  ]);
  expect(await ticksOfLayers(db.pool, [layer])).toEqual([{ layer, ticker: "EURUSD", ticks: kept.length + 2 }]);
});

test("whole days beyond the bounds are deleted, the oldest first, and then their segments", async () => {
  await write(chunkOf([0, 1, 2, 3].map((day) => START_MS + day * DAY_MS)));
  await seal();
  const days = async () => (await daysWithTicks(db.pool, "EURUSD", 0, ALL.to)).map((day) => (day - DAY) / DAY_S);
  const { bytes, month_bytes } = await storedTicks(db.pool, "EURUSD", START_MS + 31 * DAY_MS);
  expect(month_bytes).toBe((bytes * 3) / 4);
  expect(await storedTicks(db.pool, "XAUUSD", START_MS)).toEqual({ bytes: 0, month_bytes: 0 });
  expect(await dropTicks(db.pool, START_MS + 3 * DAY_MS + HOUR_MS, { days: null, bytes: null })).toBe(0);
  expect(await dropTicks(db.pool, START_MS + 3 * DAY_MS + HOUR_MS, { days: 2, bytes: null })).toBe(1);
  expect(await days()).toEqual([1, 2, 3]);
  expect(await dropTicks(db.pool, START_MS, { days: null, bytes: Math.ceil(bytes / 2) })).toBe(1);
  expect(await days()).toEqual([2, 3]);
  await sweepSegments(db, Date.now() + 2 * HOUR_MS);
  const { rows } = await db.pool.query("SELECT count(*)::int AS count FROM history_content");
  expect(rows).toEqual([{ count: 2 }]);
  expect((await readTicks(stored(), ALL)).time.length).toBe(2);
});
