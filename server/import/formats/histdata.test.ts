import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

const RAW = path.resolve(process.cwd(), "../shared/data/raw/histdata");
const KLINE = { timeMs: at("2020-05-01T00:00:00Z"), open: 1.0945, high: 1.0952, low: 1.0944, close: 1.0951, tickVolume: 0 };

test.each([
  ["DAT_ASCII_EURUSD_M1_2020.csv", "histdata-ascii-m1", "20200501 000000;1.094500;1.095200;1.094400;1.095100;0\n"],
  ["DAT_NT_EURUSD_M1_202005.csv", "histdata-nt-m1", "20200501 000000,1.0945,1.0952,1.0944,1.0951,0\r\n"],
  ["DAT_NT_EURUSD_M1_202005.csv", "histdata-nt-m1", "20200501 000000;1.0945;1.0952;1.0944;1.0951;0\r\n"],
  ["DAT_MT_EURUSD_M1_202005.csv", "mt4-csv", "2020.05.01,00:00,1.094500,1.095200,1.094400,1.095100,0\n"],
])("klines of %s are read as %s", async (name, format, line) => {
  const file = await readFile(name, line);
  expect(file).toMatchObject({ format, kind: "klines", malformed: [] });
  expect(file.rows).toEqual([KLINE]);
});

// The example of HistData's specification of its files.
const METASTOCK =
  "EURUSD,201202010000,1.306600,1.306600,1.306560,1.306560,0\nEURUSD,201202010001,1.306570,1.306570,1.306470,1.306560,0\n";

test("the MetaStock variant has the instrument in its rows", async () => {
  const file = await readFile("DAT_MS_EURUSD_M1_201202.csv", METASTOCK);
  expect(file).toMatchObject({
    format: "histdata-ms-m1",
    kind: "klines",
    malformed: [],
    sample: { symbol: "EURUSD", spacing: { timeframe: "M1" } },
  });
  expect(file.rows[1]).toEqual({
    timeMs: at("2012-02-01T00:01:00Z"),
    open: 1.30657,
    high: 1.30657,
    low: 1.30647,
    close: 1.30656,
    tickVolume: 0,
  });
  expect((await readFile("x.csv", "EURUSD,201202310000,1.3,1.3,1.3,1.3,0\n")).malformed).toEqual([
    { line: 1, reason: "no valid time" },
  ]);
});

test("ticks with one price are refused with the file to import instead", async () => {
  const file = await readFile("DAT_NT_EURUSD_T_LAST_201202.csv", "20120201 000003;1.306600;0\n20120201 000003;1.306580;0\n");
  expect(file.refusal).toContain("import HistData's ASCII ticks");
});

test("HistData ticks have milliseconds, and their volume is ignored", async () => {
  const file = await readFile(
    "DAT_ASCII_EURUSD_T_202001.csv",
    "20200101 170000065,1.121200,1.121720,0\n20200101 170010447,1.121200,1.121920,0\n",
  );
  expect(file).toMatchObject({ format: "histdata-ticks", kind: "ticks", malformed: [] });
  expect(file.rows[0]).toEqual({ timeMs: at("2020-01-01T17:00:00.065Z"), bid: 1.1212, ask: 1.12172 });
});

test("klines are not fillers when every volume is 0", async () => {
  const file = await readFile(
    "DAT_ASCII_EURUSD_M1_2020.csv",
    "20200501 000000;1.1;1.1;1.1;1.1;0\n20200501 000100;1.1;1.1;1.1;1.1;0\n",
  );
  expect(file.sample).toMatchObject({ values: { hasVolume: false }, spacing: { timeframe: "M1" } });
});

test("malformed rows are reported with line and reason, and the other rows are read", async () => {
  const rows = [
    "20200501 000000;1.1;1.2;1.0;1.1;0",
    "garbage",
    "20200501 000100;1.1;;1.0;1.1;0",
    "20200532 000200;1;1;1;1;0",
    "20200501 000300;1.1;abc;1.0;1.1;0",
  ];
  const file = await readFile("DAT_ASCII_EURUSD_M1_2020.csv", `${rows.join("\n")}\n20200501 000400;1.1;1.2;1.0;1.1;0`);
  expect(file.rows).toHaveLength(2);
  expect(file.malformed).toEqual([
    { line: 2, reason: "1 columns, at least 5 required" },
    { line: 3, reason: "high is empty" },
    { line: 4, reason: "no valid time" },
    { line: 5, reason: "high is not a price: abc" },
  ]);
});

describe.skipIf(!existsSync(RAW))("HistData's own files (skipped where ../shared/data is absent)", () => {
  test.each([
    ["DAT_ASCII_EURUSD_T_202001.csv", "histdata-ticks"],
    ["DAT_MT_EURUSD_M1_202006.csv", "mt4-csv"],
    ["DAT_NT_EURUSD_M1_202005.csv", "histdata-nt-m1"],
  ])("%s is read without loss, whatever the chunk boundaries", async (name, format) => {
    const content = readFileSync(path.join(RAW, name));
    const file = await readFile(name, content);
    expect(file).toMatchObject({ format, malformed: [], withoutQuote: [] });
    expect(file.rows).toHaveLength(3_000);
    expect((await readFile(name, content, { chunkBytes: 61 })).rows).toEqual(file.rows);
  });
});
