import { expect, test } from "vitest";
import { Unsure } from "#server/import/failure";
import { tickerOf } from "./ticker";

const KNOWN = ["EURUSD", "USDJPY", "XAUUSD", "XAGUSD", "GBPUSD"].map((ticker) => ({
  ticker,
  base: ticker.slice(0, 3),
  quote: ticker.slice(3),
}));
const ofPath = (path: string, given: string | null = null, symbol: string | null = null, force = false) =>
  tickerOf({ given, symbol, path, venue: "live", force }, KNOWN);

test.each([
  ["DAT_ASCII_EURUSD_M1_2020.csv", "EURUSD"],
  ["eurusd-m1-bid-2019-02-04.csv", "EURUSD"],
  ["EUR_USD.csv", "EURUSD"],
  ["EURUSDm1.csv", "EURUSD"],
  ["EURUSD.m_2020.csv", "EURUSD"],
  ["data/XAUUSD/2019/01/04/00h_ticks.bi5", "XAUUSD"],
  ["history.zip/usdjpy.csv", "USDJPY"],
  ["EURUSD/GBPUSD.csv", "GBPUSD"],
  ["GOLD_M1.csv", "XAUUSD"],
  ["goldm1.csv", "XAUUSD"],
  ["XAU_1m_data_2020.csv", "XAUUSD"],
  ["XAU_USD.csv", "XAUUSD"],
  ["Gold-XAUUSD.csv", "XAUUSD"],
  ["SILVER.csv", "XAGUSD"],
  ["XAG_BID/2019/01/04/00h_ticks.bi5", "XAGUSD"],
])("the ticker of %s is %s", (path, ticker) => {
  expect(ofPath(path)).toBe(ticker);
});

test("the symbol column gives the ticker of a name without one, and --ticker that of a file without any", () => {
  expect(ofPath("prices.csv", null, "GBP/USD")).toBe("GBPUSD");
  expect(ofPath("prices.csv", "XAUUSD")).toBe("XAUUSD");
  expect(ofPath("EURUSD.csv", "GBPUSD", "GBP/USD")).toBe("GBPUSD");
});

test("a file that names another instrument is refused, in its rows, its name or its folder, unless --force insists", () => {
  expect(() => ofPath("x.csv", "EURUSD", "GBP/USD")).toThrow("its rows are for GBPUSD, but --ticker is EURUSD: --force");
  expect(() => ofPath("GBP-USD_M1.csv", "EURUSD")).toThrow("its name contains GBPUSD, but --ticker is EURUSD: --force");
  expect(() => ofPath("EURGBP.csv", "EURUSD")).toThrow("its name contains EURGBP");
  expect(() => ofPath("GBPUSD/2019/01/04/00h_ticks.bi5", "EURUSD")).toThrow("its name contains GBPUSD");
  expect(ofPath("GBPUSD.csv", "EURUSD", "USD/JPY", true)).toBe("EURUSD");
  expect(ofPath("REPORT.csv", "EURUSD")).toBe("EURUSD");
  expect(ofPath("EURUSD/GBPUSD.csv", "GBPUSD")).toBe("GBPUSD");
});

test("rows and a name of two instruments leave the choice to --ticker", () => {
  expect(() => ofPath("EURUSD.csv", null, "GBP/USD")).toThrow(Unsure);
});

test.each(["prices.csv", "GOLDEN_M1.csv", "MARIGOLD.csv", "XAUT_M1.csv", "XAU_EUR.csv", "XAUAUD.csv", "MYEURUSDX.csv"])(
  "%s contains no ticker, so --ticker is required",
  (path) => {
    expect(() => ofPath(path)).toThrow("--ticker");
  },
);

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

test("--ticker and a symbol column may say gold or silver, unless an instrument has that ticker", () => {
  expect(ofPath("prices.csv", "GOLD")).toBe("XAUUSD");
  expect(ofPath("XAU.csv", "XAUUSD")).toBe("XAUUSD");
  expect(ofPath("prices.csv", null, "SILVER")).toBe("XAGUSD");
  expect(() => ofPath("GOLD.csv", "EURUSD")).toThrow("its name contains XAUUSD, but --ticker is EURUSD");
  expect(() => ofPath("GOLD_XAGUSD.csv")).toThrow("XAGUSD and XAUUSD");
  const listed = [...KNOWN, { ticker: "GOLD", base: "GOLD", quote: "EUR" }];
  expect(tickerOf({ given: null, symbol: null, path: "GOLD_M1.csv", venue: "live", force: false }, listed)).toBe("GOLD");
});
