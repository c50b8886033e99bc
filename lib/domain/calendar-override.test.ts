import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOUR_MS } from "#lib/units";
import { type CalendarDefinition, type CalendarOverride, compileCalendar } from "./calendar";

const MONDAY = Date.parse("2026-06-01T00:00:00Z");
const hour = (hours: number) => MONDAY + hours * HOUR_MS;

/** Open on Mondays from 08:00 to 20:00 UTC. */
const mondays: CalendarDefinition = {
  kind: "weekly",
  zone: "UTC",
  week: [{ day: 1, open: "08:00", close: "20:00" }],
  holidays: ["2026-06-08"],
  earlyCloses: {},
  lateOpens: {},
  coveredUntil: "2026-06-30",
};

function closed(from: number, until: number | null): CalendarOverride {
  return { state: "closed", fromMs: hour(from), untilMs: until === null ? null : hour(until) };
}
function open(from: number, until: number | null): CalendarOverride {
  return { ...closed(from, until), state: "open" };
}
function answer(overrides: CalendarOverride[], atMs: number, definition: CalendarDefinition | undefined = mondays) {
  const { state, reason, source, nextOpen, nextClose } = compileCalendar(definition, overrides).sessionAt(atMs);
  return { state, reason, source, nextOpen, nextClose };
}

describe("an override in force", () => {
  test("an override in force closes an open market until it ends", () => {
    expect(answer([closed(10, 12)], hour(10))).toEqual({
      state: "closed",
      reason: "operator_override",
      source: "operator_override",
      nextOpen: hour(12),
      nextClose: hour(20),
    });
    expect(answer([closed(10, 12)], hour(12)).state).toBe("open");
  });

  test("an override in force opens a closed market, on holidays too", () => {
    expect(answer([open(24 * 7, 24 * 7 + 9)], hour(24 * 7))).toMatchObject({
      state: "open",
      reason: null,
      source: "operator_override",
      nextClose: hour(24 * 7 + 9),
    });
  });

  test("a closing override without an end has no next open", () => {
    expect(answer([closed(10, null)], hour(11))).toMatchObject({ state: "closed", nextOpen: null, nextClose: null });
  });

  test("an opening override continues into the session it touches", () => {
    const calendar = compileCalendar(mondays, [open(6, 8)]);
    expect(calendar.sessionAt(hour(7))).toMatchObject({ openedAt: hour(6), nextClose: hour(20), nextOpen: hour(14 * 24 + 8) });
    expect(calendar.sessionAt(hour(9))).toMatchObject({ openedAt: hour(6), source: "session_rules" });
    expect(calendar.sessionsBetween(hour(0), hour(24))).toEqual([{ openMs: hour(6), closeMs: hour(20) }]);
  });

  test("an override that agrees with the rules changes only the source", () => {
    expect(answer([open(10, 12)], hour(11))).toMatchObject({ source: "operator_override", nextClose: hour(20) });
    expect(answer([closed(0, 4)], hour(1))).toMatchObject({ source: "operator_override", nextOpen: hour(8) });
  });
});

test("a future override is the next close or open", () => {
  expect(answer([closed(15, 16)], hour(9))).toMatchObject({ state: "open", nextClose: hour(15), nextOpen: hour(16) });
  expect(answer([open(2, 3)], hour(1))).toMatchObject({ state: "closed", nextOpen: hour(2), nextClose: hour(3) });
});

test("of overlapping overrides the one that started last applies, then the last listed", () => {
  const both = [closed(8, null), open(10, 12)];
  expect(answer(both, hour(11)).state).toBe("open");
  expect(answer([...both].reverse(), hour(11)).state).toBe("open");
  expect(answer(both, hour(12))).toMatchObject({ state: "closed", nextOpen: null });
  expect(answer([closed(8, 20), open(8, 20)], hour(11)).state).toBe("open");
  expect(answer([open(8, 20), closed(8, 20)], hour(11)).state).toBe("closed");
});

test("an override that ends before it starts has no effect", () => {
  expect(answer([closed(12, 12), closed(14, 10)], hour(12))).toMatchObject({ state: "open", nextClose: hour(20) });
});

const anyOverrides = fc.array(
  fc
    .tuple(fc.boolean(), fc.integer({ min: 0, max: 40 }), fc.option(fc.integer({ min: -2, max: 30 }), { freq: 8 }))
    .map(([opens, from, length]) => (opens ? open : closed)(from, length === null ? null : from + length)),
  { maxLength: 6 },
);
const anyBase = fc.constantFrom<CalendarDefinition | undefined>(mondays, { kind: "always" }, { kind: "never" }, undefined);
/** No override begins or ends outside these hours of the tests below, nor does a session. */
const HOURS = Array.from({ length: 80 }, (_, index) => index - 5);

