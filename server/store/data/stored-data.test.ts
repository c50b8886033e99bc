import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { BACKFILL_SILENT_S } from "#lib/contract/portal-admin";
import { DATA_JUMP_MIN_RATIO, DATA_LACKS_PER_YEAR_COUNT, DATA_LAYERS_MAX_COUNT } from "#lib/contract/portal-data";
import type { Kline } from "#lib/domain/kline";
import { medianOf } from "#lib/domain/price";
import { isFault } from "#lib/fault";
import { createDataReader, isoOf, withinBudget } from "#lib/market/data-reads";
import { inTransaction } from "#server/store/history/transaction";
import { undoImport } from "#server/store/klines/import-undo";
import { storeBatch } from "#server/store/klines/kline-batches";
import { noteLacking } from "#server/store/klines/lacking-minutes";
import { correctMinutes } from "#server/store/klines/minute-corrections";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { openMinutes } from "#server/testing/import-rows";
import { beginTestImport } from "#server/testing/imports";
import { storeFeed, storeTail } from "#server/testing/layered";
import { clockShift } from "./data-compare";
import { createStoredData, type StoredData } from "./stored-data";

const clock = manualClock(Date.UTC(2026, 6, 1));
let database: TestDatabase;
let data: StoredData;

beforeAll(async () => {
  database = await testDatabase();
  data = createStoredData({ db: database, clock });
});
afterAll(() => database.close());

const at = (instant: string) => Date.parse(instant) / 1_000;
const iso = (instant: string) => new Date(instant).toISOString();

/** A price that wanders, the same for the same minute. */
const priceAt = (time: number) => Number((1.1 + 0.003 * Math.sin(time / 5_400) + 0.00002 * ((time / 60) % 3)).toFixed(5));

function kline(ticker: string, time: number, price = priceAt(time)): Kline {
  const [high, low] = [price + 0.0001, price - 0.0001].map((value) => Number(value.toFixed(5))) as [number, number];
  return {
    type: "kline",
    ticker,
    timeframe: "M1",
    time,
    open: price,
    high,
    low,
    close: price,
    tick_volume: 5,
    real_volume: null,
    spread: null,
  };
}

/** How many intervals of a length in seconds times lie in. */
const countOf = (times: readonly number[], length: number) => new Set(times.map((time) => Math.floor(time / length))).size;

/** Imports klines, and returns the number of the import. */
async function importKlines(file: string, klines: readonly Kline[]): Promise<number> {
  const done = { state: "done", filesDone: 1, file, share: 1, rows: klines.length, readMs: 1 } as const;
  const number = await beginTestImport({ db: database, clock }, done);
  await inTransaction(database.pool, (client) => storeBatch(client, database.segments, number, klines, clock.now()));
  return number;
}

