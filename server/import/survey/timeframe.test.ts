import { expect, test } from "vitest";
import { UsageError } from "#server/cli/usage-error";
import { ImportFailure, Unsure } from "#server/import/failure";
import { at, readFile } from "#server/testing/import-rows";
import { checkAlignment, createIntervals, misalignedReason, spacingOf, timeframeIn, timeframeOf } from "./timeframe";

const open = (timeframe: Parameters<typeof createIntervals>[0], instant: string, market: "forex" | "metals" = "forex") => {
  const openS = createIntervals(timeframe, market).openOf(at(instant));
  return openS === null ? null : new Date(openS * 1000).toISOString().slice(0, 16);
};

test.each([
  ["a minute", "M1", "2024-03-06T10:07:00Z", "2024-03-06T10:07"],
  ["seconds past it", "M1", "2024-03-06T10:07:01Z", null],
  ["an hour", "H1", "2024-03-06T10:00:00Z", "2024-03-06T10:00"],
  ["half past an hour", "H1", "2024-03-06T10:30:00Z", null],
  ["four hours from 17:00 in New York, in winter", "H4", "2024-03-06T22:00:00Z", "2024-03-06T22:00"],
  ["four hours from 17:00 in New York, in summer", "H4", "2024-06-05T21:00:00Z", "2024-06-05T21:00"],
  ["four hours of UTC", "H4", "2024-06-05T20:00:00Z", null],
  ["midnight of an EET server in winter", "D1", "2024-01-09T22:00:00Z", "2024-01-09T22:00"],
  ["midnight of an EET server while only New York has summer time", "D1", "2024-03-12T22:00:00Z", null],
  ["a day of UTC", "D1", "2024-01-10T00:00:00Z", null],
  ["a week from Sunday 00:00 of an EET server", "W1", "2024-01-13T22:00:00Z", "2024-01-14T22:00"],
  ["a week from Sunday 00:00 UTC", "W1", "2024-06-09T00:00:00Z", "2024-06-09T21:00"],
  ["a week from Monday 00:00 UTC", "W1", "2024-06-10T00:00:00Z", null],
  ["a month of an EET server that begins on a weekday", "MN1", "2024-04-30T21:00:00Z", "2024-04-30T21:00"],
  ["a month of UTC", "MN1", "2024-06-01T00:00:00Z", null],
] as const)("%s is a kline of ours only if it has the same trading hours", (_, timeframe, instant, expected) => {
  expect(open(timeframe, instant)).toBe(expected);
});

test("a day of a metal that opens an hour later, after the daily break, is ours", () => {
  expect(open("D1", "2024-03-12T22:00:00Z", "metals")).toBe("2024-03-12T21:00");
  expect(open("H4", "2024-03-13T02:00:00Z", "metals")).toBe(null);
});

test("a refusal says when the klines of the file open, when ours do, and what to import", () => {
  const days = Array.from({ length: 20 }, (_, day) => at("2024-01-08T00:00:00Z") + day * 86_400_000);
  expect(misalignedReason(createIntervals("D1", "forex"), days)).toBe(
    "its D1 klines open at other times than those of Spotwire, for example at 2024-01-08T00:00Z instead of 2024-01-07T22:00Z: " +
      "the trading day of Spotwire opens at 17:00 in New York, its klines open at 00:00 UTC. Import M1 or H1 of this source instead",
  );
  const hours = Array.from({ length: 20 }, (_, index) => at("2024-01-08T00:00:00Z") + index * 14_400_000);
  expect(misalignedReason(createIntervals("H4", "forex"), hours)).toContain("open at 00:00 UTC and every four hours from there");
  expect(misalignedReason(createIntervals("H1", "forex"), [at("2024-01-08T00:30:00Z")])).toContain("set it with --tz");
});

/** Times some seconds apart from a Tuesday 00:00 UTC on. */
const everyS = (count: number, stepS: number, offsetS = 0) =>
  Array.from({ length: count }, (_, index) => (1_704_153_600 + index * stepS + offsetS) * 1000);

