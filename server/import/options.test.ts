import { expect, test } from "vitest";
import { parseArguments } from "#server/cli/run-command";
import { OPTIONS, readOptions } from "./options";

function parseOptions(argv: string[]) {
  const { values, positionals } = parseArguments(OPTIONS, argv);
  return readOptions(values, positionals);
}

test("npm run import needs only a file", () => {
  expect(parseOptions(["a.csv"])).toEqual({
    venue: "live",
    files: ["a.csv"],
    ticker: null,
    timeframe: null,
    format: null,
    clock: null,
    dateMs: null,
    months: null,
    columns: null,
    dateOrder: null,
    kind: null,
    spread: null,
    volume: null,
    labels: null,
    pointDigits: null,
    maxErrors: 100,
    force: false,
    acceptDoubts: false,
    dryRun: false,
  });
});

test("npm run import accepts every option", () => {
  const argv =
    "--venue live --ticker eurusd --format mt5 --tz EET --date 2019-02-04T10 --kind klines --spread pips --volume real --labels end --point-digits 2 --max-errors 0 --force --accept-doubts a b";
  expect(() => parseOptions(argv.split(" "))).toThrow("applies to a single file");
  expect(parseOptions(argv.replace(/ b$/, "").split(" "))).toMatchObject({
    ticker: "EURUSD",
    format: "mt5",
    clock: { name: "EET" },
    dateMs: Date.UTC(2019, 1, 4, 10),
    kind: "klines",
    spread: "pips",
    volume: "realVolume",
    labels: "end",
    pointDigits: 2,
    maxErrors: 0,
    force: true,
    acceptDoubts: true,
  });
});

test.each([
  [[], "Missing argument: FILE."],
  [["--nonsense", "a"], "--nonsense"],
  [["--venue", "sandbox", "a"], "the sandbox generates its klines"],
  [["--venue", "moon", "a"], "must be live"],
  [["--ticker", "EUR/USD", "a"], "for example EURUSD"],
  [["--format", "csv", "a"], "must be one of bi5-ticks"],
  [["--tz", "Nowhere", "a"], "not a time zone"],
  [["--date", "2019-02-30", "a"], "must be a day"],
  [["--date", "2019-02-03T25", "a"], "must be a day"],
  [["--point-digits", "x", "a"], "whole number from 0 to 10"],
  [["--max-errors", "-1", "a"], "max-errors"],
  [["--months", "2", "a"], "must be 0 or 1"],
  [["--columns", "time,opne,high,low,close", "a"], '"opne" is not a column'],
  [["--columns", "time,bid,ask", "--format", "mt5", "a"], "only files of --format plain"],
  [["--kind", "bars", "a"], "must be klines or ticks"],
  [["--spread", "pip", "a"], "must be points or pips or price"],
  [["--volume", "lots", "a"], "must be ticks or real"],
  [["--labels", "close", "a"], "must be start or end"],
  [["--date-format", "DDMM", "a"], "must be YMD, DMY or MDY"],
  [["--ticker"], "ticker"],
])("npm run import rejects %j as wrong usage", (argv, message) => {
  expect(() => parseOptions(argv)).toThrow(
    expect.objectContaining({ name: "UsageError", message: expect.stringContaining(message) }),
  );
});

test("an offset behind UTC can be given as the help prints it", () => {
  expect(parseOptions(["--tz", "-05:00", "a.csv"]).clock?.name).toBe("-05:00");
});

test("a first column to skip can be given as the help prints it", () => {
  expect(parseOptions(["--columns", "-,tick_volume,time,bid,ask", "a.csv"]).columns?.slice(0, 2)).toEqual(["-", "tick_volume"]);
  expect(parseOptions(["--columns", "-, - ,time,bid,ask", "--force", "a.csv"])).toMatchObject({ force: true, files: ["a.csv"] });
  expect(() => parseOptions(["--columns", "--force", "a.csv"])).toThrow("--columns");
  expect(() => parseOptions(["--columns", "-h", "a.csv"])).toThrow("--columns");
});

test.each([
  ["DMY", "dmy"],
  ["MM/DD/YYYY", "mdy"],
  ["dd.mm.yyyy hh:mm", "dmy"],
  ["YYYY-MM-DD HH:mm:ss", "ymd"],
])("--date-format %s is the order %s", (text, order) => {
  expect(parseOptions(["--date-format", text, "a.csv"]).dateOrder).toBe(order);
});
