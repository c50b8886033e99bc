import { expect, test } from "vitest";
import { rounded, spreadOf, spreadText } from "./spread";

test("a spread has the median and the middle half, whatever the order", () => {
  expect(spreadOf([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
  expect(spreadOf([1, 2])).toEqual({ median: 1.5, low: 1.25, high: 1.75 });
  expect(spreadText(spreadOf([7]))).toBe("7 (7 to 7)");
});

test("a round that was not measured is an error, not a number", () => {
  expect(() => spreadOf([])).toThrow("a round was not measured");
  expect(() => spreadOf([1, Number.NaN])).toThrow("a round was not measured");
});

test("numbers have three significant digits", () => {
  expect([12_345, 0.8671, 99.96, 3].map(rounded)).toEqual(["12,300", "0.867", "100", "3"]);
});
