import { expect, test } from "vitest";
import { TICK_VOLUME_MAX } from "#lib/contract/limits";
import { LIVE_LISTINGS } from "./catalogue";
import { isCurrency, judgePlausible, plausibleRange } from "./price-ranges";

const judge = (pair: string, low: number, high = low, volume?: number) =>
  judgePlausible(plausibleRange(pair.slice(0, 3), pair.slice(3)), { low, high, volume });

test.each([
  ["EURUSD", 0.8228, 1.6039],
  ["USDJPY", 75.6, 357],
  ["XAUUSD", 35, 4_400],
  ["GBPJPY", 116.8, 500],
  ["USDTRY", 1.2, 43],
  ["USDRON", 2.3, 4.9],
  ["USDILS", 3.03, 5.01],
  ["USDBRL", 0.83, 6.3],
  ["USDCNY", 6.04, 8.7],
  ["USDTHB", 20.8, 56],
  ["USDINR", 7.5, 90],
  ["USDKRW", 370, 1_960],
])("%s can have the prices that it had, %d to %d, but not a hundredth or a hundred times as much", (pair, lowest, highest) => {
  expect(judge(pair, lowest, highest)).toBeNull();
  expect(judge(pair, lowest / 100)).toBe("implausible_price");
  expect(judge(pair, highest * 100)).toBe("implausible_price");
});

test.each([
  ["USDJPY", 1.16],
  ["XAUUSD", 0.58],
  ["EURUSD", 108.5],
  ["EURUSD", 0],
])("%s cannot be at %d", (pair, price) => {
  expect(judge(pair, price)).toBe("implausible_price");
});

test("the range of a pair has both ends, and a kline is judged by its low and its high", () => {
  // EUR 0.6 to 1.8, GBP 0.95 to 2.8 US dollars.
  const range = plausibleRange("EUR", "GBP");
  expect(range).toEqual({ low: 0.6 / 2.8, high: 1.8 / 0.95 });
  const { low = 0, high = 0 } = range ?? {};
  expect(judge("EURGBP", low, high)).toBeNull();
  expect(judge("EURGBP", low * 0.999, high)).toBe("implausible_price");
  expect(judge("EURGBP", low, high * 1.001)).toBe("implausible_price");
});

test("a volume that nothing trades is refused, whatever the price, and a price in an unknown currency is not judged", () => {
  expect(judge("EURUSD", 1.1, 1.1, TICK_VOLUME_MAX)).toBeNull();
  expect(judge("EURUSD", 1.1, 1.1, TICK_VOLUME_MAX * 1.01)).toBe("volume_out_of_range");
  expect(plausibleRange("EUR", "XXX")).toBeNull();
  expect(plausibleRange("XXX", "EUR")).toBeNull();
  expect(judgePlausible(null, { low: 1e9, high: 1e9, volume: undefined })).toBeNull();
});

test("every currency and metal of the catalogue has a range, in which its lowest value is below its highest", () => {
  const codes = new Set(LIVE_LISTINGS.flatMap(({ ticker }) => [ticker.slice(0, 3), ticker.slice(3, 6)]));
  for (const code of codes) {
    expect(isCurrency(code), code).toBe(true);
    const { low = 1, high = 0 } = plausibleRange(code, "USD") ?? {};
    expect(low <= high && (code === "USD" || low < high), code).toBe(true);
  }
  expect(isCurrency("toString")).toBe(false);
});
