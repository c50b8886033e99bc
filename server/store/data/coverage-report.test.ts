import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { CoverageRow } from "#lib/contract/coverage";
import { openWithin } from "#lib/market/coverage";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { sandboxHistory } from "#server/feed/sandbox/history";
import { say, strikes } from "#server/store/history/layers";
import { inTransaction } from "#server/store/history/transaction";
import { storeBatch } from "#server/store/klines/kline-batches";
import { noteLacking } from "#server/store/klines/lacking-minutes";
import { beginWritten } from "#server/store/klines/written-import";
import { beginBackfill, noteFormat } from "#server/store/market/backfills";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { BEGUN_IMPORT, beginTestImport } from "#server/testing/imports";
import { storeTail } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { type CoverageReports, createCoverage } from "./coverage-report";
import { createStoredData } from "./stored-data";

const START_MS = Date.UTC(2026, 6, 1);
const clock = manualClock(START_MS);
const at = (instant: string) => Date.parse(instant) / SECOND_MS;

let db: TestDatabase;
let coverage: CoverageReports;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(() => {
  coverage = createCoverage({ db, clock, storedData: createStoredData({ db, clock }), sandbox: sandboxHistory(1) });
});

/** The minutes of a span in which forex is open. */
async function openTimes(from: string, to: string): Promise<number[]> {
  const calendar = (await createCatalogue(db, "live")).calendar("EURUSD");
  const span = { from: at(from), to: at(to) };
  const sessions = calendar?.sessionsBetween(span.from * SECOND_MS, span.to * SECOND_MS) ?? [];
  return openWithin(span, sessions).flatMap((range) =>
    Array.from({ length: (range.to - range.from) / MINUTE_S }, (_, minute) => range.from + minute * MINUTE_S),
  );
}

const klines = (ticker: string, times: readonly number[]) => times.map((time) => testKline(ticker, "M1", time, 1.1));

async function importKlines(ticker: string, times: readonly number[]): Promise<void> {
  const number = await beginTestImport({ db, clock }, { state: "done", file: "/secret/place/a.csv" });
  await inTransaction(db.pool, (client) => storeBatch(client, db.segments, number, klines(ticker, times), clock.now()));
}

async function rowOf(ticker: string): Promise<CoverageRow> {
  const { items } = await coverage.list("live");
  return items.find((row) => row.ticker === ticker) ?? expect.fail(`${ticker} is not listed`);
}

test("an instrument has its extent, its open minutes and those that lack, by year and month", async () => {
  const times = await openTimes("2025-12-31T20:00Z", "2026-01-05T12:00Z");
  const kept = times.filter((time) => time < at("2026-01-02T10:00Z") || time >= at("2026-01-02T11:00Z"));
  await importKlines("EURUSD", kept);
  const [first = 0, last = 0] = [kept[0], kept.at(-1)];
  const iso = (seconds: number) => new Date(seconds * SECOND_MS).toISOString();
  const early = times.filter((time) => time < at("2026-01-01T00:00Z")).length;
  expect(await rowOf("EURUSD")).toMatchObject({
    rows: kept.length,
    open_minutes: times.length,
    missing_minutes: 60,
    first_at: iso(first),
    last_at: iso(last),
    changed_at: expect.any(String),
    years: [
      { year: 2025, rows: early, open_minutes: early, missing_minutes: 0 },
      { year: 2026, rows: kept.length - early, open_minutes: times.length - early, missing_minutes: 60 },
    ],
  });
  const detail = await coverage.ticker("live", "EURUSD");
  expect(detail).toMatchObject({
    venue: "live",
    calendar: "forex",
    months: [{ month: "2025-12" }, { month: "2026-01", missing_minutes: 60 }],
  });
  expect(detail?.sources).toEqual([
    {
      kind: "import",
      provider: null,
      rows: kept.length,
      count: 1,
      first_month: "2025-12",
      last_month: "2026-01",
      last_at: new Date(START_MS).toISOString(),
    },
  ]);
  expect(JSON.stringify(detail)).not.toContain("secret");
  expect(await rowOf("USDCHF")).toMatchObject({ rows: 0, first_at: null, changed_at: null, years: [] });
  expect(await coverage.ticker("live", "ABCDEF")).toBeUndefined();
});

test("a year tells struck, lost and unknown minutes apart, and names holidays", async () => {
  const times = await openTimes("2025-12-23T10:00Z", "2025-12-30T00:00Z");
  const hole = (from: string, to: string) => (time: number) => time >= at(from) && time < at(to);
  const holes = [hole("2025-12-23T12:00Z", "2025-12-23T12:30Z"), hole("2025-12-23T14:00Z", "2025-12-23T14:20Z")];
  await importKlines(
    "GBPUSD",
    times.filter((time) => !holes.some((isIn) => isIn(time))),
  );
  await noteLacking(db.pool, null, [
    { ticker: "GBPUSD", from: at("2025-12-23T14:05Z"), to: at("2025-12-23T14:30Z"), reason: "stopped" },
  ]);
  const struck = Array.from({ length: 5 }, (_, minute) => at("2025-12-23T16:00Z") + minute * 60);
  await inTransaction(db.pool, async (client) => {
    const number = await beginWritten(client, { label: "bad", rows: 5, nowMs: clock.now(), byOperator: true });
    await say(
      client,
      db.segments,
      { ticker: "GBPUSD", timeframe: "M1" },
      strikes(
        struck,
        struck.map(() => number),
        clock.now() + 1,
      ),
    );
  });
  const year = await coverage.year("live", "GBPUSD", 2025);
  expect(year?.gaps.map(({ from, open_minutes, reason }) => [from.slice(0, 16), open_minutes, reason])).toEqual([
    ["2025-12-23T12:00", 30, "missing"],
    ["2025-12-23T14:05", 15, "stopped"],
    ["2025-12-23T14:00", 5, "missing"],
    ["2025-12-23T16:00", 5, "struck"],
  ]);
  expect(year?.closures.map(({ reason }) => reason)).toContain("holiday");
  expect(year?.closures.every(({ reason }) => reason !== "weekend")).toBe(true);
  expect(await coverage.year("live", "GBPUSD", 2024)).toBeUndefined();
  expect((await coverage.ticker("live", "GBPUSD"))?.sources.map(({ kind }) => kind)).toEqual(["import"]);
});

