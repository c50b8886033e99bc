import { expect, test } from "vitest";
import { UsageError } from "#server/cli/usage-error";
import { readFile } from "#server/testing/import-rows";
import { ImportFailure, Unsure } from "./failure";
import { timeframeIn, timeframeOf } from "./timeframe";

/** A file with rows some seconds apart. */
async function sampleOf(count: number, stepS: number) {
  const rows = Array.from({ length: count }, (_, index) => `${1_704_153_600 + index * stepS},1.1,1.1,1.1,1.1`);
  return (await readFile("x.csv", `time,open,high,low,close\n${rows.join("\n")}\n`)).sample;
}

const judge = async (count: number, stepS: number, path = "EURUSD.csv", given: "M1" | "H1" | "H4" | null = null) =>
  timeframeOf({ kind: "klines", sample: await sampleOf(count, stepS), path, given });

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
  expect(timeframeOf({ kind: "klines", sample, path: "x.csv", given: null })).toBe("W1");
});

test("few rows that could be minutes with gaps ask for the timeframe, unless the name or the option says it", async () => {
  await expect(judge(3, 3_600)).rejects.toThrow(Unsure);
  await expect(judge(3, 3_600)).rejects.toThrow(/--timeframe H1 or --timeframe M1/);
  expect(await judge(3, 3_600, "EURUSD_H1.csv")).toBe("H1");
  expect(await judge(3, 3_600, "EURUSD.csv", "M1")).toBe("M1");
  expect(await judge(1, 0)).toBe("M1");
  expect(await judge(1, 0, "EURUSD_D1.csv")).toBe("D1");
});

test("a name or option that contradicts the rows is refused", async () => {
  await expect(judge(30, 300, "EURUSD_H1.csv")).rejects.toThrow(ImportFailure);
  await expect(judge(30, 300, "EURUSD_H1.csv")).rejects.toThrow("its name says H1, but its rows are those of M5");
  await expect(judge(30, 3_600, "EURUSD_M5.csv")).rejects.toThrow("its name says M5, but its rows are those of H1");
  await expect(judge(30, 3_600, "EURUSD.csv", "H4")).rejects.toThrow("--timeframe is H4, but its rows are those of H1");
  // Minutes show themselves, and H1 is the first half of a year.
  expect(await judge(30, 60, "EURUSD_2024_H1.csv")).toBe("M1");
  const sample = await sampleOf(30, 60);
  expect(() => timeframeOf({ kind: "ticks", sample, path: "x", given: "H1" })).toThrow(UsageError);
});
