import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { importCommand, storedKlines } from "#server/testing/import-command";

const CASES = path.resolve(process.cwd(), "../shared/data/import-cases");

let database: TestDatabase;
let folder = "";
beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-names-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

function write(name: string, lines: readonly string[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

const firstTime = async (ticker: string) => {
  const [first] = await storedKlines(database, ticker, "M1");
  return first === undefined ? null : new Date(first.time * 1000).toISOString();
};

test("rows of another instrument need --ticker, and no --force", async () => {
  const row = (time: string) => `NZDUSD-PERP,${time},0.62045,0.62050,0.62045,0.62050`;
  const file = write("perp.csv", ["symbol,time,open,high,low,close", row("2024-01-08T08:00:00Z"), row("2024-01-08T08:01:00Z")]);
  expect(await importCommand(database, [file])).toMatchObject({
    exitCode: 3,
    text: expect.stringContaining("its rows are for NZDUSD-PERP, which is another instrument than NZDUSD"),
  });
  expect(await storedKlines(database, "NZDUSD", "M1")).toEqual([]);
  expect(await importCommand(database, ["--ticker", "NZDUSD", file])).toMatchObject({ exitCode: 0 });
  expect(await storedKlines(database, "NZDUSD", "M1")).toHaveLength(2);
});

test("flat files of Massive are read: nanoseconds in window_start, and a symbol with its source", async () => {
  const file = write("2024-01-08.csv", [
    "ticker,volume,open,close,high,low,window_start,transactions",
    "C:EUR-CHF,5,0.93110,0.93120,0.93130,0.93100,1704700800000000000,5",
    "C:EUR-CHF,7,0.93120,0.93110,0.93120,0.93110,1704700860000000000,7",
  ]);
  expect(await importCommand(database, [file])).toMatchObject({ exitCode: 0 });
  expect(await storedKlines(database, "EURCHF", "M1")).toMatchObject([
    { time: 1704700800, open: 0.9311, high: 0.9313, low: 0.931, close: 0.9312, tick_volume: 5 },
    { time: 1704700860, tick_volume: 7 },
  ]);
});

test("--columns may begin with a column to skip", async () => {
  const file = write("AUDCAD.csv", [
    "0,12,2024-01-08T08:00:00Z,0.89510,0.89530,0.89500,0.89520",
    "1,9,2024-01-08T08:01:00Z,0.89520,0.89520,0.89510,0.89510",
  ]);
  const argv = ["--columns", "-,tick_volume,time,open,high,low,close", file];
  expect(await importCommand(database, argv)).toMatchObject({ exitCode: 0 });
  expect(await storedKlines(database, "AUDCAD", "M1")).toMatchObject([{ open: 0.8951, tick_volume: 12 }, { tick_volume: 9 }]);
});

describe.skipIf(!existsSync(CASES))("files that people have (skipped where ../shared/data/import-cases is absent)", () => {
  const inCases = (name: string) => path.join(CASES, name);

  test.each([
    ["EURUSDT-1m-2024-01-08.csv", "EURUSDT"],
    ["EURUSDC-1m-2024-01-08.csv", "EURUSDC"],
    ["XAUUSDT-1m-2024-01-08.csv", "XAUUSDT"],
    ["rows.csv", "EURUSDT"],
    ["rows_perp.csv", "EURUSD-PERP"],
    ["rows_future.csv", "XAUUSDZ24"],
  ])("%s is of another instrument", async (name, said) => {
    expect(await importCommand(database, [inCases(`02-stablecoin-quote/${name}`)])).toMatchObject({
      exitCode: 3,
      text: expect.stringContaining(`${said}, which is another instrument than ${said.slice(0, 6)}`),
    });
    expect(await storedKlines(database, said.slice(0, 6), "M1")).toEqual([]);
  });

  test("a summer's day in London is not on the clock of Dhaka", async () => {
    const file = inCases("10-tz-bst/EURUSD_london_summer.csv");
    expect(await importCommand(database, ["--tz", "BST", "--ticker", "EURGBP", "--force", file])).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining("for example --tz Europe/London"),
    });
    expect(await importCommand(database, ["--tz", "Europe/London", "--ticker", "EURUSD", file])).toMatchObject({ exitCode: 0 });
    expect(await firstTime("EURUSD")).toBe("2024-07-09T08:00:00.000Z");
  });
});
