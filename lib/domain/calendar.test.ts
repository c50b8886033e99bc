import { describe, expect, expectTypeOf, test } from "vitest";
import type { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { type CalendarDefinition, type CalendarOverride, compileCalendar, type WeeklyCalendar } from "./calendar";

const at = (text: string) => Date.parse(`${text}Z`);

/** A market of Mondays and Wednesdays in UTC, with a break, to hang exceptions on. 2026-06-01 is a Monday. */
const plain: WeeklyCalendar = {
  kind: "weekly",
  zone: "UTC",
  week: [
    { day: 1, open: "08:00", close: "12:00" },
    { day: 1, open: "13:00", close: "20:00" },
    { day: 3, open: "08:00", close: "24:00" },
    { day: 4, open: "00:00", close: "04:00" },
  ],
  holidays: [],
  earlyCloses: {},
  lateOpens: {},
  coveredUntil: "2026-12-31",
};

function compile(changes: Partial<WeeklyCalendar> = {}, overrides: readonly CalendarOverride[] = []) {
  return compileCalendar({ ...plain, ...changes }, overrides);
}

function hours(changes: Partial<WeeklyCalendar>, date: string): string[] {
  const start = at(`${date}T00:00:00`);
  const sessions = compile(changes).sessionsBetween(start, start + DAY_MS) ?? [];
  return sessions.map(({ openMs, closeMs }) => `${(openMs - start) / HOUR_MS}-${(closeMs - start) / HOUR_MS}`);
}

test("the stored form of a calendar equals the domain's", () => {
  expectTypeOf<CalendarDefinitionSchema>().toEqualTypeOf<CalendarDefinition>();
});

describe("weekly sessions", () => {
  test("a market is open at the instant of the open and closed at the instant of the close", () => {
    const calendar = compile();
    expect(calendar.sessionAt(at("2026-06-01T07:59:59.999")).state).toBe("closed");
    expect(calendar.sessionAt(at("2026-06-01T08:00:00"))).toEqual({
      state: "open",
      reason: null,
      source: "session_rules",
      openedAt: at("2026-06-01T08:00:00"),
      closedAt: null,
      nextOpen: at("2026-06-01T13:00:00"),
      nextClose: at("2026-06-01T12:00:00"),
    });
    expect(calendar.sessionAt(at("2026-06-01T12:00:00"))).toEqual({
      state: "closed",
      reason: "daily_break",
      source: "session_rules",
      openedAt: null,
      closedAt: at("2026-06-01T12:00:00"),
      nextOpen: at("2026-06-01T13:00:00"),
      nextClose: at("2026-06-01T20:00:00"),
    });
  });

  test("segments that touch at midnight are one session", () => {
    const night = compile().sessionAt(at("2026-06-04T01:00:00"));
    expect([night.openedAt, night.nextClose]).toEqual([at("2026-06-03T08:00:00"), at("2026-06-04T04:00:00")]);
  });

  test("a session over New Year is one session", () => {
    const week = [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day: day as 0, open: "00:00", close: "24:00" }));
    const whole = compile({ week, lateOpens: { "2026-01-03": "10:00" }, earlyCloses: { "2025-12-30": "06:00" } });
    const { openedAt, nextClose } = whole.sessionAt(at("2025-12-31T23:00:00"));
    expect([openedAt, nextClose]).toEqual([at("2025-12-31T00:00:00"), at("2026-01-03T00:00:00")]);
  });

  test("a week without a closed minute is always open, with no close before the horizon", () => {
    const week = [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day: day as 0, open: "00:00", close: "24:00" }));
    const { state, openedAt, nextOpen, nextClose } = compile({ week }).sessionAt(at("2026-06-01T00:00:00"));
    expect([state, openedAt, nextOpen, nextClose]).toEqual(["open", null, null, null]);
  });

  test("an empty week never opens", () => {
    const { state, closedAt, nextOpen, nextClose } = compile({ week: [] }).sessionAt(at("2026-06-01T00:00:00"));
    expect([state, closedAt, nextOpen, nextClose]).toEqual(["closed", null, null, null]);
  });
});