test("a year is stored, closed and gap to the minute, with its gaps, closed hours, sources and timeframes", async () => {
  // From Wednesday noon to Monday noon, with a hole over the weekend, one of ten minutes, and two klines on Saturday.
  const holes = [
    [at("2024-03-08T20:00Z"), at("2024-03-10T23:00Z")],
    [at("2024-03-07T10:00Z"), at("2024-03-07T10:10Z")],
  ] as const;
  const open = openMinutes("2024-03-06T12:00Z", 5_000).filter(
    (time) => time < at("2024-03-11T12:00Z") && !holes.some(([from, to]) => time >= from && time < to),
  );
  const saturday = [at("2024-03-09T10:00Z"), at("2024-03-09T10:01Z")];
  const times = [...open, ...saturday].sort((a, b) => a - b);
  const number = await importKlines(
    "EURUSD.csv",
    times.map((time) => kline("EURUSD", time)),
  );
  // One of these hours has minutes.
  const hours = ["2024-03-07T00:00Z", "2024-03-09T15:00Z"];
  await importKlines(
    "EURUSD_H1.csv",
    hours.map((hour) => ({ ...kline("EURUSD", at(hour)), timeframe: "H1" })),
  );

  const { items, next_before } = await data.years("EURUSD", {});
  expect(next_before).toBeNull();
  const [year] = items;
  const whole = (at("2024-03-11T12:00Z") - at("2024-03-06T12:00Z")) / 60;
  expect(year).toMatchObject({
    year: 2024,
    from: iso("2024-03-06T12:00Z"),
    to: iso("2024-03-11T12:00Z"),
    rows: times.length,
    gap_count: 2,
    closed_range_count: 1,
    gaps: [
      // New York closes at 22:00 UTC on that Friday and opens at 21:00 UTC on Sunday, after its clock change.
      { from: iso("2024-03-08T20:00Z"), to: iso("2024-03-10T23:00Z"), open_minutes: 240 },
      { from: iso("2024-03-07T10:00Z"), to: iso("2024-03-07T10:10Z"), open_minutes: 10 },
    ],
    closed_ranges: [{ from: iso("2024-03-09T10:00Z"), to: iso("2024-03-09T10:01Z"), rows: 2, close: priceAt(saturday[0] ?? 0) }],
    timeframes: {
      M1: times.length,
      M5: countOf(times, 300),
      M30: countOf(times, 1_800),
      H1: countOf(times, 3_600) + 1,
      // The month began before the first minute, and so did the week and the first day.
      D1: 5,
      W1: 2,
      MN1: 1,
    },
  });
  const minutes = year?.minutes;
  expect(minutes).toMatchObject({ gap: 250, in_closed_hours: 2 });
  expect((minutes?.closed ?? 0) + (minutes?.gap ?? 0) + times.length).toBe(whole);
  expect(year?.days.open.length).toBe(6);
  expect(year?.days.open[1]).toBe(1_440);
  expect(year?.days.stored[1]).toBe(1_430);

  expect(await data.ticker("EURUSD")).toMatchObject({
    ticker: "EURUSD",
    first_at: iso("2024-03-06T12:00Z"),
    last_at: iso("2024-03-11T11:59Z"),
    calendar: "forex",
    imports: [{ number, file: "EURUSD.csv", stored: times.length, undone_at: null }],
  });
  const { items: tickers } = await data.tickers({ before: "EURTRY" });
  expect(tickers.find(({ ticker }) => ticker === "EURUSD")).toMatchObject({ rows: times.length, years: 1 });
  expect((await data.tickers({ before: "EURUSD" })).items.some(({ ticker }) => ticker <= "EURUSD")).toBe(false);
});

test("an import shows in a year that was read before, and a ticker without history has no years", async () => {
  const [first = 0, second = 0] = openMinutes("2023-05-02T00:00Z", 2);
  await importKlines("a.csv", [kline("AUDUSD", first), kline("AUDUSD", at("2024-05-02T00:00Z"))]);
  expect((await data.years("AUDUSD", { before: "2024" })).items).toMatchObject([{ year: 2023, rows: 1 }]);
  await importKlines("b.csv", [kline("AUDUSD", second)]);
  expect((await data.years("AUDUSD", { before: "2024" })).items).toMatchObject([{ year: 2023, rows: 2 }]);
  await importKlines("c.csv", [kline("AUDUSD", at("2021-05-04T00:00Z"))]);
  const { items } = await data.tickers({ before: "AUDNZD" });
  expect(items.find(({ ticker }) => ticker === "AUDUSD")).toMatchObject({ rows: 4, years: 3 });
  expect(await data.years("NZDUSD", {})).toEqual({ items: [], next_before: null });
  expect(await data.ticker("NZDUSD")).toMatchObject({ first_at: null, imports: [], longer: [] });
  await expect(data.years("ABCDEF", {})).rejects.toThrow("ABCDEF is not an instrument of the live venue.");
});

