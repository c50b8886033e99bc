import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

const HEAD = "ticker,timeframe,time,open,high,low,close,tick_volume,real_volume,spread";

test("rows of an export are read with spreads in price units, and empty cells as unknown", async () => {
  const file = `${HEAD}\nXAUUSD,M1,2024-03-06T00:00:00Z,2100.00,2101.00,2099.50,2100.10,0,,1.00\nXAUUSD,M1,2024-03-06T00:07:00Z,2100.00,2100.00,2100.00,2100.00,3,5.5,\n`;
  const { format, sample, rows } = await readFile("any.csv", file);
  expect({ format, symbol: sample.symbol, timeframe: sample.spacing.timeframe }).toEqual({
    format: "spotwire",
    symbol: "XAUUSD",
    timeframe: "M1",
  });
  expect(rows).toEqual([
    { timeMs: at("2024-03-06T00:00Z"), open: 2_100, high: 2_101, low: 2_099.5, close: 2_100.1, tickVolume: 0, spread: 1 },
    { timeMs: at("2024-03-06T00:07Z"), open: 2_100, high: 2_100, low: 2_100, close: 2_100, tickVolume: 3, realVolume: 5.5 },
  ]);
});

test("records of the API saved as CSV, with Unix times and further columns, are read too", async () => {
  const file = `type,${HEAD}\nkline,EURUSD,M1,1709683200,1.1,1.1,1.1,1.1,4,,0\n`;
  const { format, rows } = await readFile("any.csv", file);
  expect(format).toBe("spotwire");
  expect(rows).toMatchObject([{ timeMs: at("2024-03-06T00:00Z"), close: 1.1, spread: 0 }]);
});

test("a row of another timeframe or instrument than the first is refused", async () => {
  const row = (ticker: string, timeframe: string) => `${ticker},${timeframe},2024-03-06T00:00:00Z,1.1,1.1,1.1,1.1,4,,0\n`;
  const { malformed } = await readFile("any.csv", `${HEAD}\n${row("EURUSD", "M1")}${row("EURUSD", "M5")}${row("EURGBP", "M1")}`);
  expect(malformed).toEqual([
    { line: 3, reason: "M5 in a file of M1" },
    { line: 4, reason: "EURGBP in a file of EURUSD" },
  ]);
});

test("a file without the timeframe column is a plain file", async () => {
  const file = "time,open,high,low,close,tick_volume,real_volume,spread\n2024-03-06T00:00:00Z,1.1,1.1,1.1,1.1,4,,0\n";
  expect((await readFile("EURUSD.csv", file)).format).toBe("plain");
});
