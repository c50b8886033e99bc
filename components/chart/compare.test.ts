import { expect, test } from "vitest";
import { closesAt, comparisonOf } from "./compare";

const bars = (...closes: readonly (readonly [time: number, close: number])[]) =>
  closes.map(([time, close]) => ({ time, close, open: close, high: close, low: close, tick_volume: 1 }));

test("a second instrument has at each kline the close that was known then, and none before its own first", () => {
  const first = bars([60, 1], [120, 1], [180, 1], [240, 1]);
  expect(closesAt(first, bars([90, 5], [180, 7]))).toEqual([
    { time: 120, close: 5 },
    { time: 180, close: 7 },
    { time: 240, close: 7 },
  ]);
  expect(closesAt(first, [])).toEqual([]);
});

test("both change in percent from the same kline", () => {
  const first = bars([60, 2], [120, 2.5], [180, 3]);
  const second = closesAt(first, bars([60, 100], [180, 90]));
  expect(comparisonOf(first, second, 60, 180)).toEqual({ since: 60, first: 50, second: expect.closeTo(-10) });
  expect(comparisonOf(first, second, 120, 180)).toEqual({ since: 120, first: expect.closeTo(20), second: expect.closeTo(-10) });
});

test("without a price at the start nothing is compared", () => {
  const first = bars([60, 2], [120, 3]);
  expect(comparisonOf(first, closesAt(first, bars([120, 1])), 60, 120)).toBeUndefined();
  expect(comparisonOf(bars([60, 0], [120, 3]), bars([60, 1], [120, 1]), 60, 120)).toBeUndefined();
});
