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

test.each([
  ["EURUSDH4.csv", "EURUSD"],
  ["EURUSD60.csv", "EURUSD"],
  ["EURUSD1440.hst", "EURUSD"],
  ["XAUUSDD1.csv", "XAUUSD"],
  ["XAUUSDMN1.csv", "XAUUSD"],
  ["EURUSDm_M15_2019.csv", "EURUSD"],
  ["EURUSDmM1.csv", "EURUSD"],
  ["EURUSDmicro60.csv", "EURUSD"],
  ["EURUSD+_M1.csv", "EURUSD"],
  ["EURUSD.a_H1.csv", "EURUSD"],
  ["FX_IDC_EURUSD, 60.csv", "EURUSD"],
  ["EURUSD=X.csv", "EURUSD"],
  ["EURUSD5min.csv", "EURUSD"],
  ["EURUSD_M2_D1_H12_V1.csv", "EURUSD"],
  ["EURUSD2020.csv", "EURUSD"],
  ["GOLDm.csv", "XAUUSD"],
  ["XAUUSD_GOLDEN_hour.csv", "XAUUSD"],
  ["GBPUSD_JPY.csv", "GBPUSD"],
])("what a tool or broker adds to a ticker in the name %s is not another instrument", (path, ticker) => {
  expect(ofPath(path)).toBe(ticker);
});

const SAME = `EURUSD eurusd EUR/USD EUR_USD EUR-USD EUR.USD EURUSDm EURUSDc EURUSDi EURUSDz EURUSD.m EURUSD.pro EURUSD.ecn EURUSD.raw
  EURUSD.a EURUSD.r EURUSDmicro EURUSDecn EURUSD_SB EURUSD_i EURUSD+ EURUSD# EURUSD. EURUSD- EURUSD=X EURUSD.FXCM EUR/USD.SIM
  EURUSDm.MT5 EURUSD.FOREX eurusd.ecn C:EURUSD C:EUR-USD OANDA:EUR_USD FX:EURUSD FX_IDC:EURUSD FOREXCOM:EURUSD`;
test.each(SAME.split(/\s+/))("the symbol %s is EURUSD", (symbol) => {
  expect(ofPath("prices.csv", null, symbol)).toBe("EURUSD");
});

const OTHERS = `EURUSDT EURUSDC eurusdc eurusdt EURUSDt EURUSDX EURUSD-PERP EURUSD.P EURUSDZ24 EURUSDM2025 EURUSDH4 EURUSDz24 EUR-USDT
  BINANCE:EURUSDT EURUSD_240628 EURUSDGBP EURUSD-SWAP EURUSD/USDT EURUSD_otc EURUSD1!`;
test.each(OTHERS.split(/\s+/))("the symbol %s is another instrument than EURUSD, which --ticker insists on", (symbol) => {
  const said = symbol.replace("BINANCE:", "");
  expect(() => ofPath("EURUSD.csv", null, symbol)).toThrow(Unsure);
  expect(() => ofPath("EURUSD.csv", null, symbol)).toThrow(`its rows are for ${said}, which is another instrument than EURUSD.`);
  expect(() => ofPath("EURUSD.csv", null, symbol)).toThrow("set --ticker EURUSD");
  expect(ofPath("prices.csv", "EURUSD", symbol)).toBe("EURUSD");
  expect(() => ofPath("prices.csv", "GBPUSD", symbol)).toThrow(`its rows are for ${said}, but --ticker is GBPUSD: --force`);
});