test("however many ask, a venue is counted once a minute, and what is stored then shows", async () => {
  const counted: string[] = [];
  const query = db.pool.query.bind(db.pool);
  const watching = Object.assign(Object.create(db.pool), {
    query(text: string, values?: unknown[]) {
      counted.push(text);
      return query(text, values);
    },
  });
  const watched = createCoverage({
    db: { ...db, pool: watching },
    clock,
    storedData: createStoredData({ db, clock }),
    sandbox: sandboxHistory(1),
  });
  await Promise.all(Array.from({ length: 50 }, () => watched.list("live")));
  const once = counted.length;
  expect(once).toBeLessThan(5);
  expect(counted.join()).not.toContain("history_content");
  await storeTail(db, klines("AUDUSD", [at("2026-06-30T12:00Z"), at("2026-06-30T12:01Z")]));
  await watched.list("live");
  expect(counted.length).toBe(once);
  await clock.advance(60_000);
  const { items } = await watched.list("live");
  expect(counted.length).toBe(2 * once);
  expect(items.find(({ ticker }) => ticker === "AUDUSD")).toMatchObject({ rows: 2, missing_minutes: 0 });
  expect((await watched.ticker("live", "AUDUSD"))?.sources).toMatchObject([
    { kind: "feed", rows: 2, count: null, last_at: null },
  ]);
});

test("the sandbox is complete but for its test tickers, which it does not hide", async () => {
  const { items } = await coverage.list("sandbox");
  const row = (ticker: string) => items.find((one) => one.ticker === ticker);
  expect(row("EURUSD")).toMatchObject({ first_at: "2019-12-31T22:00:00.000Z", missing_minutes: 0, changed_at: null });
  expect(row("EURUSD")?.rows).toBe(row("EURUSD")?.open_minutes);
  expect(row("TESTGAP")?.missing_minutes).toBeGreaterThan(100_000);
  expect(row("TESTMISSING")).toMatchObject({ rows: 0, first_at: null, years: [] });
  expect(row("TESTUNKNOWN")?.open_minutes).toBeNull();
  expect(row("TESTCLOSED")?.last_at).toBe("2025-12-31T23:59:00.000Z");
  const year = await coverage.year("sandbox", "TESTGAP", 2025);
  expect(year?.gap_count).toBeGreaterThan(1_000);
  expect(year?.gaps[0]).toMatchObject({ open_minutes: expect.any(Number), reason: "missing" });
  expect(await coverage.year("sandbox", "TESTGAP", 2019)).toMatchObject({ year: 2019 });
  expect(await coverage.year("sandbox", "TESTGAP", 2018)).toBeUndefined();
  expect(await coverage.year("sandbox", "TESTMISSING", 2025)).toBeUndefined();
  expect((await coverage.ticker("sandbox", "TESTGAP"))?.sources).toMatchObject([{ kind: "formula", count: null }]);
});

test("sources are listed by kind and maker, without paths and keys; a hidden source is left out", async () => {
  const times = await openTimes("2025-06-03T00:00Z", "2025-06-03T02:00Z");
  const begin = async (file: string, formats: readonly string[] = []) => {
    const { id, number } = await beginBackfill({ db, clock }, "live", { ...BEGUN_IMPORT, state: "done", file });
    for (const title of [...formats, ...formats]) await noteFormat({ db }, id, title);
    return number;
  };
  const store = (number: number, some: readonly number[]) =>
    inTransaction(db.pool, (client) => storeBatch(client, db.segments, number, klines("NZDUSD", some), clock.now()));
  await store(await begin("/secret/hidden.csv"), times.slice(0, 20));
  await store(await begin("/secret/a.bi5", ["Dukascopy .bi5 candles"]), times.slice(0, 60));
  await store(await begin("/secret/b.bi5", ["Dukascopy .bi5 candles"]), times.slice(60, 80));
  await store(await begin("repair from oanda"), times.slice(80, 90));
  await inTransaction(db.pool, async (client) => {
    const number = await beginWritten(client, { label: "klines pushed with Desk", rows: 5, nowMs: clock.now(), pushedBy: "key" });
    await storeBatch(client, db.segments, number, klines("NZDUSD", times.slice(90, 95)), clock.now());
  });
  const sources = (await coverage.ticker("live", "NZDUSD"))?.sources;
  expect(sources?.map(({ kind, provider, rows, count }) => [kind, provider, rows, count])).toEqual([
    ["import", "Dukascopy .bi5 candles", 80, 2],
    ["repair", "oanda", 10, 1],
    ["push", null, 5, 1],
  ]);
  expect(JSON.stringify(sources)).not.toMatch(/secret|Desk/);
});
