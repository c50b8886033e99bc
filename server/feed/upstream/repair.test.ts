import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import type { Catalogue } from "#lib/market/ports";
import { collectingLog } from "#lib/testing/collecting-log";
import { recordedWork } from "#lib/testing/recorded-work";
import { watchedClock } from "#lib/testing/watched-clock";
import { DAY_S, MINUTE_MS } from "#lib/units";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { mendableMinutes } from "#server/store/klines/mendable-minutes";
import { createMinuteMender } from "#server/store/klines/mended-minutes";
import { listBackfills } from "#server/store/market/backfills";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeFeed } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { Refused, Upset } from "../feed";
import type { Minute, Upstream } from "./port";
import { createRepair } from "./repair";
import { reportRepair } from "./repair-report";

const TICKER = "EURUSD";
const SYMBOL = "EUR_USD";
const PAGE_ROWS = 500;
const SECRET = "a1b2c3-marked";
const alignment = createAlignment();

let db: TestDatabase;
let store: KlineTable;
let catalogue: Catalogue;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
  catalogue = await createCatalogue(db, "live");
});
afterAll(() => db?.close());
beforeEach(async () => {
  for (const table of ["kline_tail", "history_layer", "history_visible", "backfill", "watched_minutes"])
    await db.pool.query(`DELETE FROM ${table}`);
});

const minute = (time: number, close = 1.2): Minute => ({
  time,
  open: 1.2,
  high: 1.3,
  low: 1.1,
  close,
  volume: 9,
  spread: 0.0002,
});
const klineOf = ({ volume, ...prices }: Minute): Kline => ({
  type: "kline",
  ticker: TICKER,
  timeframe: "M1",
  ...prices,
  tick_volume: volume,
  real_volume: null,
});
const readAll = (timeframe: Kline["timeframe"] = "M1") =>
  store.read({ ticker: TICKER, timeframe, from: 0, to: 4e9, limit: 200_000, end: "oldest" });

/** A repair that runs until the test ends, on the history that `offered` returns. */
function scene(nowMs: number, offered: () => readonly Minute[], { days = 30 } = {}) {
  const clock = watchedClock();
  clock.set(nowMs);
  const asked: [from: number, to: number][] = [];
  const failures: Error[] = [];
  let open = 0;
  const minutes: Upstream["minutes"] = async function* (symbol, from, to) {
    expect(symbol).toBe(SYMBOL);
    open += 1;
    expect(open).toBe(1);
    try {
      asked.push([from, to]);
      await new Promise((resolve) => setImmediate(resolve));
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const found = offered().filter(({ time }) => time >= from && time < to);
      for (let index = 0; index < found.length; index += PAGE_ROWS) yield found.slice(index, index + PAGE_ROWS);
    } finally {
      open -= 1;
    }
  };
  const declares = { idleMs: 10_000, minutes: { pageRows: PAGE_ROWS } } as Upstream["declares"];
  const mender = createMinuteMender({ db, clock, record: async () => undefined });
  const lines: Record<string, unknown>[] = [];
  const repair = createRepair({
    upstream: { name: "oanda", declares, minutes, secrets: [SECRET] },
    days,
    clock,
    log: collectingLog(lines, "info"),
    mendable: (ticker, span) => mendableMinutes(db.pool, db.segments, ticker, span, catalogue.calendar(ticker)),
    mend: (klines, mending) => mender.mend(null, klines, mending),
    report: () => reportRepair(db, clock, "oanda"),
    repaired: () => undefined,
  });
  const stop = new AbortController();
  const running = repair.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const matched = { bySymbol: new Map([[SYMBOL, catalogue.find(TICKER) as Listing]]) };
  const watch = (from: number, to: number) => mender.noteWatched(null, [{ ticker: null, from, to }]);
  return {
    clock,
    asked,
    failures,
    lines,
    live: () => repair.live(matched),
    lost: () => repair.lost(clock.now()),
    waiting: repair.waiting,
    watch,
    stop,
    running,
  };
}

