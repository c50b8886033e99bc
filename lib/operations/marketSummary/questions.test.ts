import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SUMMARY_MAX_TOKENS } from "#lib/contract/limits";
import type { Centre } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import type { KlineStore } from "#lib/market/ports";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { hasSharedData, readKlines, SHARED_DATA_NOTICE } from "#lib/testing/shared-data";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices } from "#server/feed/sandbox/prices";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { type Summary, type SummaryRow, tableOfSummary } from "./declaration";

/** A Wednesday, within a minute. */
const NOW_MS = Date.UTC(2026, 6, 22, 14, 30, 20);
const NOW_S = NOW_MS / 1000;
const SINCE_S = Date.UTC(2025, 5, 28) / 1000;
/** Gold and EURUSD with the calendars of metals and forex, silent while closed; one with gaps; one that is always open. */
const [GOLD, FX, GAPPY, ALWAYS] = ["TESTMETAL", "TESTFX", "TESTGAP", "EURUSD"] as const;

let t: TestRuntime;
let key: string;
/** Reads what the test has stored, in place of the formula. */
let recordedRead: KlineStore["read"];
const minutes: Record<string, readonly Kline[]> = {};

beforeAll(async () => {
  t = await testRuntime();
  t.clock.set(NOW_MS);
  key = (await t.issueKey({ venue: "sandbox" })).text;
  const prices = createSandboxPrices({ catalogue: createSandboxCatalogue(), seed: 1 });
  const blocks = createBlockStore(makeBlocksHere());
  const { read } = createSandboxKlines({ prices, clock: t.clock, alignment: createAlignment(), blocks });
  recordedRead = t.markets.sandbox.store.read;
  Object.assign(t.markets.sandbox.store, { read });
  const all = { from: SINCE_S, to: NOW_S, limit: Number.MAX_SAFE_INTEGER, end: "oldest", timeframe: "M1" } as const;
  for (const ticker of [GOLD, FX, GAPPY, ALWAYS]) minutes[ticker] = await read({ ticker, ...all });
  // The running minute is in the view alone.
  const last = minutes[GOLD]?.at(-1) as Kline;
  const running = { ...last, time: last.time + MINUTE_S, high: last.high + 50, close: last.low };
  t.markets.sandbox.kline(running);
  minutes[GOLD] = [...(minutes[GOLD] ?? []), running];
}, 120_000);
afterAll(() => t.close());

/**
 * An upper bound of the tokens of a text: at most three digits, or four letters, make a token, and any other character is one by itself.
 * Tokenizers of language models take longer pieces than these.
 */
const tokensOf = (text: string) => (text.match(/\d{1,3}|[A-Za-z]{1,4}|[^A-Za-z0-9]/g) ?? []).length;

type Args = Record<string, string>;
let calls = 0;
/** Decimal places of a mean of the ticker that was asked for. */
let places = 0;

/** Asks the service. Whatever it answers has to be short. */
async function ask(ticker: string, range: string, args: Args): Promise<Record<string, SummaryRow>> {
  calls += 1;
  places = { [GOLD]: 4, XAUUSD: 3 }[ticker] ?? 6;
  const [from = "", to = ""] = range.split(" ");
  const query = new URLSearchParams({ ticker, from, to, ...args });
  const { status, text, body } = await t.ask(`/api/v1/market/summary?${query}`, { key });
  expect(status, text).toBe(200);
  const data: Summary = body.data;
  expect(tokensOf(JSON.stringify(tableOfSummary(data)))).toBeLessThanOrEqual(SUMMARY_MAX_TOKENS);
  return Object.fromEntries(data.items.map((row) => [row.group, row]));
}

/** One figure of each row. */
const each = <Name extends keyof SummaryRow>(rows: Record<string, SummaryRow>, name: Name) =>
  Object.fromEntries(Object.entries(rows).map(([group, row]) => [group, row[name]]));

/** The group with the largest figure. */
const best = (figures: Record<string, unknown>) => Object.entries(figures).sort((a, b) => Number(b[1]) - Number(a[1]))[0]?.[0];

// The naive calculation: nothing of the domain, wall clocks by Intl alone, and every minute in memory.

const ZONES: Record<Centre, [zone: string, opens: number, closes: number]> = {
  sydney: ["Australia/Sydney", 7, 16],
  tokyo: ["Asia/Tokyo", 9, 18],
  london: ["Europe/London", 8, 17],
  new_york: ["America/New_York", 8, 17],
};
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const weekdayOf = (date: string) => WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] as string;
const later = (date: string, days: number) => new Date(Date.parse(date) + days * DAY_S * 1000).toISOString().slice(0, 10);

