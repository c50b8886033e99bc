import { expect, test } from "vitest";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { asksFor, matchSymbols } from "./symbols";

const listings = SANDBOX_LISTINGS.filter(({ ticker }) => ["EURUSD", "XAUUSD"].includes(ticker));
const match = (symbols: readonly string[], named: Record<string, string> = {}) => {
  const offered = symbols.map((symbol) => ({ symbol }));
  const { bySymbol, missing } = matchSymbols(listings, offered, new Map(Object.entries(named)));
  return { found: Object.fromEntries([...bySymbol].map(([symbol, { ticker }]) => [ticker, symbol])), missing };
};

test.each(["EUR_USD", "EUR/USD", "EUR-USD", "C:EURUSD", "eurusd", "EURUSD", "EURUSDm", "EURUSD.pro"])(
  "%s is found for EURUSD",
  (symbol) => {
    expect(match(["EURCHF", symbol, "USDEUR"]).found).toEqual({ EURUSD: symbol });
  },
);

test("an exact symbol comes before one with a suffix, and of two suffixes none is guessed", () => {
  expect(match(["EURUSD.a", "EURUSD", "XAUUSD.a", "XAUUSDm"])).toEqual({
    found: { EURUSD: "EURUSD" },
    missing: [{ ticker: "XAUUSD", state: "missing", reason: "offered as XAUUSD.a, XAUUSDm; choose one with FEED_SYMBOLS" }],
  });
});

test("a longer name is another instrument", () => {
  expect(match(["EURUSDFUTURES"]).found).toEqual({});
});

test("a symbol of FEED_SYMBOLS comes first, and must be offered", () => {
  expect(match(["XAUUSD", "GOLD.pro"], { XAUUSD: "GOLD.pro", EURUSD: "EURO" })).toEqual({
    found: { XAUUSD: "GOLD.pro" },
    missing: [{ ticker: "EURUSD", state: "missing", reason: "FEED_SYMBOLS names EURO, which is not offered" }],
  });
});

test("a provider is asked for the tickers that FEED_TICKERS names for it; one without an entry for all", () => {
  const FEED_TICKERS = [{ feed: "twelvedata", ticker: "XAUUSD" }];
  const asked = (name: string) => listings.map(({ ticker }) => ticker).filter(asksFor(name, { FEED_TICKERS }));
  expect(asked("twelvedata")).toEqual(["XAUUSD"]);
  expect(asked("oanda")).toEqual(listings.map(({ ticker }) => ticker));
});
