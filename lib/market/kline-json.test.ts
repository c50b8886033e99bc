import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Kline, toPublic } from "#lib/domain/kline";
import { klinesJson } from "./kline-json";

const expected = (klines: readonly Kline[]) => JSON.stringify(klines.map(toPublic));

function kline(values: readonly number[], real_volume: number | null = null, spread: number | null = 0.00006): Kline {
  const [time = 0, open = 0, high = 0, low = 0, close = 0, tick_volume = 0] = values;
  return { type: "kline", ticker: "XAUUSD", timeframe: "M1", time, open, high, low, close, tick_volume, real_volume, spread };
}

/** A decimal number as prices are: a whole number of digits divided by a power of ten. */
const decimal = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 46 }), fc.integer({ min: 0, max: 9 }))
  .map(([whole, digits]) => whole / 10 ** digits);
const number = fc.oneof(decimal, fc.double({ noNaN: true }), fc.integer(), fc.maxSafeInteger());

describe("the JSON of klines", () => {
  test("the JSON of klines is that of their public records, whatever their numbers are", () => {
    const values = fc.array(number, { minLength: 6, maxLength: 6 });
    const row = fc.tuple(values, fc.option(number), fc.option(number)).map((given) => kline(...given));
    fc.assert(
      fc.property(fc.array(row), (klines) => {
        expect(klinesJson(klines).toString()).toBe(expected(klines));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["every hundred-thousandth", Array.from({ length: 20_000 }, (_, index) => (index * 61) / 100_000)],
    ["every millionth", Array.from({ length: 20_000 }, (_, index) => (index * 7_919) / 1_000_000)],
    ["prices of metals", Array.from({ length: 20_000 }, (_, index) => (index * 31) / 100)],
    ["the longest and the smallest", [-Number.MAX_VALUE, -1.7976931348623157e308, Number.MIN_VALUE, -5e-324, 1e21, 1e-7]],
    ["sums that are no short decimals", [0.1 + 0.2, 1.1 + 0.0003, 1 - Number.EPSILON, 1 + Number.EPSILON, 4.35 * 100]],
    ["the edges of 32 bits", [2 ** 31 - 1, 2 ** 31, 2 ** 31 - 0.5, 2 ** 32, 2 ** 53, -1, -0.5, 0, -0]],
    ["the edges of 15 digits", [999_999_999.999999, 999_999_999.9999999, 1_000_000_000.5, 2_147_483_646.999999]],
  ])("each number is printed as JSON.stringify does: %s", (_what, numbers) => {
    const klines = numbers.map((value) => kline([1_704_067_200, value, value, value, value, 60], value, value));
    expect(klinesJson(klines).toString()).toBe(expected(klines));
  });

  test("no klines are an empty list, an unknown spread is 0, and a ticker is escaped", () => {
    expect(klinesJson([]).toString()).toBe("[]");
    const klines = [{ ...kline([1, 2, 3]), ticker: 'É"\\', spread: null }];
    expect(klinesJson(klines).toString()).toBe(expected(klines));
  });
});
