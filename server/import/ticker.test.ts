import { expect, test } from "vitest";
import { tickerOf } from "./ticker";

const KNOWN = ["EURUSD", "USDJPY", "XAUUSD", "GBPUSD"].map((ticker) => ({
  ticker,
  base: ticker.slice(0, 3),
  quote: ticker.slice(3),
}));
const ofPath = (path: string, given: string | null = null, symbol: string | null = null) =>
  tickerOf({ given, symbol, path, venue: "live" }, KNOWN);

test.each([
  ["DAT_ASCII_EURUSD_M1_2020.csv", "EURUSD"],
  ["eurusd-m1-bid-2019-02-04.csv", "EURUSD"],
  ["EUR_USD.csv", "EURUSD"],
  ["EURUSDm1.csv", "EURUSD"],
  ["EURUSD.m_2020.csv", "EURUSD"],
  ["data/XAUUSD/2019/01/04/00h_ticks.bi5", "XAUUSD"],
  ["history.zip/usdjpy.csv", "USDJPY"],
  ["EURUSD/GBPUSD.csv", "GBPUSD"],
])("the ticker of %s is %s", (path, ticker) => {
  expect(ofPath(path)).toBe(ticker);
});

test("the symbol column takes precedence over the name, and --ticker over both", () => {
  expect(ofPath("EURUSD.csv", null, "GBP/USD")).toBe("GBPUSD");
  expect(ofPath("EURUSD.csv", "XAUUSD")).toBe("XAUUSD");
  expect(() => ofPath("x.csv", "EURUSD", "GBP/USD")).toThrow("its rows are for GBPUSD");
});

test.each(["prices.csv", "GOLD_M1.csv", "MYEURUSDX.csv"])("%s contains no ticker, so --ticker is required", (path) => {
  expect(() => ofPath(path)).toThrow("--ticker");
});

test("two tickers in a name require a choice with --ticker", () => {
  expect(() => ofPath("EURUSD_GBPUSD.csv")).toThrow("EURUSD and GBPUSD");
});

test("an unlisted instrument is named, with the command that adds it", () => {
  expect(() => ofPath("x.csv", "AEDCNH")).toThrow(
    "AEDCNH is not an instrument of the live venue. Add it with: npm run instruments -- add",
  );
  expect(() => ofPath("x.csv", null, "AED/CNH")).toThrow("npm run instruments -- add");
  expect(() => ofPath("DAT_ASCII_AEDCNH_M1.csv")).toThrow("AEDCNH is not an instrument");
});