test("spikes and frozen prices of open hours are found, wide but steady moves are not", async () => {
  const times = openMinutes("2022-06-07T00:00Z", 4_000).filter((time) => time < at("2022-06-09T12:00Z"));
  const klines = times.map((time) => kline("GBPUSD", time));
  const spike = klines[700] as Kline;
  klines[700] = { ...spike, high: 1.3 };
  // A day that moves by many usual ranges, but without coming back.
  for (const index of [900, 901, 902]) klines[index] = kline("GBPUSD", times[index] ?? 0, 1.2);
  for (let index = 2_000; index < 2_040; index += 1) klines[index] = kline("GBPUSD", times[index] ?? 0, 1.15);
  const weekend = Array.from({ length: 90 }, (_, index) => kline("GBPUSD", at("2022-06-11T10:00Z") + index * 60, 1.15));
  await importKlines("GBPUSD.csv", [...klines, ...weekend]);
  const { spikes, frozen } = await data.suspects("GBPUSD", { year: "2022" });
  expect(spikes[0]).toMatchObject({ at: new Date(spike.time * 1_000).toISOString(), high: 1.3, close: spike.close });
  expect(spikes[0]?.before).toBe(klines[699]?.close);
  expect(spikes[0]?.after).toBe(klines[701]?.open);
  expect(spikes).toHaveLength(1);
  expect(frozen).toEqual([
    {
      from: new Date((times[2_000] ?? 0) * 1_000).toISOString(),
      to: new Date((times[2_039] ?? 0) * 1_000).toISOString(),
      rows: 40,
      close: 1.15,
    },
  ]);
  expect(await data.suspects("GBPUSD", { year: "2021" })).toEqual({ year: 2021, spikes: [], frozen: [], jumps: [] });
});

test("a stretch at another level is found where it begins and ends, and the moves of a market are not", async () => {
  const times = openMinutes("2022-06-06T00:00Z", 3_000);
  const isOff = (index: number) => index >= 1_000 && index < 1_500;
  await importKlines(
    "EURCHF.csv",
    times.map((time, index) => kline("EURCHF", time, Number((priceAt(time) * (isOff(index) ? 0.93 : 1)).toFixed(5)))),
  );
  const { jumps } = await data.suspects("EURCHF", { year: "2022" });
  const instants = [1_000, 1_500].map((index) => new Date((times[index] ?? 0) * 1_000).toISOString());
  expect(jumps.map(({ at }) => at).sort()).toEqual(instants);
  expect(jumps[0]?.ratio).toBeGreaterThan(DATA_JUMP_MIN_RATIO);
});

test("two sources are compared in the minutes both have, also where a third one replaced them, and an hour off is named; an undone one has none", async () => {
  const times = openMinutes("2021-02-02T00:00Z", 2_000);
  const broker = (shiftS: number, by: number) =>
    times.map((time) => kline("USDCHF", time, Number((priceAt(time + shiftS) - 0.2 + by).toFixed(5))));
  const first = await importKlines("first.csv", broker(0, 0));
  const second = await importKlines("second.csv", broker(0, 0.0001).slice(500));
  const late = await importKlines("late.csv", broker(3_600, 0).slice(1_000));
  const compare = async (a: number, b: number) => (await data.compare("USDCHF", { a: String(a), b: String(b) })).items;
  expect(await compare(first, second)).toMatchObject([
    { year: 2021, common: 1_500, equal: 0, median_pips: 1, max_pips: 1, shift: null },
  ]);
  const [shifted] = await compare(first, late);
  expect(shifted).toMatchObject({ common: 1_000, shift: { hours: 1, months: [2] } });
  expect(shifted?.median_pips).toBeGreaterThan(1);
  expect(await compare(late, first)).toMatchObject([{ shift: { hours: -1, months: [2] } }]);
  expect((await data.compare("USDCHF", { a: String(first), b: "feed" })).items).toEqual([]);
  expect(await compare(first, first)).toMatchObject([{ common: 2_000, equal: 2_000, median_pips: 0, shift: null }]);
  await storeTail(database, broker(0, 0).slice(-300));
  expect((await data.compare("USDCHF", { a: String(first), b: "feed" })).items).toMatchObject([{ common: 300, equal: 300 }]);
  await database.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [second]);
  expect(await compare(first, second)).toEqual([]);
});