test("any overrides decide, hour by hour, what those that cover the hour say, and the rules decide the rest", () => {
  fc.assert(
    fc.property(anyBase, anyOverrides, (definition, overrides) => {
      const calendar = compileCalendar(definition, overrides);
      const rules = compileCalendar(definition, []);
      const said = HOURS.map((at) => {
        const covering = overrides.filter(
          ({ fromMs, untilMs }) => fromMs <= hour(at) && hour(at) < (untilMs ?? Number.POSITIVE_INFINITY),
        );
        const last = Math.max(...covering.map(({ fromMs }) => fromMs));
        return covering.findLast(({ fromMs }) => fromMs === last)?.state;
      });
      const states = HOURS.map((at, index) => said[index] ?? rules.sessionAt(hour(at)).state);
      for (const [index, at] of HOURS.entries()) {
        const answer = calendar.sessionAt(hour(at));
        const state = states[index];
        expect(answer.state).toBe(state);
        expect(answer.source === "operator_override").toBe(said[index] !== undefined);
        // The first hour of the same state in a row; before the first hour of all, the rules are at work.
        const first = states.findLastIndex((other, before) => before < index && other !== state) + 1;
        if (first > 0)
          expect(state === "open" ? answer.openedAt : answer.closedAt).toBe(
            state === "unknown" ? null : hour(at - index + first),
          );
        const next = states.findIndex((other, after) => after > index && other !== state);
        if (next === -1) continue;
        const known = state !== "unknown" && states[next] !== "unknown";
        expect(state === "open" ? answer.nextClose : answer.nextOpen).toBe(known ? hour(at - index + next) : null);
      }
    }),
    { numRuns: 200 },
  );
});

test("without a definition, an override applies to its own range only", () => {
  const calendar = compileCalendar(undefined, [open(10, 12)]);
  expect(calendar.sessionAt(hour(11))).toMatchObject({ state: "open", nextClose: null, openedAt: hour(10) });
  for (const outside of [9, 12])
    expect(calendar.sessionAt(hour(outside))).toMatchObject({ state: "unknown", reason: "calendar_missing", nextOpen: null });
  expect(calendar.sessionsBetween(hour(10), hour(12))).toEqual([{ openMs: hour(10), closeMs: hour(12) }]);
  expect(calendar.sessionsBetween(hour(10), hour(13))).toBeNull();
});

describe("calendars without a weekly schedule", () => {
  test("an always calendar is open at any time and never closes", () => {
    const { state, openedAt, nextOpen, nextClose } = compileCalendar({ kind: "always" }, []).sessionAt(0);
    expect([state, openedAt, nextOpen, nextClose]).toEqual(["open", null, null, null]);
    expect(answer([closed(1, 2)], hour(0), { kind: "always" })).toMatchObject({ nextClose: hour(1), nextOpen: hour(2) });
  });

  test("a never calendar is closed at any time and never opens", () => {
    const never = answer([], hour(0), { kind: "never" });
    expect(never).toEqual({ state: "closed", reason: "weekend", source: "session_rules", nextOpen: null, nextClose: null });
  });

  test("a cycle without a closed part opens once", () => {
    const once: CalendarDefinition = { kind: "cycle", anchorS: hour(0) / 1_000, openS: 60, closedS: 0 };
    expect(answer([], hour(0) - 1, once)).toMatchObject({ state: "closed", nextOpen: hour(0), nextClose: null });
    expect(answer([], hour(90_000), once)).toMatchObject({ state: "open", nextOpen: null, nextClose: null });
    expect(compileCalendar(once, []).sessionAt(hour(90_000)).openedAt).toBe(hour(0));
  });

  test("the closed part of a cycle is a daily break if it is shorter than a day, otherwise a weekend", () => {
    const reasons = (closedS: number) => {
      const calendar = compileCalendar({ kind: "cycle", anchorS: 0, openS: 60, closedS }, []);
      return [0, 59, 60].map((atS) => calendar.sessionAt(atS * 1_000).reason);
    };
    expect(reasons(86_399)).toEqual([null, null, "daily_break"]);
    expect(reasons(86_400)).toEqual([null, null, "weekend"]);
  });

  test("a window of more sessions than can be listed is unknown", () => {
    const flip = compileCalendar({ kind: "cycle", anchorS: 0, openS: 120, closedS: 120 }, []);
    expect(flip.sessionsBetween(0, 100_000 * 240_000)).toHaveLength(100_000);
    expect(flip.sessionsBetween(0, 100_000 * 240_000 + 1)).toBeNull();
  });
});
