import { expect, test } from "vitest";
import { missingText, stretchText } from "./covered";

const of = (from: string, to: string, gap = 0) => {
  return { year: 2024, from: `${from}Z`, to: `${to}Z`, rows: 600, minutes: { closed: 0, gap, in_closed_hours: 0 } };
};

test.each([
  ["2024-01-01T00:00", "2025-01-01T00:00", undefined, "complete"],
  ["2024-03-06T00:00", "2024-03-06T10:00", "06 Mar, 00:00 – 10:00", "complete within"],
  ["2024-03-06T20:00", "2024-03-07T06:00", "06 Mar, 20:00 – 07 Mar, 06:00", "complete within"],
  ["2024-03-06T20:00", "2025-01-01T00:00", "06 Mar – 31 Dec", "complete within"],
])("a year with klines from %s to %s says so", (from, to, stretch, missing) => {
  expect(stretchText(of(from, to))).toBe(stretch);
  expect(missingText(of(from, to))).toBe(missing);
});

test("what is missing is a share of the open minutes of the stretch", () => {
  expect(missingText(of("2024-03-06T00:00", "2024-03-06T20:00", 600))).toBe("50.0% missing");
  expect(missingText({ ...of("2024-03-06T00:00", "2024-03-06T10:00"), minutes: null })).toBe("hours unknown");
});