const formats = new Map<string, Intl.DateTimeFormat>();
const walls = new Map<string, Map<number, { date: string; hour: number }>>();

/** Date and hour on the clock of a zone. */
function wall(zone: string, timeS: number): { date: string; hour: number } {
  const ofZone = walls.get(zone) ?? new Map();
  walls.set(zone, ofZone);
  const known = ofZone.get(Math.floor(timeS / HOUR_S));
  if (known !== undefined) return known;
  const options = { timeZone: zone, hourCycle: "h23", dateStyle: "short", timeStyle: "short" } as const;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat("sv-SE", options);
  formats.set(zone, format);
  const [date = "", time = ""] = format.format(timeS * 1000).split(" ");
  const found = { date, hour: Number(time.slice(0, 2)) };
  ofZone.set(Math.floor(timeS / HOUR_S), found);
  return found;
}

/** The trading day of a minute: it begins at 17:00 in New York, for the next date. */
function tradingDate({ time }: Kline): string {
  const { date, hour } = wall("America/New_York", time);
  return hour >= 17 ? later(date, 1) : date;
}

/** The office day of a minute, undefined outside of office hours. */
const officeDate =
  (centre: Centre) =>
  ({ time }: Kline): string | undefined => {
    const [zone, opens, closes] = ZONES[centre];
    const { date, hour } = wall(zone, time);
    const works = hour >= opens && hour < closes && !["Sat", "Sun"].includes(weekdayOf(date));
    return works ? date : undefined;
  };

/** Minutes by something, in their order. */
function grouped(rows: readonly Kline[], keyOf: (row: Kline) => string | undefined): Map<string, Kline[]> {
  const groups = new Map<string, Kline[]>();
  for (const row of rows) {
    const name = keyOf(row);
    if (name === undefined) continue;
    const list = groups.get(name);
    if (list === undefined) groups.set(name, [row]);
    else list.push(row);
  }
  return groups;
}

/** The minutes of a ticker by trading day or office day, of the dates of a range. */
function daysOf(ticker: string, range: string, dateOf: (row: Kline) => string | undefined = tradingDate): Map<string, Kline[]> {
  const [from = "", to = ""] = range.split(" ");
  const [firstS, lastS] = [Date.parse(from) / 1000 - 2 * DAY_S, Date.parse(to) / 1000 + 2 * DAY_S];
  const near = (minutes[ticker] ?? []).filter(({ time }) => time > firstS && time < lastS);
  const all = grouped(near, dateOf);
  return new Map([...all].filter(([date]) => date >= from && date < to));
}

const hourOf = ({ time }: Kline) => Math.floor(time / HOUR_S);
const openOf = (rows: readonly Kline[]) => rows.filter((row) => hourOf(row) === hourOf(rows[0] as Kline));
const closeOf = (rows: readonly Kline[]) => rows.filter((row) => hourOf(row) === hourOf(rows.at(-1) as Kline));

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b);
  return mean([sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]] as number[]);
};
const highOf = (rows: readonly Kline[]) => rows.reduce((most, { high }) => Math.max(most, high), 0);
const lowOf = (rows: readonly Kline[]) => rows.reduce((least, { low }) => Math.min(least, low), Number.POSITIVE_INFINITY);
const rangeOf = (rows: readonly Kline[]) => highOf(rows) - lowOf(rows);
const changeOf = (rows: readonly Kline[]) => (rows.at(-1) as Kline).close - (rows[0] as Kline).open;
const spreadOf = (rows: readonly Kline[]) => mean(rows.flatMap(({ spread }) => spread ?? []));

/** A figure of groups of days. */
function byGroup(
  days: Map<string, Kline[]>,
  groupOf: (date: string) => string | undefined,
  figure: (days: Kline[][]) => number,
): Record<string, number> {
  const groups = new Map<string, Kline[][]>();
  for (const [date, rows] of days) {
    const group = groupOf(date);
    if (group !== undefined) groups.set(group, [...(groups.get(group) ?? []), rows]);
  }
  return Object.fromEntries([...groups].map(([group, list]) => [group, figure(list)]));
}
const meanRange = (days: Kline[][]) => mean(days.map(rangeOf));
const cut = (days: Map<string, Kline[]>, part: (rows: readonly Kline[]) => Kline[]) =>
  new Map([...days].map(([date, rows]) => [date, part(rows)]));

