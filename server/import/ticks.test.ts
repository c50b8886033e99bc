import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { columnsOf, type Side } from "#lib/domain/columns";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { NO_TICKS, TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { openBatch } from "#server/import/load/store";
import { addTick, sealTicks, type TickChunk } from "#server/store/history/tick-tail";
import { readTicks } from "#server/store/history/ticks";
import { createKlineStore } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { emptyHistory, hurriedClock, IMPORT_NOW_MS, importCommand, storedKlines } from "#server/testing/import-command";
import { commandOutcome } from "#server/testing/terminal";
import { importCommand as command } from "./index";

/** A Monday. */
const START_MS = Date.UTC(2024, 2, 4);
const EVERY_TICK = { ticker: "EURUSD", from: 0, to: IMPORT_NOW_MS, limit: 1_000_000, end: "oldest" } as const;

let db: TestDatabase;
let folder = "";
beforeAll(async () => {
  db = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-ticks-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db.close();
});
beforeEach(() => emptyHistory(db));

/** Time, bid, ask and volume. */
type Tick = readonly [time: number, bid: number, ask: number, volume: number];

/** One tick every `stepMs` from an instant on. */
const ticksFrom = (fromMs: number, count: number, stepMs: number, bid = 1.09): Tick[] =>
  Array.from(
    { length: count },
    (_, at) => [fromMs + at * stepMs, bid + (at % 9) / 1e5, bid + 0.0001 + (at % 7) / 1e5, at % 4] as const,
  ).map(([time, low, high, volume]) => [time, Number(low.toFixed(5)), Number(high.toFixed(5)), volume]);

function write(name: string, ticks: readonly Tick[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, `time_msc,bid,ask,volume\n${ticks.map((tick) => tick.join()).join("\n")}\n`);
  return file;
}

const rowsOf = ({ time, bid, ask, volume }: TickColumns): Tick[] =>
  Array.from(time, (at, row) => [at, bid[row] as number, ask[row] as number, volume[row] as number]);
const stored = async () => rowsOf(await readTicks({ client: db.pool, segments: db.segments }, EVERY_TICK));
const run = (...argv: string[]) => commandOutcome(command, argv, { db });
const newest = async () => (await db.prisma.backfill.findFirstOrThrow({ orderBy: { number: "desc" } })).number;
const minuteOf = ([time]: Tick) => Math.floor(time / MINUTE_MS);
/** Ticks over others, minute by minute. */
const over = (below: readonly Tick[], above: readonly Tick[]) => {
  const minutes = new Set(above.map(minuteOf));
  return [...below.filter((tick) => !minutes.has(minuteOf(tick))), ...above].sort((a, b) => a[0] - b[0]);
};

test("the ticks that make the klines of an import are kept as in the file, gone when it is undone, and back when it is put back", async () => {
  const ticks = ticksFrom(START_MS, 3_000, 2_500);
  const file = write("EURUSD.csv", [
    ...ticks,
    // A crossed quote, and one that goes back past a complete minute.
    [START_MS + 2.5 * HOUR_MS, 1.2, 1.1, 1],
    [START_MS, 1.1, 1.2, 1],
  ]);
  const { text } = await importCommand(db, [file, "--max-errors", "5"]);
  expect(text).toContain("125 M1 klines stored, 3,000 ticks kept");
  expect(text).toMatch(/ticks kept +3,000/);
  expect(await stored()).toEqual(ticks);
  const { source, outcome, received } = await readTicks({ client: db.pool, segments: db.segments }, EVERY_TICK);
  expect([new Set(source), new Set(outcome), received.every(Number.isNaN)]).toEqual([new Set(["plain"]), new Set([TAKEN]), true]);
  expect((await run("list")).output).toContain("125 stored, 0 already there, 0 overwritten, 3,000 ticks kept");

  const number = String(await newest());
  expect((await run("undo", number)).output).toContain("125 klines removed, 0 overwritten ones restored, 3,000 ticks removed");
  expect(await stored()).toEqual([]);
  expect((await run("redo", number)).output).toContain("125 klines put back, 0 overwritten again, 3,000 ticks put back");
  expect(await stored()).toEqual(ticks);
});

test("ticks of an import show over those of earlier imports and of the feed, minute by minute, until it is undone", async () => {
  const chunk: TickChunk = { id: crypto.randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  const fed = ticksFrom(START_MS, 600, 1_000, 1.0905);
  for (const [time_msc, bid, ask, volume] of fed) addTick(chunk, { time_msc, bid, ask, volume }, time_msc, TAKEN);
  await createKlineStore(db).writeBatch([], [], [chunk]);
  await sealTicks(db, IMPORT_NOW_MS);
  const [first, second] = [
    ticksFrom(START_MS + 5 * MINUTE_MS + 30_000, 400, 3_000),
    ticksFrom(START_MS + 8 * MINUTE_MS, 900, 500, 1.0903),
  ];
  await importCommand(db, [write("EURUSD_1.csv", first), "--accept-doubts"]);
  expect(await stored()).toEqual(over(fed, first));
  await importCommand(db, [write("EURUSD_2.csv", second), "--accept-doubts"]);
  expect(await stored()).toEqual(over(over(fed, first), second));
  await run("undo", String((await newest()) - 1));
  expect(await stored()).toEqual(over(fed, second));
});

test("of a minute that several files of one import have, the ticks of the last file count, as the klines do", async () => {
  const [day, hour, before] = [
    ticksFrom(START_MS + 2 * HOUR_MS, 4_000, 5_000),
    ticksFrom(START_MS + 3 * HOUR_MS + 20_000, 300, 1_000, 1.0902),
    ticksFrom(START_MS + HOUR_MS, 300, 1_000, 1.0904),
  ];
  const files = [write("EURUSD_a.csv", day), write("EURUSD_b.csv", hour), write("EURUSD_c.csv", before)];
  await importCommand(db, [...files, "--accept-doubts"]);
  const shown = over(over(day, hour), before);
  expect(await stored()).toEqual(shown);
  const klines = await storedKlines(db, "EURUSD", "M1");
  expect(klines.reduce((sum, { tick_volume }) => sum + tick_volume, 0)).toBe(shown.length);
});

test("a dry run keeps no ticks, and says how many an import would keep", async () => {
  const { text } = await importCommand(db, [write("EURUSD.csv", ticksFrom(START_MS, 900, 1_000)), "--dry-run"]);
  expect(text).toContain("15 M1 klines would be stored, 900 ticks would be kept");
  expect(text).toMatch(/ticks that would be kept +900/);
  const { rows } = await db.pool.query("SELECT FROM tick_segment");
  expect(rows).toEqual([]);
});

test("parts of a file end with a UTC day once enough ticks are complete, so that each day is written once", async () => {
  const ticks = ticksFrom(START_MS, 4_000, 100_000);
  const file = write("EURUSD.csv", ticks);
  for (const [batchTicks, keptTicks] of [
    [1_000, 1_000_000],
    // Read again, because it has more than is kept.
    [1_000, 3_999],
    [1, 1_000_000],
  ] as const) {
    await importCommand(db, [file, "--accept-doubts", "--force"], { batchTicks, keptTicks });
    const number = await newest();
    const { rows } = await db.pool.query<{ rows: number; part: number }>(
      "SELECT part, rows FROM tick_segment WHERE layer = $1 ORDER BY day",
      [number],
    );
    expect(rows.map(({ rows }) => rows)).toEqual([864, 864, 864, 864, 544]);
    expect(new Set(rows.map(({ part }) => part))).toEqual(new Set([0]));
    expect(await stored()).toEqual(ticks);
  }
});

test("an interrupted import shows neither ticks nor klines, and once it is resumed, all of them", async () => {
  const ticks = ticksFrom(START_MS, 40_000, 10_000);
  const file = write("EURUSD.csv", ticks);
  const interruptAt = (line: string) => /importing: [3-9]\d%/.test(line);
  await importCommand(db, [file], { clock: hurriedClock(), batchTicks: 1_000, interruptAt });
  const kept = "SELECT coalesce(sum(rows), 0)::int AS ticks FROM tick_segment";
  const half = (await db.pool.query<{ ticks: number }>(kept)).rows[0]?.ticks ?? 0;
  expect([half > 1_000, half < 40_000]).toEqual([true, true]);
  expect([await stored(), await storedKlines(db, "EURUSD", "M1")]).toEqual([[], []]);
  const resumed = await importCommand(db, [file]);
  expect(resumed.text).toContain(`${(40_000 - half).toLocaleString("en")} ticks kept`);
  expect(await stored()).toEqual(ticks);
  const klines = await storedKlines(db, "EURUSD", "M1");
  expect(klines.reduce((sum, { tick_volume }) => sum + tick_volume, 0)).toBe(40_000);
});

test("a part whose position cannot be saved leaves neither klines nor ticks", async () => {
  await importCommand(db, [write("EURUSD.csv", ticksFrom(START_MS, 60, 1_000))]);
  const number = await newest();
  const batch = await openBatch({
    database: db,
    clock: manualClock(IMPORT_NOW_MS),
    number,
  });
  const before = [await stored(), await storedKlines(db, "EURUSD", "M1")];
  const klines = columnsOf((await storedKlines(db, "EURUSD", "M1")).map((kline) => ({ ...kline, time: kline.time + 3_600 })));
  const shifted = await readTicks({ client: db.pool, segments: db.segments }, EVERY_TICK);
  const part = {
    series: { ticker: "EURUSD", timeframe: "M1" as const },
    klines,
    ticks: { ...shifted, time: shifted.time.map((at) => at + HOUR_MS) },
  };
  await expect(batch.file()(part, () => Promise.reject(new Error("killed")))).rejects.toThrow("killed");
  expect([await stored(), await storedKlines(db, "EURUSD", "M1")]).toEqual(before);
  await batch.file()(part, async () => undefined);
  expect(await stored()).toHaveLength(120);
  await batch.file()({ ...part, ticks: NO_TICKS }, async () => undefined);
  expect(await stored()).toHaveLength(120);
  await batch.close();
});

test("days of an import before those that are stored are read in their order", async () => {
  const [later, earlier] = [ticksFrom(START_MS + 2 * DAY_MS, 100, 1_000), ticksFrom(START_MS, 100, 1_000)];
  await importCommand(db, [write("EURUSD_later.csv", later), write("EURUSD_sooner.csv", earlier), "--accept-doubts"]);
  expect(await stored()).toEqual([...earlier, ...later]);
});

test("klines of ask and mid are made of imported ticks, with the import and without it", async () => {
  const ticks = ticksFrom(START_MS, 900, 1_000);
  // In parts, so that days and minutes meet their ends.
  await importCommand(db, [write("EURUSD.csv", ticks)], { batchTicks: 100 });
  const table = createKlineStore(db);
  const from = START_MS / 1_000;
  const read = (price: Side) =>
    table.read({ ticker: "EURUSD", timeframe: "M1", from, to: from + 3_600, limit: 100, end: "oldest", price });
  for (const side of ["ask", "mid"] as const) {
    const made = new Map<number, Kline>();
    for (const [time_msc, bid, ask, volume] of ticks) {
      const quote = toQuote({ ticker: "EURUSD", time_msc, bid, ask }, 5);
      const time = Math.floor(time_msc / MINUTE_MS) * 60;
      made.set(time, foldQuote(made.get(time), { ...quote, bid: quote[side] }, volume, "M1", time));
    }
    expect(await read(side)).toEqual([...made.values()]);
  }
  await run("undo", String(await newest()));
  expect(await read("ask")).toEqual([]);
});