test("a month with few common minutes does not decide the clock", () => {
  const rows = (minutes: number) => [
    { month: 3, shift: 0, minutes, median: 0.001 },
    { month: 3, shift: 3_600, minutes, median: 0.0001 },
  ];
  expect(clockShift(rows(30))).toEqual({ hours: -1, months: [3] });
  expect(clockShift(rows(29))).toBeNull();
});

test("reads take turns, and too many waiting ones are refused", async () => {
  const read = createDataReader();
  let running = 0;
  const work = () =>
    read(async () => {
      running += 1;
      expect(running).toBe(1);
      await database.pool.query("SELECT 1");
      running -= 1;
    });
  const outcomes = await Promise.allSettled(Array.from({ length: 21 }, work));
  expect(outcomes.map(({ status }) => status)).toEqual([...new Array(20).fill("fulfilled"), "rejected"]);
  const [refused] = outcomes.slice(-1);
  expect(refused?.status === "rejected" && isFault(refused.reason) && refused.reason.data.retry_after).toBe(5);
  await work();
});

test.each([
  [[3], 3],
  [[3, 1], 2],
  [[9, 1, 3], 3],
  [[1, 2, 9, 4], 3],
])("the median of %j is %d", (values, median) => {
  expect(medianOf(Float64Array.from(values))).toBe(median);
});

test("a page ends with the first item past its budget, and the next one starts after it", async () => {
  let nowMs = 0;
  const next = async (key: number) => {
    nowMs += 400;
    return key % 2 === 0 ? key : null;
  };
  expect(await withinBudget([9, 8, 7, 6], () => nowMs, 1_000, next)).toEqual({ items: [8], next_before: "7" });
  expect(await withinBudget([6], () => nowMs, 0, next)).toEqual({ items: [6], next_before: null });
});

test("imports of longer timeframes are listed where no minutes are stored, with how many are behind minutes elsewhere", async () => {
  const hours = (ticker: string) =>
    ["2024-03-06T12:00Z", "2024-03-06T13:00Z"].map((hour) => ({ ...kline(ticker, at(hour)), timeframe: "H1" as const }));
  const number = await importKlines("NZDCAD_H1.csv", hours("NZDCAD"));
  expect(await data.ticker("NZDCAD")).toMatchObject({
    first_at: null,
    imports: [],
    longer: [{ number, file: "NZDCAD_H1.csv", timeframe: "H1", first_at: iso("2024-03-06T12:00Z"), stored: 2, covered: 0 }],
  });
  await importKlines("NZDCHF.csv", [kline("NZDCHF", at("2024-03-06T12:30Z"))]);
  await importKlines("NZDCHF_H1.csv", hours("NZDCHF"));
  expect((await data.ticker("NZDCHF")).longer).toMatchObject([{ timeframe: "H1", stored: 1, covered: 1 }]);
});

