import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QUERY_PARAMETERS_MAX_COUNT, TICKERS_PER_REQUEST_MAX_COUNT } from "#lib/contract/limits";
import type { Operation } from "#lib/contract/operation";
import { operations } from "#lib/operations/declarations";
import { createQueryParser } from "./query";

const quotes = createQueryParser(operations.latestQuotes as unknown as Operation);
const klines = createQueryParser(operations.klines as unknown as Operation);
const tickersOf = (text: string) => quotes(text).query.tickers;
const rangeOf = (range: string) => klines(`ticker=EURUSD&timeframe=H1&${range}`).query;

describe("a list in a query", () => {
  test.each([
    "tickers=EURUSD,XAUUSD",
    "tickers=EURUSD&tickers=XAUUSD",
    "tickers[]=EURUSD&tickers[]=XAUUSD",
    "tickers%5B%5D=EURUSD&tickers%5B%5D=XAUUSD",
    "tickers[0]=EURUSD&tickers[1]=XAUUSD",
    "tickers=eurusd&tickers[]=EURUSD,xauusd",
  ])("%s is one list", (text) => {
    expect(quotes(text)).toEqual({ query: { tickers: ["EURUSD", "XAUUSD"] }, ignored: undefined });
  });

  test("a list can have its longest length however it is written, and one more is too many", () => {
    const tickers = Array.from({ length: TICKERS_PER_REQUEST_MAX_COUNT }, (_, index) => `TICKER${index}`);
    const written = (list: string[]) => [
      `tickers=${list.join(",")}`,
      list.map((ticker) => `tickers=${ticker}`).join("&"),
      list.map((ticker, index) => `tickers[${index}]=${ticker}`).join("&"),
    ];
    for (const text of written(tickers)) expect(tickersOf(text)).toEqual(tickers);
    for (const text of written([...tickers, "ONEMORE"]))
      expect(() => quotes(text)).toThrow(expect.objectContaining({ id: "too_many_tickers" }));
  });

  test("an empty item is an error wherever it stands, which says where", () => {
    for (const [text, where] of [
      ["tickers=EURUSD,GBPUSD,", "contains an empty item: number 3 of 3."],
      ["tickers=,EURUSD", "contains an empty item: number 1 of 2."],
      ["tickers=EURUSD,%20,GBPUSD", "contains an empty item: number 2 of 3."],
      ["tickers=&tickers=EURUSD", "contains an empty item: number 1 of 2."],
      ["tickers=EURUSD&tickers[]=", "contains an empty item: number 2 of 2."],
      ["tickers[]=", "must not be empty."],
    ]) {
      const fault = { id: "missing_parameter", data: expect.objectContaining({ detail: `\`tickers\` ${where}` }) };
      expect(() => quotes(text as string), text).toThrow(expect.objectContaining(fault));
    }
  });

  test("other names with brackets are ignored, and named", () => {
    expect(quotes("tickers=EURUSD&tickers[a]=X&tickers[][]=X&other[]=X&tickers[12345]=X").ignored).toBe(
      "tickers?a?, tickers????, other??, tickers?12345?",
    );
  });

  test("any other parameter that comes twice is an error, and brackets make no list of it", () => {
    expect(() => klines("ticker=EURUSD&timeframe=H1&ticker=XAUUSD")).toThrow(
      expect.objectContaining({ id: "invalid_parameter" }),
    );
    expect(() => klines("ticker[]=EURUSD&timeframe=H1")).toThrow(expect.objectContaining({ id: "missing_parameter" }));
  });

  test("more parameters than the limit are an error before any of them is read", () => {
    const text = Array.from({ length: QUERY_PARAMETERS_MAX_COUNT + 1 }, () => "tickers=EURUSD").join("&");
    expect(() => quotes(text)).toThrow(expect.objectContaining({ id: "invalid_parameter" }));
  });
});

describe("a time in a query", () => {
  test.each([
    ["2026-01-01T00:00:00Z", 1_767_225_600],
    ["2026-01-01T00:00:00.000Z", 1_767_225_600],
    ["2026-01-01T02:00:00%2B02:00", 1_767_225_600],
    ["2026-01-01T02:00:00+02:00", 1_767_225_600],
    ["2025-12-31T19:00:00-05:00", 1_767_225_600],
    ["2026-01-01T00:00:00.001Z", 1_767_225_601],
    ["1767225600", 1_767_225_600],
  ])("%s is %i", (text, seconds) => {
    expect(rangeOf(`from=${text}`).from).toBe(seconds);
    expect(rangeOf(`to=${text}`).to).toBe(seconds);
  });

  test.each([
    "2026-01-01",
    "2026-01-01T00:00:00",
    "2026-13-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "-1",
    "1.5",
    "now",
    "1767225600000",
  ])("%s is an error", (text) => {
    expect(() => rangeOf(`from=${text}`)).toThrow(expect.objectContaining({ id: "invalid_parameter" }));
  });

  test("every instant means the same in both forms", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (seconds) => {
        expect(rangeOf(`from=${new Date(seconds * 1000).toISOString()}`).from).toBe(rangeOf(`from=${seconds}`).from);
      }),
    );
  });
});
