import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { toInstrument } from "#lib/domain/instrument";
import { isOneMistakeApart, namedInstruments, nearTicker, plainTicker, searchInstruments } from "./instrument-search";

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
    ["gold spread", "XAUUSD"],
    ["spread of the euro", "EURUSD"],
    ["EURUSD history", "EURUSD"],
    ["test tickers", undefined],
    ["rate limits", undefined],
  ])("%s names %s, though not all of its words do", (text, ticker) => {
    expect(found(text)).toEqual([]);
    expect(namedInstruments(instruments, text)[0]?.ticker).toBe(ticker);
  });

  test.each(["EUR/USD", "eur-usd", "C:EURUSD", " eurusd "])("%j means EURUSD", (text) => {
    expect(plainTicker(text)).toBe("EURUSD");
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

describe("the ticker that is probably meant", () => {
  const tickers = instruments.map(({ ticker }) => ticker);

  test.each([
    ["a character too many", "EURUSDD", "EURUSD"],
    ["a character too few", "EURSD", "EURUSD"],
    ["a wrong character", "EURUSX", "EURUSD"],
    ["two characters swapped", "ERUUSD", "EURUSD"],
    ["a character before it", "XEURGBP", "EURGBP"],
    ["a test ticker without its end", "TESTGA", "TESTGAP"],
  ])("is found with %s", (_, typed, meant) => {
    expect(nearTicker(typed, instruments)).toBe(meant);
  });

  test.each(["XXXYYY", "EURUSDXY", "RUEUSD", "USDEUR", "EURUSD", ""])("is none for %j", (typed) => {
    expect(nearTicker(typed, [{ ticker: "EURUSD" }])).toBeUndefined();
  });

  test("is one of those that may be read", () => {
    expect(nearTicker("XAUSD", instruments)).toBe("XAUUSD");
    expect(nearTicker("XAUSD", instruments, ({ asset_class }) => asset_class === "forex")).toBeUndefined();
  });

  /** What a typing mistake makes of a ticker. */
  const mistakes = [
    (text: string, at: number, other: string) => text.slice(0, at) + other + text.slice(at),
    (text: string, at: number, other: string) => text.slice(0, at) + other + text.slice(at + 1),
    (text: string, at: number) => text.slice(0, at) + text.slice(at + 1),
    (text: string, at: number) =>
      text.slice(0, at) +
      text
        .slice(at, at + 2)
        .split("")
        .reverse()
        .join("") +
      text.slice(at + 2),
  ];
  const characters = fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

  test("is one mistake away from any ticker that one mistake was made in", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...tickers),
        fc.nat(),
        characters,
        fc.constantFrom(...mistakes),
        (ticker, place, other, mistake) => {
          const typed = mistake(ticker, place % ticker.length, other);
          fc.pre(!tickers.includes(typed));
          const meant = nearTicker(typed, instruments);
          expect(isOneMistakeApart(typed, ticker) && isOneMistakeApart(ticker, typed)).toBe(true);
          expect(meant !== undefined && isOneMistakeApart(typed, meant)).toBe(true);
        },
      ),
    );
  });
});
