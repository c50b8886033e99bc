import { expect, test } from "vitest";
import { pathsOf, scaleOf } from "./chart";

test.each([
  [0, "count", [0, 1]],
  [0, "ms", [0, 1]],
  [1, "count", [0, 1]],
  [3, "count", [0, 1, 2, 3]],
  [97, "count", [0, 50, 100]],
  [4_000, "count", [0, 1_000, 2_000, 3_000, 4_000]],
  [6_100_000, "count", [0, 2_000_000, 4_000_000, 6_000_000, 8_000_000]],
  [0.9, "ms", [0, 0.5, 1]],
  [250, "ms", [0, 100, 200, 300]],
] as const)("a chart up to %d (%s) has its lines at round values", (max, unit, lines) => {
  expect(scaleOf(max, unit)).toEqual(lines);
});

test("a line is broken where a value is missing, and a value between two that are missing is a dot", () => {
  expect(pathsOf([1, 2, null, 4], 4)).toEqual({ line: "M12.5 75L37.5 50", dots: "M87.5 0h0" });
});