test.each([
  ["hours, one of which is late", [...everyS(40, 3_600), at("2024-01-03T17:37:12Z")], "H1", true],
  ["hours, newest first", everyS(40, 3_600).toReversed(), "H1", true],
  ["hours of a zone at half past an hour", everyS(40, 3_600, 1_800), "H1", true],
  ["hours with the times of their first ticks", everyS(40, 3_600).map((ms, index) => ms + (index % 7) * 61_000), "H1", true],
  [
    "half hours with the times of their first ticks",
    everyS(60, 1_800).map((ms, index) => ms + (index % 3) * 60_000),
    "M30",
    true,
  ],
  ["minutes of which most are missing", everyS(400, 60).filter((_, index) => (index * index * 31) % 101 < 40), "M1", true],
  ["four hours with weekends", everyS(60, 14_400).filter((ms) => new Date(ms).getUTCDay() % 6 > 0), "H4", true],
  [
    "few hours with gaps, of a zone at a quarter",
    [0, 3, 4, 9].map((hour) => everyS(1, 0, hour * 3_600 + 900)[0] as number),
    "H1",
    false,
  ],
  ["few rows that are minutes or none", [0, 7, 12].map((minute) => everyS(1, 0, minute * 60)[0] as number), "M1", false],
] as const)("%s are rows of %j", (_, times, timeframe, steady) => {
  expect(spacingOf(times)).toMatchObject({ timeframe, steady, refusal: null });
});

test.each([
  ["ten minutes", everyS(40, 600), "10 minutes apart"],
  ["two hours", everyS(40, 7_200), "2 hours apart"],
  ["ten seconds", everyS(40, 10), "10 seconds apart"],
  ["bars of ticks", everyS(40, 60).map((ms, index) => ms + ((index * 7919) % 977) * 1000), "irregular times"],
  [
    "bars of a range, several of them at once",
    everyS(40, 60).map((ms, index) => ms + ((index * index * 31) % 3_600) * 1000),
    "irregular",
  ],
] as const)("rows of %s are no klines of ours, and are not taken for minutes", (_, times, words) => {
  const spacing = spacingOf(times);
  expect(() => timeframeOf({ kind: "klines", spacing, path: "EURUSD.csv", given: null })).toThrow(words);
  expect(timeframeOf({ kind: "klines", spacing, path: "EURUSD.csv", given: "M1" })).toBe("M1");
});

test("odd rows among longer klines are refused one by one, and rows of another timeframe as a whole", () => {
  const hours = createIntervals("H1", "forex");
  const odd = [...everyS(60, 3_600), ...everyS(1, 0, 60 * 3_600 - 1_380)];
  expect(checkAlignment(hours, odd)).toEqual([expect.stringContaining("1 of 61 klines open at other times")]);
  expect(() => checkAlignment(hours, [...everyS(2_000, 3_600), ...everyS(6, 60, 2_000 * 3_600)])).toThrow("closer together");
  const first = everyS(60, 3_600).map((ms, index) => ms + (index % 5) * 60_000);
  expect(() => checkAlignment(hours, first)).toThrow("the times of their first ticks");
  expect(() => checkAlignment(hours, everyS(60, 3_600, 3_540))).toThrow("those of the ends of its klines");
});

/** A file with rows some seconds apart. */
async function spacingOfRows(count: number, stepS: number) {
  const rows = Array.from({ length: count }, (_, index) => `${1_704_153_600 + index * stepS},1.1,1.1,1.1,1.1`);
  return (await readFile("x.csv", `time,open,high,low,close\n${rows.join("\n")}\n`)).sample.spacing;
}

const judge = async (count: number, stepS: number, path = "EURUSD.csv", given: "M1" | "H1" | "H4" | null = null) =>
  timeframeOf({ kind: "klines", spacing: await spacingOfRows(count, stepS), path, given });

test.each([
  ["EURUSD_H1.csv", "H1"],
  ["eurusd-4h.csv", "H4"],
  ["GBPUSD60.csv", "H1"],
  ["GBPUSD1440.csv", "D1"],
  ["OANDA_EURUSD, 240.csv", "H4"],
  ["EURUSD_Daily_197101040000_201912300000.csv", "D1"],
  ["EURUSD_Monthly.csv", "MN1"],
  ["folder_H1/EURUSD.csv", null],
  ["EURUSD_H1_D1.csv", null],
  ["EURUSD_1M.csv", null],
  ["EURUSD_2019_01_04_00h_ticks.csv", null],
  ["EURUSD15_2.csv", "M15"],
  ["EURUSD2015.csv", null],
  ["EURUSD_2020_H1.csv", null],
  ["EURUSD-2020H2.csv", null],
])("the name %s says %s", (path, timeframe) => {
  expect(timeframeIn(path)).toBe(timeframe);
});

