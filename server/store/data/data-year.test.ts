import { expect, test } from "vitest";
import { DATA_CLOSURES_PER_YEAR_COUNT, DATA_GAPS_PER_YEAR_COUNT } from "#lib/contract/portal-data";
import { compileCalendar } from "#lib/domain/calendar";
import { DAY_MS, DAY_S, HOUR_MS, HOUR_S, SECOND_MS } from "#lib/units";
import { coverYear } from "./data-year";

const START_MS = Date.UTC(2024, 0);
const span = { from: START_MS / SECOND_MS, to: Date.UTC(2025, 0) / SECOND_MS };
const iso = (ms: number) => new Date(ms).toISOString();

/** Always open, but for an hour on each of so many days. */
function closedDaily(days: number) {
  const overrides = Array.from({ length: days }, (_, day) => {
    const fromMs = START_MS + day * DAY_MS + HOUR_MS;
    return { state: "closed" as const, fromMs, untilMs: fromMs + HOUR_MS };
  });
  return compileCalendar({ kind: "always" }, overrides);
}

test("the first closures of a year are listed, each with its reason, and no more than there is room for", () => {
  const { coverage } = coverYear(2024, span, [span], closedDaily(3), []);
  expect(coverage.closures).toEqual(
    [0, 1, 2].map((day) => {
      const fromMs = START_MS + day * DAY_MS + HOUR_MS;
      return { from: iso(fromMs), to: iso(fromMs + HOUR_MS), reason: "operator_override" };
    }),
  );
  expect(coverYear(2024, span, [span], closedDaily(200), []).coverage.closures).toHaveLength(DATA_CLOSURES_PER_YEAR_COUNT);
});

test("the closures of a calendar that flips by the minute are not told, and one that opens too often says nothing", () => {
  const cycle = (seconds: number) => compileCalendar({ kind: "cycle", anchorS: 0, openS: seconds, closedS: seconds }, []);
  expect(coverYear(2024, span, [], cycle(HOUR_S), []).coverage).toMatchObject({ closures: [], gap_count: 1 });
  expect(coverYear(2024, span, [], cycle(60), []).coverage).toMatchObject({ minutes: null, gaps: [], closures: [] });
});

test("the longest gaps are listed, and all are counted", () => {
  const days = 120;
  const stored = Array.from({ length: days }, (_, day) => ({
    from: span.from + day * DAY_S,
    to: span.from + (day + 1) * DAY_S - 60 * (day + 1),
  }));
  const part = { from: span.from, to: span.from + days * DAY_S };
  const { coverage } = coverYear(2024, part, stored, compileCalendar({ kind: "always" }, []), []);
  expect(coverage.gap_count).toBe(days);
  expect(coverage.gaps).toHaveLength(DATA_GAPS_PER_YEAR_COUNT);
  expect(coverage.gaps[0]).toMatchObject({ open_minutes: days, reason: "missing" });
});

test("without a calendar no more is known than how many minutes are stored", () => {
  const { coverage, closedRanges } = coverYear(2024, span, [{ from: span.from, to: span.from + HOUR_S }], undefined, []);
  expect(coverage).toMatchObject({ rows: 60, minutes: null, days: { open: [], stored: [] }, gap_count: 0, gaps: [] });
  expect(closedRanges).toEqual([]);
});
