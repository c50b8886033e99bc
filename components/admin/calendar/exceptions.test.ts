import { expect, test } from "vitest";
import type { CalendarException } from "#lib/contract/calendar";
import { changesOf } from "../../portal/diff";
import {
  exceptionsOf,
  firstChangedDate,
  mergeExceptions,
  putException,
  readableOf,
  type WeeklyDefinition,
  withExceptions,
} from "./exceptions";

const EVE: CalendarException = { date: "2026-12-24", kind: "early_close", time: "13:00", name: "Christmas Eve" };
const DAY: CalendarException = { date: "2026-12-25", kind: "closed", time: "", name: "Christmas Day" };
const LABOR_EARLY: CalendarException = { date: "2026-09-07", kind: "early_close", time: "13:00", name: "Labor Day" };
const LABOR_LATE: CalendarException = { ...LABOR_EARLY, kind: "late_open", time: "18:00" };

const weekly: WeeklyDefinition = {
  kind: "weekly",
  zone: "America/New_York",
  week: [{ day: 1, open: "09:30", close: "16:00" }],
  holidays: ["2026-12-25"],
  earlyCloses: { "2026-12-24": "13:00", "2026-09-07": "13:00" },
  lateOpens: { "2026-09-07": "18:00" },
  names: { "2026-12-25": "Christmas Day", "2026-12-24": "Christmas Eve", "2026-09-07": "Labor Day" },
  coveredUntil: "2026-12-31",
};

test("the rows of a calendar are sorted by date, and make the same calendar again", () => {
  const rows = exceptionsOf(weekly);
  expect(rows).toEqual([LABOR_EARLY, LABOR_LATE, EVE, DAY]);
  expect(withExceptions(weekly, rows.toReversed())).toEqual(weekly);
});

test("the first changed date is the first from today on whose hours differ", () => {
  const moved = withExceptions(weekly, [LABOR_EARLY, EVE, { ...DAY, date: "2027-01-01" }]);
  expect(firstChangedDate(weekly, moved, "2026-09-01")).toBe("2026-09-07");
  expect(firstChangedDate(weekly, moved, "2026-10-01")).toBe("2026-12-25");
  expect(firstChangedDate(weekly, { ...weekly, week: [] }, "2026-09-01")).toBeUndefined();
  expect(firstChangedDate(weekly, { kind: "always" }, "2026-09-01")).toBeUndefined();
});

test("a calendar without names has none after an edit either", () => {
  const nameless = { ...weekly, names: undefined };
  expect(withExceptions(nameless, exceptionsOf(nameless)).names).toBeUndefined();
});

test("a closed day replaces the other rows of its date, and the other way round", () => {
  const closed: CalendarException = { date: "2026-09-07", kind: "closed", time: "", name: "" };
  expect(putException([LABOR_EARLY, LABOR_LATE, EVE], closed)).toEqual([closed, EVE]);
  expect(putException([closed, EVE], LABOR_LATE)).toEqual([LABOR_LATE, EVE]);
});

test("an edited row replaces itself on its old date, and its name is that of the other row of the date", () => {
  expect(putException([EVE, DAY], { ...EVE, date: "2027-12-24" }, EVE)).toEqual([DAY, { ...EVE, date: "2027-12-24" }]);
  const renamed = { ...LABOR_LATE, name: "Labor" };
  expect(putException([LABOR_EARLY, LABOR_LATE], renamed, LABOR_LATE)).toEqual([{ ...LABOR_EARLY, name: "Labor" }, renamed]);
});

test("an import replaces all rows of its dates and no others", () => {
  const late: CalendarException = { ...EVE, kind: "late_open", time: "10:00" };
  expect(mergeExceptions([LABOR_EARLY, LABOR_LATE, EVE], [DAY, late])).toEqual([LABOR_EARLY, LABOR_LATE, late, DAY]);
});

test("the diff of two definitions names days and dates", () => {
  const rows = mergeExceptions(exceptionsOf(weekly), [{ ...LABOR_EARLY, time: "14:30" }]);
  const after = withExceptions(
    { ...weekly, week: [{ day: 1, open: "09:30", close: "15:00" }], coveredUntil: "2027-12-31" },
    rows,
  );
  expect(changesOf(readableOf(weekly), readableOf(after))).toEqual([
    { path: "Monday", before: "09:30–16:00", after: undefined },
    { path: "2026-09-07", before: "closes 13:00, opens 18:00 (Labor Day)", after: "closes 14:30 (Labor Day)" },
    { path: "covered until", before: "2026-12-31", after: "2027-12-31" },
    { path: "Monday", before: undefined, after: "09:30–15:00" },
  ]);
});
