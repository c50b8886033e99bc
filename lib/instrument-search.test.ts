import { describe, expect, test } from "vitest";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { toInstrument } from "#lib/domain/instrument";
import { searchInstruments } from "./instrument-search";

const instruments = SANDBOX_LISTINGS.map(toInstrument);
const found = (text: string) => searchInstruments(instruments, text).map(({ ticker }) => ticker);

describe("the search for instruments", () => {
  test.each([
    ["cable", "GBPUSD"],
    ["fiber", "EURUSD"],
    ["EUR/USD", "EURUSD"],
    ["usd jpy", "USDJPY"],
    ["xauusd", "XAUUSD"],
    ["swiss yen", "CHFJPY"],
  ])("%s finds exactly %s", (text, ticker) => {
    expect(found(text)).toEqual([ticker]);
  });

  test.each([
    ["gold", ["XAUUSD", "XAUEUR"]],
    ["silver", ["XAGUSD", "XAGEUR"]],
    ["zloty", ["USDPLN", "EURPLN"]],
    ["xau", ["XAUUSD", "XAUEUR"]],
  ])("%s finds all of %j, the pair with the US dollar first", (text, tickers) => {
    expect(found(text)).toEqual(tickers);
  });

  test.each([
    ["yen", "JPY"],
    ["loonie", "CAD"],
    ["swissy", "CHF"],
    ["aussie", "AUD"],
    ["kiwi", "NZD"],
    ["sterling", "GBP"],
  ])("%s finds every pair of %s, and nothing else", (text, currency) => {
    const pairs = instruments.filter(({ base_currency: base, quote_currency: quote }) => [base, quote].includes(currency));
    expect(found(text).sort()).toEqual(pairs.map(({ ticker }) => ticker).sort());
  });

  test.each([
    ["yen", "USDJPY"],
    ["kiwi", "NZDUSD"],
    ["sterling", "GBPUSD"],
  ])("of equal matches %s finds %s first, the pair with the US dollar", (text, ticker) => {
    expect(found(text)[0]).toBe(ticker);
  });

  test("tickers that start with the text come first, then those of the base currency", () => {
    expect(found("usd").slice(0, 2)).toEqual(["USDCAD", "USDCHF"]);
    expect(found("dollar")[0]?.slice(0, 3)).toBe("AUD");
    expect(found("usd")).toContain("EURUSD");
  });

  test("an asset class finds its instruments, an empty text all, and nonsense none", () => {
    expect(found("metals").sort()).toEqual(["TESTMETAL", "XAGEUR", "XAGUSD", "XAUEUR", "XAUUSD", "XPDUSD", "XPTUSD"]);
    expect(found("  ")).toHaveLength(instruments.length);
    expect(found("zzz")).toEqual([]);
  });
});