/** The same groups with the same numbers, to the last digit that is shown. */
function expectSame(found: Record<string, unknown>, wanted: Record<string, number>): void {
  expect(Object.keys(found).sort()).toEqual(Object.keys(wanted).sort());
  for (const [group, value] of Object.entries(wanted)) expect(found[group], group).toBeCloseTo(value, places);
}

const HALF_YEAR = "2026-01-22 2026-07-22";
const YEAR = "2025-07-22 2026-07-22";
const MONTH = "2026-06-22 2026-07-22";
/** Of metals from July 2025 to July 2026, by COMEX: when trading stops early or never begins, and the days before. */
const GOLD_SHORT = [
  "2025-09-01",
  "2025-11-27",
  "2025-11-28",
  "2025-12-24",
  "2026-01-19",
  "2026-02-16",
  "2026-05-25",
  "2026-06-19",
  "2026-07-03",
];

interface Asked {
  readonly question: string;
  readonly answer: () => Promise<void>;
}
const QUESTIONS: Asked[] = [
  {
    question: "How wide is the London open in gold, over the last six months, by weekday?",
    async answer() {
      const rows = await ask(GOLD, HALF_YEAR, { by: "weekday", session: "london", part: "open" });
      const opens = cut(daysOf(GOLD, HALF_YEAR, officeDate("london")), openOf);
      expect(Object.keys(rows)).toEqual(["Mon", "Tue", "Wed", "Thu", "Fri"]);
      expectSame(each(rows, "range"), byGroup(opens, weekdayOf, meanRange));
    },
  },
  {
    question: "On which weekday is the London open of gold the widest?",
    async answer() {
      const rows = await ask(GOLD, HALF_YEAR, { by: "weekday", session: "london", part: "open" });
      const opens = cut(daysOf(GOLD, HALF_YEAR, officeDate("london")), openOf);
      expect(best(each(rows, "range"))).toBe(best(byGroup(opens, weekdayOf, meanRange)));
    },
  },
  {
    question: "What were open, high, low and close of each day of last week?",
    async answer() {
      const rows = await ask(GOLD, "2026-07-13 2026-07-18", { by: "day" });
      const days = daysOf(GOLD, "2026-07-13 2026-07-18");
      expect(Object.keys(rows)).toEqual([...days.keys()]);
      for (const [date, day] of days)
        expect(rows[date]).toMatchObject({ open: day[0]?.open, high: highOf(day), low: lowOf(day), close: day.at(-1)?.close });
    },
  },
  {
    question: "What was the range of gold in each week of the last half year?",
    async answer() {
      const rows = await ask(GOLD, "2026-01-26 2026-07-20", { by: "week" });
      const monday = (row: Kline) => {
        const date = tradingDate(row);
        return later(date, -((new Date(date).getUTCDay() + 6) % 7));
      };
      const weeks = grouped([...daysOf(GOLD, "2026-01-26 2026-07-20").values()].flat(), monday);
      expectSame(each(rows, "range"), Object.fromEntries([...weeks].map(([date, week]) => [date, rangeOf(week)])));
    },
  },
  {
    question: "Which day of the last year had the widest range, and how wide was it?",
    async answer() {
      const { all } = await ask(FX, YEAR, { by: "all" });
      const ranges = Object.fromEntries([...daysOf(FX, YEAR)].map(([date, rows]) => [date, rangeOf(rows)]));
      expect(all?.max_range_on).toBe(best(ranges));
      expect(all?.max_range).toBeCloseTo(Math.max(...Object.values(ranges)), places);
    },
  },
  {
    question: "On which day of this year was gold the most expensive?",
    async answer() {
      const months = await ask(GOLD, "2026-01-01 2026-07-22", { by: "month" });
      const month = best(each(months, "high")) as string;
      const days = await ask(GOLD, `${month}-01 ${later(`${month}-28`, 4).slice(0, 7)}-01`, { by: "day" });
      const highs = [...daysOf(GOLD, "2026-01-01 2026-07-22")].map(([date, rows]) => [date, highOf(rows)]);
      expect(best(each(days, "high"))).toBe(best(Object.fromEntries(highs)));
    },
  },
  {
    question: "What is the average daily range of EURUSD over three months?",
    async answer() {
      const { all } = await ask(FX, "2026-04-22 2026-07-22", { by: "all" });
      expect(all?.range).toBeCloseTo(meanRange([...daysOf(FX, "2026-04-22 2026-07-22").values()]), places);
    },
  },
  {
    question: "And the median, which one wild day does not move?",
    async answer() {
      const { all } = await ask(FX, "2026-04-22 2026-07-22", { by: "all" });
      expect(all?.median_range).toBeCloseTo(median([...daysOf(FX, "2026-04-22 2026-07-22").values()].map(rangeOf)), places);
    },
  },
  {
    question: "Which session has the widest range?",
    async answer() {
      const rows = await ask(FX, MONTH, { by: "session" });
      const centres = Object.keys(ZONES) as Centre[];
      const wanted = centres.map((centre) => [centre, meanRange([...daysOf(FX, MONTH, officeDate(centre)).values()])]);
      expect(Object.keys(rows)).toEqual(centres);
      expectSame(each(rows, "range"), Object.fromEntries(wanted));
    },
  },
  {
    question: "At which hour UTC does EURUSD move most?",
    async answer() {
      const rows = await ask(FX, MONTH, { by: "hour_of_day" });
      expectSame(each(rows, "range"), hourRanges(FX, MONTH, "UTC"));
    },
  },
  {
    question: "At which hour of New York does gold move most, over the half year in which the clocks change?",
    async answer() {
      const rows = await ask(GOLD, HALF_YEAR, { by: "hour_of_day", zone: "America/New_York" });
      // Of the daily break there is no row.
      expect(Object.keys(rows)).toHaveLength(23);
      expectSame(each(rows, "range"), hourRanges(GOLD, HALF_YEAR, "America/New_York"));
    },
  },
  {
    question: "How wide was the London open in March, when New York and London change their clocks in different weeks?",
    async answer() {
      const rows = await ask(FX, "2026-03-01 2026-04-10", { by: "week", session: "london", part: "open" });
      const opens = cut(daysOf(FX, "2026-03-01 2026-04-10", officeDate("london")), openOf);
      const monday = (date: string) => later(date, -((new Date(date).getUTCDay() + 6) % 7));
      expectSame(each(rows, "range"), byGroup(opens, monday, meanRange));
    },
  },
  {
    question: "What did New York do each day between its clock change and that of London?",
    async answer() {
      const range = "2026-03-09 2026-03-29";
      const rows = await ask(FX, range, { by: "day", session: "new_york" });
      const days = daysOf(FX, range, officeDate("new_york"));
      expectSame(each(rows, "change"), Object.fromEntries([...days].map(([date, day]) => [date, changeOf(day)])));
      expectSame(each(rows, "count"), Object.fromEntries([...days].map(([date, day]) => [date, day.length])));
    },
  },
  {
    question: "How often did EURUSD close up, by weekday, in the last year?",
    async answer() {
      const rows = await ask(FX, YEAR, { by: "weekday" });
      const days = daysOf(FX, YEAR);
      expectSame(
        each(rows, "up"),
        byGroup(days, weekdayOf, (list) => list.filter((day) => changeOf(day) > 0).length),
      );
      expectSame(
        each(rows, "periods"),
        byGroup(days, weekdayOf, (list) => list.length),
      );
    },
  },
  {
    question: "At which hour is the spread the smallest?",
    async answer() {
      const rows = await ask(FX, MONTH, { by: "hour_of_day" });
      const hours = grouped([...daysOf(FX, MONTH).values()].flat(), ({ time }) => `${hourText("UTC", time)}`);
      expectSame(each(rows, "spread"), Object.fromEntries([...hours].map(([hour, list]) => [hour, spreadOf(list)])));
    },
  },
  {
    question: "Is the spread wider on the eve of a holiday?",
    async answer() {
      const range = "2025-12-15 2026-01-15";
      const rows = await ask(FX, range, { by: "event" });
      const eves = [...daysOf(FX, range)].filter(([date]) => ["2025-12-24", "2025-12-31"].includes(date));
      expect(rows.holiday_eve?.spread).toBeCloseTo(spreadOf(eves.flatMap(([, day]) => day)), places);
      expect(rows.ordinary?.spread).toBeGreaterThan(0);
    },
  },
  {
    question: "How wide is gold on the eve of a holiday, and on the day after one?",
    async answer() {
      const rows = await ask(GOLD, YEAR, { by: "event" });
      const days = daysOf(GOLD, YEAR);
      const closed = ["2025-12-25", "2026-01-01", "2026-04-03"];
      const isHoliday = (date: string) => [...GOLD_SHORT, ...closed].includes(date);
      const next = (date: string, step: number): string => {
        const day = later(date, step);
        return days.has(day) || isHoliday(day) ? day : next(day, step);
      };
      const beside = (step: number) => [...days].filter(([date]) => date < "2026-07-20" && isHoliday(next(date, step)));
      expect(rows.holiday_eve?.periods).toBe(beside(1).length);
      expect(rows.holiday_eve?.range).toBeCloseTo(meanRange(beside(1).map(([, day]) => day)), places);
      const after = [...days].filter(([date]) => date > "2025-07-24" && isHoliday(next(date, -1)));
      expect(rows.after_holiday?.range).toBeCloseTo(meanRange(after.map(([, day]) => day)), places);
    },
  },
  {
    question: "How wide is the first hour of the week?",
    async answer() {
      const rows = await ask(FX, HALF_YEAR, { by: "event", part: "open" });
      const mondays = [...cut(daysOf(FX, HALF_YEAR), openOf)].filter(([date]) => weekdayOf(date) === "Mon");
      expect(rows.week_open?.range).toBeCloseTo(meanRange(mondays.map(([, day]) => day)), places);
    },
  },
  {
    question: "And the last hour before the weekend?",
    async answer() {
      const rows = await ask(FX, HALF_YEAR, { by: "event", part: "close" });
      const fridays = [...cut(daysOf(FX, HALF_YEAR), closeOf)].filter(([date]) => weekdayOf(date) === "Fri");
      expect(rows.week_close?.range).toBeCloseTo(meanRange(fridays.map(([, day]) => day)), places);
    },
  },
  {
    question: "How many half days did gold have in a year, and how wide were they?",
    async answer() {
      const { short_day } = await ask(GOLD, YEAR, { by: "event" });
      const short = [...daysOf(GOLD, YEAR)].filter(([date]) => GOLD_SHORT.includes(date));
      expect(short_day?.periods).toBe(GOLD_SHORT.length);
      expect(short_day?.range).toBeCloseTo(meanRange(short.map(([, day]) => day)), places);
    },
  },
  {
    question: "Does the history of this ticker have gaps?",
    async answer() {
      const rows = await ask(GAPPY, "2026-07-13 2026-07-18", { by: "day" });
      for (const [date, day] of daysOf(GAPPY, "2026-07-13 2026-07-18")) {
        expect(rows[date]).toMatchObject({ count: day.length, expected_count: 1_440 });
        expect(day.length).toBeLessThan(1_440);
      }
    },
  },
  {
    question: "Is something missing around Christmas, or was the market closed?",
    async answer() {
      const rows = await ask(FX, "2025-12-22 2025-12-27", { by: "day" });
      const counts = Object.fromEntries([...daysOf(FX, "2025-12-22 2025-12-27")].map(([date, day]) => [date, day.length]));
      expectSame(each(rows, "count"), counts);
      expectSame(each(rows, "expected_count"), counts);
      // Closed from 03:00 to 17:00 in New York.
      expect(rows["2025-12-25"]?.count).toBe(600);
    },
  },
  {
    question: "How many days did gold trade in December?",
    async answer() {
      const { all } = await ask(GOLD, "2025-12-01 2026-01-01", { by: "all" });
      expect(all?.periods).toBe(daysOf(GOLD, "2025-12-01 2026-01-01").size);
      expect(all?.periods).toBe(22);
    },
  },
  {
    question: "In which month did gold gain most?",
    async answer() {
      const range = "2025-08-01 2026-07-01";
      const rows = await ask(GOLD, range, { by: "month" });
      const months = grouped([...daysOf(GOLD, range).values()].flat(), (row) => tradingDate(row).slice(0, 7));
      expectSame(each(rows, "change"), Object.fromEntries([...months].map(([month, list]) => [month, changeOf(list)])));
    },
  },
  {
    question: "How far has EURUSD come this year?",
    async answer() {
      const rows = await ask(FX, "2026-01-01 2026-07-23", { by: "year" });
      const all = [...daysOf(FX, "2026-01-01 2026-07-23").values()].flat();
      expectSame(each(rows, "change"), { 2026: changeOf(all) });
    },
  },
  {
    question: "Did the range of Tokyo grow from month to month?",
    async answer() {
      const rows = await ask(FX, HALF_YEAR, { by: "month", session: "tokyo" });
      const days = daysOf(FX, HALF_YEAR, officeDate("tokyo"));
      expectSame(
        each(rows, "range"),
        byGroup(days, (date) => date.slice(0, 7), meanRange),
      );
    },
  },
  {
    question: "Is Sydney on a Monday shorter than on other days?",
    async answer() {
      const range = "2026-06-01 2026-07-18";
      const rows = await ask(FX, range, { by: "weekday", session: "sydney" });
      const counts = byGroup(daysOf(FX, range, officeDate("sydney")), weekdayOf, (list) => list.flat().length);
      expectSame(each(rows, "count"), counts);
      expectSame(each(rows, "expected_count"), counts);
    },
  },
  {
    question: "For how long is gold open on a normal day?",
    async answer() {
      const rows = await ask(GOLD, "2026-07-14 2026-07-15", { by: "day" });
      expect(rows["2026-07-14"]).toMatchObject({ count: 23 * 60, expected_count: 23 * 60 });
    },
  },
  {
    question: "What happened at the weekend?",
    async answer() {
      expect(await ask(FX, "2026-07-11 2026-07-13", { by: "day" })).toEqual({});
    },
  },
  {
    question: "Which days did EURUSD trade around New Year?",
    async answer() {
      const rows = await ask(FX, "2025-12-29 2026-01-06", { by: "day" });
      expect(Object.keys(rows)).toEqual(["2025-12-29", "2025-12-30", "2025-12-31", "2026-01-02", "2026-01-05"]);
    },
  },
  {
    question: "How long was the trading day in which New York set its clocks back?",
    async answer() {
      const rows = await ask(ALWAYS, "2025-11-01 2025-11-04", { by: "day" });
      expect(each(rows, "count")).toEqual({ "2025-11-01": 1_440, "2025-11-02": 1_500, "2025-11-03": 1_440 });
    },
  },
  {
    question: "How is this week going so far?",
    async answer() {
      const rows = await ask(GOLD, "2026-07-20 2026-07-25", { by: "week" });
      const days = [...daysOf(GOLD, "2026-07-20 2026-07-25").values()].flat();
      expect(rows["2026-07-20"]).toMatchObject({ open: days[0]?.open, high: highOf(days), close: days.at(-1)?.close });
      expect(rows["2026-07-20"]?.count).toBe(days.length);
      expect(rows["2026-07-20"]?.expected_count).toBe(days.length);
    },
  },
];