describe("dated exceptions", () => {
  test.each([
    ["none", {}, ["8-12", "13-20"]],
    ["a holiday takes the day", { holidays: ["2026-06-01"] }, []],
    ["an early close cuts the segment it lies in", { earlyCloses: { "2026-06-01": "15:00" } }, ["8-12", "13-15"]],
    ["an early close between two segments drops the later", { earlyCloses: { "2026-06-01": "12:30" } }, ["8-12"]],
    ["a late open cuts the segment it lies in", { lateOpens: { "2026-06-01": "09:00" } }, ["9-12", "13-20"]],
    ["a late open between two segments drops the earlier", { lateOpens: { "2026-06-01": "12:30" } }, ["13-20"]],
    [
      "an early close before a late open leaves a hole between them",
      { earlyCloses: { "2026-06-01": "10:00" }, lateOpens: { "2026-06-01": "18:00" } },
      ["8-10", "18-20"],
    ],
    [
      "a late open before an early close leaves what lies between",
      { earlyCloses: { "2026-06-01": "18:00" }, lateOpens: { "2026-06-01": "10:00" } },
      ["10-12", "13-18"],
    ],
    ["an early close at midnight takes the day", { earlyCloses: { "2026-06-01": "00:00" } }, []],
    ["a late open at the end of the day takes the day", { lateOpens: { "2026-06-01": "24:00" } }, []],
    [
      "an early close and a late open at the same time leave nothing out",
      { earlyCloses: { "2026-06-01": "10:00" }, lateOpens: { "2026-06-01": "10:00" } },
      ["8-12", "13-20"],
    ],
    ["a holiday beats an early close", { holidays: ["2026-06-01"], earlyCloses: { "2026-06-01": "10:00" } }, []],
    ["an exception on a closed day opens nothing", { lateOpens: { "2026-06-01": "22:00" } }, []],
  ])("dated exceptions: %s", (_, changes, expected) => {
    expect(hours(changes, "2026-06-01")).toEqual(expected);
  });

  test.each([
    ["2026-06-01T09:00:00", { holidays: ["2026-06-01"] }, "holiday", "holiday_calendar"],
    ["2026-06-01T19:00:00", { earlyCloses: { "2026-06-01": "18:00" } }, "early_close", "holiday_calendar"],
    ["2026-06-01T08:30:00", { lateOpens: { "2026-06-01": "09:00" } }, "late_open", "holiday_calendar"],
    ["2026-06-01T12:30:00", { lateOpens: { "2026-06-01": "09:00" } }, "daily_break", "session_rules"],
    ["2026-06-03T09:00:00", { lateOpens: { "2026-06-03": "21:00" } }, "holiday", "holiday_calendar"],
    ["2026-06-03T09:00:00", { lateOpens: { "2026-06-03": "20:00" } }, "holiday", "holiday_calendar"],
    ["2026-06-03T09:00:00", { lateOpens: { "2026-06-03": "19:59" } }, "late_open", "holiday_calendar"],
    ["2026-06-04T02:00:00", { earlyCloses: { "2026-06-04": "00:00" } }, "early_close", "holiday_calendar"],
    ["2026-06-04T02:00:00", { holidays: ["2026-06-04"] }, "holiday", "holiday_calendar"],
    ["2026-06-01T12:30:00", { earlyCloses: { "2026-06-01": "12:00" } }, "holiday", "holiday_calendar"],
    ["2026-06-02T12:00:00", { holidays: ["2026-06-03"] }, "weekend", "session_rules"],
    ["2026-06-01T20:00:00", { holidays: ["2026-06-01"] }, "weekend", "session_rules"],
  ])("a market is closed at %s with %j for the reason %s", (instant, changes, reason, source) => {
    const answer = compile(changes).sessionAt(at(instant));
    expect([answer.state, answer.reason, answer.source]).toEqual(["closed", reason, source]);
  });
});

