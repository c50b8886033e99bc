import { describe, expect, test } from "vitest";
import type { Timeframe } from "#lib/contract/primitives";
import { HOUR_S, MINUTE_S } from "#lib/units";
import { breaksOf, type Hours, slotsOf } from "./breaks";

const FRIDAY_22 = Date.parse("2026-11-20T22:00:00Z") / 1_000;
const SUNDAY_22 = FRIDAY_22 + 48 * HOUR_S;
const hours: Hours = {
  from: FRIDAY_22 - 120 * HOUR_S,
  to: SUNDAY_22 + 120 * HOUR_S,
  open: [
    [FRIDAY_22 - 120 * HOUR_S, FRIDAY_22],
    [SUNDAY_22, SUNDAY_22 + 120 * HOUR_S],
  ],
};
const bars = (...times: number[]) => times.map((time) => ({ time, open: 1, high: 1, low: 1, close: 1, tick_volume: 1 }));
const found = (timeframe: Timeframe, times: number[], known: Hours | null = hours) =>
  breaksOf(bars(...times), timeframe, known, times.at(-1) ?? 0);

describe("breaks", () => {
  test("a weekend between two klines is closed", () => {
    expect(found("H1", [FRIDAY_22 - HOUR_S, SUNDAY_22])).toEqual([{ kind: "closed", from: FRIDAY_22, to: SUNDAY_22 }]);
  });

  test("klines that are missing while the market was open are no closed hours", () => {
    expect(found("M1", [SUNDAY_22, SUNDAY_22 + 5 * MINUTE_S])).toEqual([
      { kind: "missing", from: SUNDAY_22 + MINUTE_S, to: SUNDAY_22 + 5 * MINUTE_S },
    ]);
  });

  test("a weekend with a late first quote is both", () => {
    expect(found("M1", [FRIDAY_22 - MINUTE_S, SUNDAY_22 + 3 * MINUTE_S])).toEqual([
      { kind: "closed", from: FRIDAY_22, to: SUNDAY_22 },
      { kind: "missing", from: SUNDAY_22, to: SUNDAY_22 + 3 * MINUTE_S },
    ]);
  });

  test("without hours, or outside of them, nothing is claimed", () => {
    const times = [FRIDAY_22 - HOUR_S, SUNDAY_22];
    expect(found("H1", times, null)).toEqual([{ kind: "unknown", from: FRIDAY_22, to: SUNDAY_22 }]);
    expect(found("H1", times, { ...hours, from: FRIDAY_22 + 1 })).toMatchObject([{ kind: "unknown" }]);
  });

  test("adjoining klines, one shifted by daylight saving time, and those of whole days have none", () => {
    expect(found("M1", [SUNDAY_22, SUNDAY_22 + MINUTE_S])).toEqual([]);
    expect(found("H4", [SUNDAY_22, SUNDAY_22 + 5 * HOUR_S])).toEqual([]);
    expect(found("D1", [FRIDAY_22 - 24 * HOUR_S, SUNDAY_22])).toEqual([]);
  });

  test("a market that closed after the newest kline is closed up to now", () => {
    expect(breaksOf(bars(FRIDAY_22 - HOUR_S), "H1", hours, FRIDAY_22 + 10 * HOUR_S)).toEqual([
      { kind: "closed", from: FRIDAY_22, to: FRIDAY_22 + 10 * HOUR_S },
    ]);
  });

  test("a long absence is one break, not one for each weekend in it", () => {
    const open = Array.from({ length: 50 }, (_, week) => [week * 168 * HOUR_S, (week * 168 + 120) * HOUR_S] as const);
    const known = { from: 0, to: 10_000 * HOUR_S, open };
    expect(found("H1", [0, 5_000 * HOUR_S], known)).toEqual([{ kind: "missing", from: HOUR_S, to: 5_000 * HOUR_S }]);
  });

  test("a break takes bounded room, in ascending times of its own", () => {
    const closed = slotsOf({ kind: "closed", from: FRIDAY_22, to: SUNDAY_22 }, "M1");
    expect(closed).toHaveLength(4);
    const missing = slotsOf({ kind: "missing", from: 0, to: 90 * MINUTE_S }, "M1");
    expect(missing).toHaveLength(12);
    for (const slots of [closed, missing]) expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b));
    expect(slotsOf({ kind: "missing", from: 60, to: 120 }, "M1")).toEqual([60]);
  });
});
