import { expect, test } from "vitest";
import { DAY_S } from "#lib/units";
import { type CalendarOverride, compileCalendar } from "./calendar";
import { createAlignment } from "./timeframe";
import { previousTradingDay } from "./trading-day";

const UTC_DAYS = createAlignment({ zone: "UTC", dayStart: "00:00" });
const day = (date: string) => Date.parse(`${date}T00:00Z`) / 1000;

/** Open on the given dates. */
function openOn(...dates: string[]) {
  const overrides = dates.map((date): CalendarOverride => {
    return { state: "open", fromMs: day(date) * 1000, untilMs: (day(date) + DAY_S) * 1000 };
  });
  return compileCalendar({ kind: "never" }, overrides);
}

test("the trading day before is the last one with a session, at most 31 days back", () => {
  const calendar = openOn("2026-05-01", "2026-05-28");
  const before = (date: string) => previousTradingDay(day(date), calendar, UTC_DAYS);
  expect(before("2026-05-29")).toBe(day("2026-05-28"));
  expect(before("2026-05-28")).toBe(day("2026-05-01"));
  expect(before("2026-06-28")).toBe(day("2026-05-28"));
  expect(before("2026-06-29")).toBeNull();
});

test("without a known calendar only the day next to it is the one before: a known closure in between leaves none", () => {
  const closed: CalendarOverride = { state: "closed", fromMs: day("2026-05-28") * 1000, untilMs: day("2026-05-29") * 1000 };
  const unknown = compileCalendar(undefined, [closed]);
  expect(previousTradingDay(day("2026-05-28"), unknown, UTC_DAYS)).toBe(day("2026-05-27"));
  expect(previousTradingDay(day("2026-05-29"), unknown, UTC_DAYS)).toBeNull();
  expect(previousTradingDay(day("2026-05-29"), undefined, UTC_DAYS)).toBe(day("2026-05-28"));
});