test("layers of a year are told as they lie, with what shows of each, their size, and what can be done with them", async () => {
  const times = openMinutes("2020-06-02T00:00Z", 200);
  const right = await importKlines(
    "/files/right.csv",
    times.map((time) => kline("EURJPY", time, 1.2)),
  );
  const wrong = await importKlines(
    "wrong.csv",
    times.slice(50, 150).map((time) => kline("EURJPY", time, 1.5)),
  );
  const { layers, count, open_rows } = await data.layers("EURJPY", { year: "2020" });
  expect({ count, open_rows }).toEqual({ count: 2, open_rows: 0 });
  expect(layers).toMatchObject([
    { number: wrong, kind: "import", label: "wrong.csv", change: "undo", undone_at: null, rows: 100, shown: 100 },
    {
      number: right,
      kind: "import",
      label: "/files/right.csv",
      change: "undo",
      rows: 200,
      shown: 100,
      months: [{ month: "2020-06" }],
    },
  ]);
  expect(layers.every(({ bytes }) => bytes > 500)).toBe(true);
  const { bytes, said } = await data.ticker("EURJPY");
  expect(said).toEqual({ first: 2020, last: 2020 });
  // What shows is a file of its own.
  expect(bytes).toBeGreaterThan(layers.reduce((sum, layer) => sum + layer.bytes, 0));
  const { items } = await data.tickers({ before: "EURHUF" });
  expect(items.find(({ ticker }) => ticker === "EURJPY")?.bytes).toBe(bytes);

  await undoImport({ db: database, clock, record: async () => undefined }, wrong);
  expect((await data.layers("EURJPY", { year: "2020" })).layers).toMatchObject([
    { number: wrong, change: "redo", undone_at: expect.any(String), rows: 100, shown: 0 },
    { number: right, shown: 200 },
  ]);
});

test("of more layers than are listed the newest ones and the feed are, and a minute that is taken out shows as such", async () => {
  const [first = 0] = openMinutes("2020-06-02T00:00Z", 1);
  await storeFeed(database, [kline("EURNOK", first, 1.1), kline("EURNOK", first + 60, 1.1)]);
  for (let index = 0; index <= DATA_LAYERS_MAX_COUNT; index += 1)
    await importKlines(`${index}.csv`, [kline("EURNOK", first, 1.1 + index / 1_000)]);
  const before = await data.layers("EURNOK", { year: "2020" });
  expect(before.count).toBe(DATA_LAYERS_MAX_COUNT + 2);
  expect(before.layers).toHaveLength(DATA_LAYERS_MAX_COUNT + 1);
  expect(before.layers[0]).toMatchObject({ label: `${DATA_LAYERS_MAX_COUNT}.csv`, shown: 1 });
  expect(before.layers.at(-1)).toMatchObject({ number: null, kind: "feed", change: null, rows: 2, shown: 1 });
  const admin = { db: database, clock, record: async () => undefined };
  const asked = { action: "strike", time: first, minutes: 1, reason: "a wrong tick" } as const;
  await correctMinutes(admin, await data.listing("EURNOK"), asked);
  const [top] = (await data.layers("EURNOK", { year: "2020" })).layers;
  expect(top).toMatchObject({ kind: "correction", rows: 1, shown: 1, change: "undo" });
});

