import { expect, test } from "vitest";
import { isWholeYear, missingText } from "./covered";

test.each([
  ["2024-01-01T00:00", "2025-01-01T00:00", true],
  ["2024-03-06T00:00", "2024-03-06T10:00", false],
  ["2024-01-01T00:00", "2024-12-31T23:59", false],
  ["2024-01-01T00:01", "2025-01-01T00:00", false],
])("klines from %s to %s are those of the whole year: %s", (from, to, isWhole) => {
  expect(isWholeYear({ year: 2024, from: `${from}Z`, to: `${to}Z` })).toBe(isWhole);
});

test("what is missing is a share of the open minutes of the stretch", () => {
  const of = (gap: number) => missingText({ rows: 600, minutes: { closed: 0, gap, in_closed_hours: 0 } });
  expect([of(0), of(600)]).toEqual(["complete", "50.0% missing"]);
  expect(missingText({ rows: 600, minutes: null })).toBe("hours unknown");
});
