import { describe, expect, test } from "vitest";
import { DAY_MS } from "#lib/units";
import { CalendarDefinitionSchema } from "./calendar";

const weekly = {
  kind: "weekly",
  zone: "America/New_York",
  week: [{ day: 1, open: "09:30", close: "16:00" }],
  holidays: ["2026-12-25"],
  earlyCloses: { "2026-12-24": "13:00" },
  lateOpens: {},
  coveredUntil: "2026-12-31",
};

/** Where the first complaint is, null when there is none. */
function complaint(definition: unknown): string | null {
  const result = CalendarDefinitionSchema.safeParse(definition);
  return result.success ? null : (result.error.issues[0]?.path.join(".") ?? "");
}

test("a weekly calendar with seconds and a close at 24:00 is valid", () => {
  const week = [{ day: 0, open: "17:05:30", close: "24:00" }];
  expect(complaint({ ...weekly, week })).toBeNull();
});

test("names of dates are optional", () => {
  expect(complaint({ ...weekly, names: { "2026-12-25": "Christmas Day" } })).toBeNull();
});

describe("an edit that cannot be meant is refused where it is wrong", () => {
  const dates = Object.fromEntries(
    Array.from({ length: 2_001 }, (_, day) => [new Date(day * DAY_MS).toISOString().slice(0, 10), "13:00"]),
  );
  test.each([
    ["nothing", null, ""],
    ["an unknown kind", { kind: "sometimes" }, "kind"],
    ["a misspelt key", { ...weekly, holiday: [] }, ""],
    ["a missing key", { ...weekly, lateOpens: undefined }, "lateOpens"],
    ["an unknown zone", { ...weekly, zone: "New York" }, "zone"],
    ["an empty zone", { ...weekly, zone: "" }, "zone"],
    ["an eighth day", { ...weekly, week: [{ day: 7, open: "09:00", close: "10:00" }] }, "week.0.day"],
    ["a time past 24:00", { ...weekly, week: [{ day: 1, open: "09:00", close: "24:30" }] }, "week.0.close"],
    ["a close before its open", { ...weekly, week: [{ day: 1, open: "18:00", close: "02:00" }] }, "week.0.close"],
    ["an empty segment", { ...weekly, week: [{ day: 1, open: "09:00", close: "09:00:00" }] }, "week.0.close"],
    ["a date that does not exist", { ...weekly, holidays: ["2026-02-30"] }, "holidays.0"],
    ["a date that is none", { ...weekly, earlyCloses: { christmas: "13:00" } }, "earlyCloses.christmas"],
    ["a time that is none", { ...weekly, earlyCloses: { "2026-12-24": "1 pm" } }, "earlyCloses.2026-12-24"],
    ["a covered day in a far century", { ...weekly, coveredUntil: "2999-12-31" }, "coveredUntil"],
    ["too many segments", { ...weekly, week: Array(101).fill(weekly.week[0]) }, "week"],
    ["too many holidays", { ...weekly, holidays: Array(2_001).fill("2026-12-25") }, "holidays"],
    ["too many early closes", { ...weekly, earlyCloses: dates }, "earlyCloses"],
    ["a name past 80 characters", { ...weekly, names: { "2026-12-25": "x".repeat(81) } }, "names.2026-12-25"],
    ["a cycle that is never open", { kind: "cycle", anchorS: 0, openS: 0, closedS: 60 }, "openS"],
    ["a cycle of part of a second", { kind: "cycle", anchorS: 0, openS: 0.5, closedS: 60 }, "openS"],
    ["a cycle of milliseconds", { kind: "cycle", anchorS: 1_767_225_600_000, openS: 60, closedS: 60 }, "anchorS"],
  ])("%s", (_, definition, path) => {
    expect(complaint(definition)).toBe(path);
  });
});
