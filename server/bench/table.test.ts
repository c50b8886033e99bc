import { expect, test } from "vitest";
import { tableText, verdictOf } from "./table";

test.each([
  [{ value: 3, target: 3, against: "it" }, "≥ 3 met"],
  [{ value: 2.9, target: 3, against: "it" }, "≥ 3 missed"],
  [{ value: 2, target: 2, against: "it", bound: "at most" as const }, "≤ 2 met"],
  [{ value: 2.1, target: 2, against: "it", bound: "at most" as const }, "≤ 2 missed"],
  [{ value: Number.NaN, target: 2, against: "it", bound: "at most" as const }, "≤ 2 missed"],
])("a ratio is compared with its bound: %o", (ratio, verdict) => {
  expect(verdictOf(ratio)).toBe(verdict);
});

test("the table is aligned, and a row without a ratio has empty cells", () => {
  expect(tableText([{ what: "a", value: "12 ms" }])).toBe(
    "| case | measured | anchor | ratio | reach |\n| ---- | -------- | ------ | ----- | ----- |\n| a    | 12 ms    |        |       |       |\n",
  );
});
