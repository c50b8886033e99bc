import { expect, test } from "vitest";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "./catalogue";
import { nameOf } from "./instrument-name";

test.each([
  ["EURUSD", "Euro / US Dollar"],
  ["XAUUSD", "Gold / US Dollar"],
  ["XPTUSD", "Platinum / US Dollar"],
  ["USDCNH", "US Dollar / Chinese Yuan (offshore)"],
  ["TESTCLOSED", "Test: always closed"],
])("%s is named %s", (ticker, name) => {
  const listing = SANDBOX_LISTINGS.find((one) => one.ticker === ticker);
  expect(listing && nameOf(listing)).toBe(name);
});

test("every instrument of the catalogue has a name of words, and no two share one", () => {
  const names = SANDBOX_LISTINGS.map(nameOf);
  expect(new Set(names).size).toBe(names.length);
  for (const name of LIVE_LISTINGS.map(nameOf)) expect(name).not.toMatch(/\b[A-Z]{3}\b/);
});

test("an operator's own code without a name stays a code", () => {
  expect(nameOf({ ticker: "BTCUSD", base: "BTC", quote: "USD" })).toBe("BTC / US Dollar");
  expect(nameOf({ ticker: "US30USD", base: "US30", quote: "USD" })).toBe("US30 / US Dollar");
});