const hourText = (zone: string, time: number) => `${String(wall(zone, time).hour).padStart(2, "0")}:00`;

/** Mean range of the clock hours of a ticker. */
function hourRanges(ticker: string, range: string, zone: string): Record<string, number> {
  const hours = grouped([...daysOf(ticker, range).values()].flat(), (row) => String(hourOf(row)));
  const start = (hour: string) => hourText(zone, Number(hour) * HOUR_S);
  return byGroup(hours, start, meanRange);
}

describe("thirty questions of an analyst", () => {
  test("there are thirty", () => expect(QUESTIONS.length).toBeGreaterThanOrEqual(30));

  test.each(QUESTIONS)("at most two calls answer: $question", async ({ answer }) => {
    calls = 0;
    await answer();
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThanOrEqual(2);
  });
});

test("minutes and hours give the same prices", async () => {
  // One day more than is read in minutes.
  const [short, long] = await Promise.all([
    ask(GOLD, "2026-03-02 2026-05-03", { by: "week" }),
    ask(GOLD, "2026-03-02 2026-05-04", { by: "week" }),
  ]);
  for (const name of ["open", "high", "low", "close", "range", "change"] as const)
    expect(each(long, name)).toEqual(each(short, name));
  expect(short["2026-03-02"]?.count).toBe((long["2026-03-02"]?.count ?? 0) * (HOUR_S / MINUTE_S));
});

describe.skipIf(!hasSharedData)(`on recorded gold${SHARED_DATA_NOTICE}`, () => {
  test("the London open by weekday is right, over a year", async () => {
    const rows = readKlines({ shared: "permissive/xauusd_h1_mt5_ejtrader_2012_2022" }).rows.filter(
      ({ time }) => time >= 1_577_836_800,
    );
    await t.markets.sandbox.store.writeBatch(rows, []);
    Object.assign(t.markets.sandbox.store, { read: recordedRead });
    minutes.XAUUSD = rows;
    const range = "2020-02-03 2021-02-01";
    const found = await ask("XAUUSD", range, { by: "weekday", session: "london", part: "open" });
    const opens = cut(daysOf("XAUUSD", range, officeDate("london")), openOf);
    expectSame(each(found, "range"), byGroup(opens, weekdayOf, meanRange));
    expectSame(
      each(found, "count"),
      byGroup(opens, weekdayOf, (list) => list.flat().length),
    );
  });
});
