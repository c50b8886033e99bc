import { expect, test } from "vitest";
import { roundSteps } from "./round-steps";

test.each([
  ["gold", 3_051.37, 3_058.18, 3, [3_052, 3_054, 3_056, 3_058]],
  ["a pair", 1.13893, 1.13921, 5, [1.13895, 1.139, 1.13905, 1.1391, 1.13915, 1.1392]],
  ["yen", 143.2, 146.1, 3, [143.5, 144, 144.5, 145, 145.5, 146]],
])("the axis of %s has round steps", (_, low, high, digits, steps) => {
  expect(roundSteps(low, high, 6, digits)).toEqual(steps);
});

test("a step is no finer than the prices, and their number is bounded", () => {
  expect(roundSteps(1.000005, 1.000035, 6, 5)).toEqual([1.00001, 1.00002, 1.00003]);
  for (const range of [1e-5, 0.003, 0.7, 12, 999, 1_000, 54_321])
    expect(roundSteps(1, 1 + range, 6, 5).length).toBeLessThanOrEqual(7);
});