test("an early close in the hour that a clock change skips opens nothing after the change", () => {
  const calendar = compile({
    zone: "America/New_York",
    week: [{ day: 0, open: "03:00", close: "20:00" }],
    earlyCloses: { "2026-03-08": "02:30" },
  });
  expect(calendar.sessionsBetween(at("2026-03-08T00:00:00"), at("2026-03-09T00:00:00"))).toEqual([]);
});

test("a pause over New Year lasts until the first open of the new year", () => {
  const { closedAt, nextOpen, nextClose } = compile({ holidays: ["2026-01-01"] }).sessionAt(at("2026-01-01T01:00:00"));
  const days = ["2026-01-01T00:00:00", "2026-01-05T08:00:00", "2026-01-05T12:00:00"];
  expect([closedAt, nextOpen, nextClose]).toEqual(days.map(at));
  const before = compile({ week: plain.week.slice(0, 2) }).sessionAt(at("2025-12-31T12:00:00"));
  expect([before.closedAt, before.nextOpen]).toEqual([at("2025-12-29T20:00:00"), at("2026-01-05T08:00:00")]);
});

test("a calendar compiled again from its rules gives the same answers", () => {
  const overrides = [{ state: "closed", fromMs: at("2026-06-01T09:00:00"), untilMs: at("2026-06-01T10:00:00") }] as const;
  const calendar = compile({ holidays: ["2026-06-03"] }, overrides);
  const { definition, overrides: same } = structuredClone(calendar.rules);
  const span = [at("2026-05-25T00:00:00"), at("2026-07-01T00:00:00")] as const;
  expect(calendar.sessionsBetween(...span)).not.toEqual(compile().sessionsBetween(...span));
  expect(compileCalendar(definition, same).sessionsBetween(...span)).toEqual(calendar.sessionsBetween(...span));
});

describe("the covered day", () => {
  const covered = { coveredUntil: "2026-06-03" };

  test("nothing is known from the end of the covered day on", () => {
    const answer = compile(covered).sessionAt(at("2026-06-04T00:00:00"));
    expect(answer).toEqual({
      state: "unknown",
      reason: "calendar_horizon",
      source: "unavailable",
      openedAt: null,
      closedAt: null,
      nextOpen: null,
      nextClose: null,
    });
    expect(compile(covered).sessionAt(at("2026-06-03T23:59:59.999")).state).toBe("open");
  });

  test("an open or close past the covered day is null", () => {
    const { state, nextOpen, nextClose } = compile(covered).sessionAt(at("2026-06-03T10:00:00"));
    expect([state, nextOpen, nextClose]).toEqual(["open", null, null]);
    const before = compile(covered).sessionAt(at("2026-06-02T00:00:00"));
    expect([before.nextOpen, before.nextClose]).toEqual([at("2026-06-03T08:00:00"), null]);
  });

  test("a window that ends at the covered day is known, one that reaches past it is not", () => {
    const calendar = compile(covered);
    expect(calendar.sessionsBetween(at("2026-06-03T00:00:00"), at("2026-06-04T00:00:00"))).toHaveLength(1);
    expect(calendar.sessionsBetween(at("2026-06-03T00:00:00"), at("2026-06-04T00:00:01"))).toBeNull();
  });

  test("the covered day ends with the local day, not with the UTC day", () => {
    const calendar = compile({ ...covered, zone: "America/New_York" });
    expect(calendar.sessionAt(at("2026-06-04T03:59:59")).state).toBe("open");
    expect(calendar.sessionAt(at("2026-06-04T04:00:00")).state).toBe("unknown");
  });
});

test("a calendar without a definition is unknown at any time", () => {
  const calendar = compileCalendar(undefined, []);
  expect(calendar.sessionAt(0)).toMatchObject({ state: "unknown", reason: "calendar_missing", source: "unavailable" });
  expect(calendar.sessionsBetween(0, 1)).toBeNull();
});
