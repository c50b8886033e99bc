import { expect, test } from "vitest";
import { DAY_S, HOUR_S } from "#lib/units";
import { daysOf, openText } from "./fortnight";

const MONDAY = Date.parse("2026-11-23T00:00:00Z") / 1_000;

test("a day is shown with its breaks, a weekend over three days, and the days after it open", () => {
  const [friday, sunday] = [MONDAY + 4 * DAY_S, MONDAY + 6 * DAY_S];
  const days = daysOf(
    [
      { from: MONDAY + 22 * HOUR_S, to: MONDAY + 23 * HOUR_S, reason: "daily_break" },
      { from: friday + 22 * HOUR_S, to: sunday + 23 * HOUR_S, reason: "weekend" },
    ],
    MONDAY,
  );
  expect(days).toHaveLength(14);
  expect(days.map(openText).slice(0, 8)).toEqual([
    "00:00–22:00, 23:00–24:00",
    "00:00–24:00",
    "00:00–24:00",
    "00:00–24:00",
    "00:00–22:00",
    "Closed",
    "23:00–24:00",
    "00:00–24:00",
  ]);
  expect(days.map(({ reasons }) => reasons.join()).slice(0, 7)).toEqual([
    "Daily break",
    "",
    "",
    "",
    "Weekend",
    "Weekend",
    "Weekend",
  ]);
});

test("a day with a holiday and its break names both once", () => {
  const [day] = daysOf(
    [
      { from: MONDAY, to: MONDAY + HOUR_S, reason: "holiday" },
      { from: MONDAY + 2 * HOUR_S, to: MONDAY + 3 * HOUR_S, reason: "holiday" },
      { from: MONDAY + 22 * HOUR_S, to: MONDAY + 23 * HOUR_S, reason: "early_close" },
    ],
    MONDAY,
  );
  expect(day?.reasons).toEqual(["Holiday", "Early close"]);
});
