import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

const NAME = "OANDA_EURUSD, 1.csv";
const KLINE = { timeMs: at("2024-01-02T22:00:00Z"), open: 1.0945, high: 1.0952, low: 1.0944, close: 1.0951, tickVolume: 42 };
const PRICES = "1.0945,1.0952,1.0944,1.0951";

test.each([
  ["an offset", `2024-01-02T17:00:00-05:00,${PRICES},42,NaN,1.1`],
  ["Z", `2024-01-02T22:00:00Z,${PRICES},42,,1.1`],
  ["Unix seconds", `1704232800,${PRICES},42,0.5,1.1`],
])("a chart with times in %s is read, and values of indicators are not", async (_, row) => {
  const file = await readFile(NAME, `time,open,high,low,close,Volume,Spread,Bid\n${row}\n`);
  expect(file).toMatchObject({ format: "tradingview", kind: "klines", malformed: [], refusal: null, clock: { fixed: "UTC" } });
  expect(file.rows).toEqual([KLINE]);
  expect(file.sample.spacing.timeframe).toBe("M1");
});

test("a volume that is not known is no error, and without its column there is none", async () => {
  const file = await readFile(NAME, `time,open,high,low,close,Volume\n1704232800,${PRICES},NaN\n`);
  expect(file).toMatchObject({ malformed: [], rows: [{ close: 1.0951 }] });
  expect((await readFile(NAME, `time,open,high,low,close\n1704232800,${PRICES}\n`)).malformed).toEqual([]);
});

test.each([
  ["FX_IDC_EURUSD, 60.csv", "H1"],
  ["OANDA_XAUUSD, 1D_9b2c1.csv", "D1"],
  ["OANDA_XAUUSD, 240 (1).csv", "H4"],
  ["FX_EURUSD, 1W.csv", "W1"],
])("the timeframe of %s is %s, also with a single row", async (name, timeframe) => {
  const file = await readFile(name, `time,open,high,low,close\n1704232800,${PRICES}\n`);
  expect(file).toMatchObject({ format: "tradingview", sample: { spacing: { timeframe } } });
});

test("charts of other periods are refused", async () => {
  const row = `time,open,high,low,close\n1704232800,${PRICES}\n`;
  expect((await readFile("FX_EURUSD, 3.csv", row)).refusal).toContain("klines of 3 minutes");
  expect((await readFile("FX_EURUSD, 30S.csv", row)).refusal).toContain("klines of 30 seconds");
});