test.each([
  ["EURUSDT-1m-2024-01-08.csv", "EURUSDT", "EURUSD"],
  ["EURUSDC-1m-2024-01-08.csv", "EURUSDC", "EURUSD"],
  ["eurusdc_1m.csv", "eurusdc", "EURUSD"],
  ["EUR-USDT.csv", "EUR-USDT", "EURUSD"],
  ["EURUSD/EURUSDT-1m.csv", "EURUSDT", "EURUSD"],
  ["EURUSDT/1m/2024.csv", "EURUSDT", "EURUSD"],
  ["XAUUSDZ24.csv", "XAUUSDZ24", "XAUUSD"],
  ["XAUUSDM2025_M1.csv", "XAUUSDM2025", "XAUUSD"],
  ["XAUUSD-H25_M1.csv", "XAUUSD-H25", "XAUUSD"],
  ["eurusdh24.csv", "eurusdh24", "EURUSD"],
  ["EURUSD-PERP_1m.csv", "EURUSD-PERP", "EURUSD"],
  ["bybit_EURUSD_swap.csv", "EURUSD_swap", "EURUSD"],
  ["futures-EURUSD.csv", "futures-EURUSD", "EURUSD"],
  ["MYEURUSDX.csv", "MYEURUSDX", "EURUSD"],
  ["GOLDZ24.csv", "GOLDZ24", "XAUUSD"],
  ["GOLD_FUT.csv", "GOLD_FUT", "XAUUSD"],
  ["XAUUSD/XAUT_M1.csv", "XAUT", "XAUUSD"],
  ["XAUUSD/XAU_EUR.csv", "XAU_EUR", "XAUUSD"],
])("the name %s contains %s, which is another instrument than %s", (path, said, ticker) => {
  expect(() => ofPath(path)).toThrow(Unsure);
  expect(() => ofPath(path)).toThrow(`its name contains ${said}, which is another instrument than ${ticker}.`);
  expect(ofPath(path, ticker)).toBe(ticker);
  expect(() => ofPath(path, "USDJPY")).toThrow(`its name contains ${said}, but --ticker is USDJPY: --force`);
});

test("metals by another name follow the same rules in symbols", () => {
  for (const symbol of ["GOLD", "GOLDm", "GOLD#", "GOLD.pro", "XAU", "XAU/USD", "TVC:GOLD"])
    expect(ofPath("prices.csv", null, symbol)).toBe("XAUUSD");
  for (const symbol of ["GOLDZ24", "GOLD-PERP", "XAUT", "XAUUSDT"])
    expect(() => ofPath("prices.csv", null, symbol)).toThrow(`${symbol}, which is another instrument than XAUUSD`);
  for (const symbol of ["XAU/EUR", "XAUAUD", "GOLDEN", "SILVERADO"])
    expect(() => ofPath("prices.csv", null, symbol)).toThrow("is not an instrument of the live venue");
});

test("an instrument that is listed itself is not taken for one that it resembles", () => {
  const listed = [...KNOWN, { ticker: "EURUSDT", base: "EUR", quote: "USDT" }, { ticker: "US30", base: "US30", quote: "USD" }];
  const named = (path: string, symbol: string | null = null) =>
    tickerOf({ given: null, symbol, path, venue: "live", force: false }, listed);
  expect(named("EURUSDT-1m.csv")).toBe("EURUSDT");
  expect(named("x.csv", "EUR-USDT")).toBe("EURUSDT");
  expect(named("EURUSD-1m.csv")).toBe("EURUSD");
  expect(named("US30.csv")).toBe("US30");
  expect(() => named("US300.csv")).toThrow("no known ticker");
  expect(() => named("EURUSDTX.csv")).toThrow("its name contains EURUSDTX, which is another instrument than EURUSDT");
});

test("rows of a listed instrument in a file named after another one leave the choice to --ticker", () => {
  expect(() => ofPath("EURUSDT.csv", null, "EURUSD")).toThrow(
    "its rows are for EURUSD, but its name contains EURUSDT: choose one",
  );
  expect(ofPath("EURUSDT.csv", "EURUSD", "EUR/USD")).toBe("EURUSD");
  expect(() => ofPath("EURUSD/XAUAUD.csv")).toThrow("XAUAUD is not an instrument of the live venue");
  expect(() => ofPath("EURUSD/BTCUSD/1m.csv", null, null)).not.toThrow();
  expect(() => ofPath("EURUSD/BTCUSD.csv")).toThrow("BTCUSD is not an instrument of the live venue");
  expect(() => ofPath("EURUSD/AUDCAD/1m.csv")).toThrow("AUDCAD is not an instrument of the live venue");
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