/** The open minutes of a range, by the calendar. */
function openMinutes(from: number, to: number): number[] {
  const sessions = catalogue.calendar(TICKER)?.sessionsBetween(from * 1000, to * 1000) ?? [];
  return sessions.flatMap(({ openMs, closeMs }) => {
    const first = Math.max(from, openMs / 1000);
    return Array.from({ length: Math.max(0, (Math.min(to, closeMs / 1000) - first) / 60) }, (_, index) => first + index * 60);
  });
}

const at = (text: string) => Date.parse(text) / 1000;
/** Gaps by their first and last second, and the instant at which prices come again. */
const GAPS: readonly [name: string, from: number, to: number, days: number][] = [
  ["within one minute", at("2026-01-07T12:00:10Z"), at("2026-01-07T12:00:40Z"), 2],
  ["of a minute", at("2026-01-07T12:00:30Z"), at("2026-01-07T12:01:30Z"), 2],
  ["of an hour", at("2026-01-07T11:00:00Z"), at("2026-01-07T12:00:00Z"), 2],
  ["over a weekend", at("2026-01-09T21:30:00Z"), at("2026-01-11T23:10:00Z"), 4],
  ["over the change of the clocks in Europe", at("2026-03-27T20:30:00Z"), at("2026-03-29T22:10:00Z"), 4],
  ["over the change of the clocks in the United States", at("2026-03-06T21:30:00Z"), at("2026-03-08T22:10:00Z"), 4],
  ["of 40 days", at("2026-01-02T00:00:00Z"), at("2026-02-10T23:00:00Z"), 40],
];

test.each(GAPS)(
  "after a gap %s the store has the provider's minutes, and the watched ones are untouched",
  async (_, from, to, days) => {
    const nowMs = (to + 70) * 1000;
    const first = Math.max(Math.ceil(nowMs / 60_000) * 60 - days * DAY_S, Math.floor(from / 60) * 60 - 7_200);
    const open = openMinutes(first, Math.floor((nowMs - 10_000) / 60_000) * 60);
    const [cut, end] = [Math.floor(from / 60) * 60, Math.ceil(to / 60) * 60];
    const own = open.filter((time) => time <= cut || time >= end - 60).map((time) => testKline(TICKER, "M1", time, 1.1));
    await storeFeed(db, own);
    const history = open.map((time) => minute(time));
    const { watch, live, asked, clock } = scene(nowMs, () => history, { days });
    await watch(Math.floor(nowMs / 60_000) * 60 - 41 * DAY_S, cut);
    await watch(end, end + 3_600);
    live();
    const mended = open.filter((time) => time >= cut && time < end);
    const isMended = new Set(mended);
    const expected = open.map((time) => (isMended.has(time) ? klineOf(minute(time)) : testKline(TICKER, "M1", time, 1.1)));
    const done = async () => (await listBackfills(db, clock)).map(({ state, rows }) => [state, rows]);
    await expect.poll(done, { timeout: 60_000, interval: 20 }).toEqual([["done", mended.length]]);
    expect(await readAll()).toEqual(expected);
    for (const timeframe of TIMEFRAMES.slice(1))
      expect(await readAll(timeframe)).toEqual(aggregate(expected, timeframe, alignment));
    expect(Math.min(...asked.map(([start]) => start))).toBeGreaterThanOrEqual(Math.min(...mended));
    expect(Math.max(...asked.map(([, last]) => last))).toBeLessThanOrEqual(end);
  },
  60_000,
);

const NOW_S = at("2026-01-07T12:00:00Z");
const repairs = async () =>
  (await db.pool.query("SELECT after FROM audit_entry WHERE action = 'history.repair'")).rows.map(({ after }) => after);

