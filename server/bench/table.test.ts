import { expect, test } from "vitest";
import { verdictOf } from "./table";

test.each([
  [{ value: 3, target: 3, against: "it" }, "≥ 3 reached"],
  [{ value: 2.9, target: 3, against: "it" }, "≥ 3 missed"],
  [{ value: 2, target: 2, against: "it", bound: "at most" as const }, "≤ 2 reached"],
  [{ value: 2.1, target: 2, against: "it", bound: "at most" as const }, "≤ 2 missed"],
  [{ value: Number.NaN, target: 2, against: "it", bound: "at most" as const }, "≤ 2 missed"],
])("a ratio is compared with its bound: %o", (ratio, verdict) => {
  expect(verdictOf(ratio)).toBe(verdict);
});