test("a year is read as it showed at an instant, with what happened since", async () => {
  const times = openMinutes("2020-06-02T00:00Z", 120);
  const admin = { db: database, clock, record: async () => undefined };
  const startMs = clock.now();
  await importKlines(
    "right.csv",
    times.map((time) => kline("GBPJPY", time, 1.2)),
  );
  await clock.advance(10_000);
  const before = new Date(clock.now()).toISOString();
  await clock.advance(10_000);
  const wrong = await importKlines(
    "wrong.csv",
    times.slice(20, 40).map((time) => kline("GBPJPY", time, 1.5)),
  );
  const later = await importKlines("later.csv", [kline("GBPJPY", (times.at(-1) ?? 0) + 60, 1.2)]);
  const past = await data.past("GBPJPY", { year: "2020", as_of: before });
  expect(past).toMatchObject({
    as_of: before,
    coverage: { rows: 120, gap_count: 0 },
    months: [{ month: "2020-06", rows: 120, open: 1.2, high: 1.2001, low: 1.1999, close: 1.2 }],
    since: { added: 1, removed: 0, changed: 20 },
  });
  await clock.advance(10_000);
  const between = new Date(clock.now()).toISOString();
  await clock.advance(10_000);
  await undoImport(admin, wrong);
  await undoImport(admin, later);
  expect(await data.past("GBPJPY", { year: "2020", as_of: between })).toMatchObject({
    months: [{ rows: 121, high: 1.5001 }],
    since: { added: 0, removed: 1, changed: 20 },
  });

  const detailOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => (isFault(error) ? error.data : error));
  const at = (ms: number) => new Date(ms).toISOString();
  expect(await detailOf(data.past("GBPJPY", { year: "2020", as_of: at(clock.now() + 1_000) }))).toMatchObject({
    parameter: "as_of",
    detail: "`as_of` must not be in the future.",
  });
  expect(await detailOf(data.past("GBPJPY", { year: "2020", as_of: at(startMs - 1_000) }))).toMatchObject({
    parameter: "as_of",
    detail: `Nothing of GBPJPY was known before ${at(startMs)}.`,
  });
  expect(await detailOf(data.past("GBPJPY", { year: "2019", as_of: before }))).toMatchObject({
    parameter: "year",
    detail: "The history of GBPJPY is from 2020 to 2020.",
  });
  expect(await detailOf(data.layers("NZDCAD", { year: "2020" }))).toMatchObject({ detail: "Nothing of NZDCAD is stored." });
  await expect(data.layers("ABCDEF", { year: "2020" })).rejects.toThrow("ABCDEF is not an instrument of the live venue.");
});

test("a year that many readers ask for at once is read once", async () => {
  const times = openMinutes("2019-06-04T00:00Z", 60);
  await importKlines(
    "many.csv",
    times.map((time) => kline("CHFJPY", time, 1.2)),
  );
  let reads = 0;
  const segments = {
    ...database.segments,
    read(...asked: Parameters<typeof database.segments.read>) {
      reads += 1;
      return database.segments.read(...asked);
    },
  };
  const counting = createStoredData({ db: { ...database, segments }, clock });
  const [first] = await Promise.all(Array.from({ length: 15 }, () => counting.year("CHFJPY", 2019)));
  expect(first).toMatchObject({ year: 2019, rows: 60 });
  expect(reads).toBe(1);
  expect(await counting.year("CHFJPY", 2018)).toBeUndefined();
  expect(reads).toBe(1);
});

test("klines that lack ticks are listed with their year, the newest first, and no more than there is room for", async () => {
  const start = at("2026-06-02T00:00Z");
  const count = 2 * (DATA_LACKS_PER_YEAR_COUNT + 5);
  await storeFeed(
    database,
    Array.from({ length: count }, (_, minute) => kline("AUDNZD", start + minute * 60)),
  );
  const ranges = Array.from({ length: count / 2 }, (_, index) => {
    const from = start + index * 120;
    return { ticker: "AUDNZD", from, to: from + 60, reason: "feed" as const };
  });
  await noteLacking(database.pool, null, ranges);
  const lacking = (await data.year("AUDNZD", 2026))?.lacking;
  expect(lacking).toHaveLength(DATA_LACKS_PER_YEAR_COUNT);
  expect(lacking?.[0]).toEqual({
    from: isoOf(start + (count - 2) * 60),
    to: isoOf(start + (count - 2) * 60),
    rows: 1,
    reason: "feed",
  });
});

test("an import can be undone when it has stopped reporting, not while it runs", async () => {
  const [time = 0] = openMinutes("2018-06-05T00:00Z", 1);
  const number = await beginTestImport({ db: database, clock }, { state: "running", file: "running.csv" });
  await inTransaction(database.pool, (client) =>
    storeBatch(client, database.segments, number, [kline("NZDJPY", time)], clock.now()),
  );
  const change = async () => (await data.layers("NZDJPY", { year: "2018" })).layers.map((layer) => layer.change);
  expect(await change()).toEqual([null]);
  await clock.advance((BACKFILL_SILENT_S + 1) * 1_000);
  expect(await change()).toEqual(["undo"]);
});