test.each([
  [60, "M1"],
  [300, "M5"],
  [900, "M15"],
  [1_800, "M30"],
  [3_600, "H1"],
  [14_400, "H4"],
  [86_400, "D1"],
  [604_800, "W1"],
])("rows %i s apart are klines of %s", async (stepS, timeframe) => {
  expect(await judge(30, stepS)).toBe(timeframe);
});

test("weeks of which one is an hour short, because the clock of the source was put forward, are still weeks", async () => {
  const rows = Array.from({ length: 30 }, (_, index) => `${1_704_153_600 + index * 604_800 - (index > 12 ? 3_600 : 0)},1,1,1,1`);
  const { sample } = await readFile("x.csv", `time,open,high,low,close\n${rows.join("\n")}\n`);
  expect(timeframeOf({ kind: "klines", spacing: sample.spacing, path: "x.csv", given: null })).toBe("W1");
});

test("few rows that could be minutes with gaps ask for the timeframe, unless the name or the option says it", async () => {
  await expect(judge(3, 3_600)).rejects.toThrow(Unsure);
  await expect(judge(3, 3_600)).rejects.toThrow(/--timeframe H1 or --timeframe M1/);
  expect(await judge(3, 3_600, "EURUSD_H1.csv")).toBe("H1");
  expect(await judge(3, 3_600, "EURUSD.csv", "M1")).toBe("M1");
  await expect(judge(1, 0)).rejects.toThrow(/--timeframe D1 or --timeframe M1/);
  expect(timeframeOf({ kind: "klines", spacing: spacingOf([at("2024-01-02T00:07:00Z")]), path: "EURUSD.csv", given: null })).toBe(
    "M1",
  );
  expect(await judge(1, 0, "EURUSD_D1.csv")).toBe("D1");
});

test("of few rows, one of which is odd, the name or the option says the timeframe", () => {
  const spacing = spacingOf([...everyS(3, 3_600), at("2024-01-02T02:37:00Z")]);
  expect(() => timeframeOf({ kind: "klines", spacing, path: "EURUSD.csv", given: null })).toThrow(Unsure);
  expect(timeframeOf({ kind: "klines", spacing, path: "EURUSD_H1.csv", given: null })).toBe("H1");
  expect(timeframeOf({ kind: "klines", spacing, path: "EURUSD.csv", given: "H1" })).toBe("H1");
  expect(() => timeframeOf({ kind: "klines", spacing, path: "EURUSD_H4.csv", given: null })).toThrow("its name says H4");
});

test("a name or option that contradicts the rows is refused", async () => {
  await expect(judge(30, 300, "EURUSD_H1.csv")).rejects.toThrow(ImportFailure);
  await expect(judge(30, 300, "EURUSD_H1.csv")).rejects.toThrow("its name says H1, but its rows are those of M5");
  await expect(judge(30, 3_600, "EURUSD_M5.csv")).rejects.toThrow("its name says M5, but its rows are those of H1");
  await expect(judge(30, 3_600, "EURUSD.csv", "H4")).rejects.toThrow("--timeframe is H4, but its rows are those of H1");
  await expect(judge(30, 60, "EURUSD_H1.csv")).rejects.toThrow("its name says H1, but its rows are those of M1");
  // The first half of a year, and a month and a day of minutes.
  for (const name of [
    "EURUSD_2024_H1.csv",
    "EURUSD_month_2024_01.csv",
    "EURUSD_H1-2024.csv",
    "EURUSD_2024_W07.csv",
    "eurusd-daily-2024-01-08.csv",
  ])
    expect(await judge(30, 60, name)).toBe("M1");
  const spacing = await spacingOfRows(30, 60);
  expect(() => timeframeOf({ kind: "ticks", spacing, path: "x", given: "H1" })).toThrow(UsageError);
});
