import { expect, test } from "vitest";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { toInstrument } from "#lib/domain/instrument";
import { nearest } from "./near";

const instruments = SANDBOX_LISTINGS.map(toInstrument);
const near = (ticker: string) => nearest(ticker, instruments).map((one) => one.ticker);

test.each([
  ["the pair the other way round", "USDEUR", "EURUSD"],
  ["two letters swapped", "EURUDS", "EURUSD"],
  ["a broker's suffix", "EURUSDX", "EURUSD"],
])("%s leads to the pair", (_, asked, first) => {
  expect(near(asked)[0]).toBe(first);
});

test("a coin in dollars is near metals and pairs in dollars", () => {
  expect(near("BTCUSD")).toEqual(expect.arrayContaining(["XAUUSD", "XAGUSD", "EURUSD"]));
});

test("what has nothing in common leads to metals and majors in dollars; never to test tickers, and to no more than six", () => {
  for (const asked of ["AAPL", "NOPE", "A1B2C3D4"]) expect(near(asked)).toEqual(expect.arrayContaining(["XAUUSD", "EURUSD"]));
  for (const asked of ["BTCUSD", "AAPL", "EURXYZ", "TESTNOPE", "AAA"]) {
    expect(near(asked).length).toBeGreaterThan(0);
    expect(near(asked).length).toBeLessThanOrEqual(6);
    expect(near(asked).filter((ticker) => ticker.startsWith("TEST"))).toEqual([]);
  }
});