test("a minute that the provider has not is asked for three times within ten minutes, and each repair that stored has one audit entry", async () => {
  let history = [minute(NOW_S - 180)];
  const { watch, live, lost, asked, clock } = scene(NOW_S * 1000 + 15_000, () => history, { days: 1 });
  await watch(NOW_S - 2 * DAY_S, NOW_S - 240);
  const before = (await repairs()).length;
  live();
  // The running minute is asked for when it is over.
  await clock.waitingFor(55_000);
  expect(asked).toEqual([[NOW_S - 240, NOW_S]]);
  expect(await readAll()).toEqual([klineOf(minute(NOW_S - 180))]);
  history = [minute(NOW_S - 180, 1.25), minute(NOW_S)];
  await clock.advance(55_000);
  await clock.waitingFor(10 * MINUTE_MS);
  expect(asked.slice(1)).toEqual([[NOW_S - 240, NOW_S + 60]]);
  history.push(minute(NOW_S - 240));
  await clock.advance(10 * MINUTE_MS);
  await expect.poll(async () => (await readAll()).length).toBe(3);
  expect(asked).toHaveLength(3);
  expect((await readAll()).map(({ time, close }) => [time - NOW_S, close])).toEqual([
    [-240, 1.2],
    [-180, 1.2],
    [0, 1.2],
  ]);
  await expect.poll(async () => (await repairs()).length).toBe(before + 3);
  expect((await repairs()).at(-1)).toMatchObject({ state: "done", minutes: 1, tickers: [TICKER] });
  // Now all is settled: only the next gap is asked for.
  await watch(NOW_S + 60, NOW_S + 1_200);
  clock.set((NOW_S + 1_205) * 1000);
  lost();
  clock.set((NOW_S + 1_330) * 1000);
  live();
  await expect.poll(() => asked.length).toBe(4);
  expect(asked[3]?.[0]).toBe(NOW_S + 1_200);
});

test("a provider that fails is asked again after a pause, one that refuses after a quarter of an hour", async () => {
  const { live, waiting, failures, asked, clock, lines } = scene(NOW_S * 1000, () => [minute(NOW_S - 120)], { days: 1 });
  expect(waiting()).toEqual([]);
  const ended = recordedWork();
  failures.push(new Upset("busy", { retryAfterMs: 90_000 }), new Upset(`broken: ${SECRET}`), new Refused("no history"));
  live();
  for (const pauseMs of [90_000, 30_000, 15 * MINUTE_MS]) {
    await clock.waitingFor(pauseMs);
    const due_at = new Date(clock.now() + pauseMs).toISOString();
    expect(waiting()).toMatchObject([{ from: "2026-01-06T12:00:00.000Z", tries: 0, due_at, running: false }]);
    await clock.advance(pauseMs);
  }
  await expect.poll(async () => (await readAll()).length).toBe(1);
  expect(asked.length).toBeGreaterThanOrEqual(4);
  const repairs = () => ended.filter(({ name }) => name === "feed repair");
  // A repair ends after its rows are stored.
  await expect
    .poll(() => repairs().map(({ problem, attributes }) => [problem, attributes["spotwire.feed"]]))
    .toEqual(["Upset", "Upset", "Refused", undefined].map((problem) => [problem, "oanda"]));
  expect(lines.map(({ reason }) => reason)).toEqual(expect.arrayContaining(["busy", "broken: [secret]", "no history"]));
});

test("many gaps in a row wait as a bounded number, and none is lost", async () => {
  const history = openMinutes(NOW_S - DAY_S, NOW_S + 7_200).map((time) => minute(time));
  const { live, lost, waiting, failures, clock } = scene(NOW_S * 1000, () => history, { days: 1 });
  failures.push(new Refused("not now"));
  live();
  await clock.waitingFor(15 * MINUTE_MS);
  for (let index = 1; index <= 60; index += 1) {
    lost();
    clock.set((NOW_S + index * 60) * 1000);
    live();
  }
  expect(waiting().length).toBeLessThanOrEqual(21);
  clock.set((NOW_S + 7_200) * 1000);
  live();
  await expect.poll(async () => (await readAll()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(119);
});

test("a stop ends a repair at once", async () => {
  const { live, stop, running } = scene(NOW_S * 1000, () => [minute(NOW_S - 120)], { days: 1 });
  live();
  await expect.poll(async () => (await readAll()).length).toBe(1);
  stop.abort();
  await running;
});
