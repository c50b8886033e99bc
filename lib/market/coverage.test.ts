import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_S } from "#lib/units";
import { coverageOf, inBoth, longest, type Minutes } from "./coverage";

const START = Date.UTC(2024, 2, 6, 22) / 1000;
const MINUTES = 200;

/** Ascending, disjoint ranges of minutes around the span, possibly adjacent. */
const ranges = fc.array(fc.integer({ min: 0, max: 25 }), { maxLength: 24 }).map((steps) => {
  const found: Minutes[] = [];
  let at = START - 20 * 60;
  for (const [index, step] of steps.entries()) {
    const to = at + step * 60;
    if (index % 2 === 1 && step > 0) found.push({ from: at, to });
    at = to;
  }
  return found;
});
const sessionsOf = (open: readonly Minutes[]) => open.map(({ from, to }) => ({ openMs: from * 1000, closeMs: to * 1000 }));
const holds = (list: readonly Minutes[], time: number) => list.some(({ from, to }) => time >= from && time < to);

test("every minute is exactly one of stored, closed and gap, and the ranges and days say the same", () => {
  fc.assert(
    fc.property(ranges, ranges, fc.integer({ min: 1, max: MINUTES }), (stored, open, length) => {
      const span = { from: START, to: START + length * 60 };
      const coverage = coverageOf(span, stored, sessionsOf(open));
      const expected = { stored: 0, closed: 0, gap: 0, inClosedHours: 0 };
      const days = { open: [0, 0], stored: [0, 0] };
      for (let time = span.from; time < span.to; time += 60) {
        const [isStored, isOpen] = [holds(stored, time), holds(open, time)];
        expected[isStored ? "stored" : isOpen ? "gap" : "closed"] += 1;
        if (isStored && !isOpen) expected.inClosedHours += 1;
        const day = Math.floor(time / DAY_S) - Math.floor(START / DAY_S);
        if (isOpen) days.open[day] = (days.open[day] ?? 0) + 1;
        if (isOpen && isStored) days.stored[day] = (days.stored[day] ?? 0) + 1;
        expect(holds(coverage.gaps, time) && isOpen).toBe(isOpen && !isStored);
        if (isStored && !isOpen) expect(holds(coverage.closedRanges, time)).toBe(true);
        if (isOpen) expect(holds(coverage.closedRanges, time)).toBe(false);
      }
      expect(coverage).toMatchObject(expected);
      expect(coverage.gaps.reduce((sum, { minutes }) => sum + minutes, 0)).toBe(expected.gap);
      expect(coverage.closedRanges.reduce((sum, { minutes }) => sum + minutes, 0)).toBe(expected.inClosedHours);
      const count = coverage.days.open.length;
      expect(coverage.days).toEqual({ open: days.open.slice(0, count), stored: days.stored.slice(0, count) });
    }),
  );
});

test("a gap reaches over closed hours, and ends at a stored minute in open hours", () => {
  const at = (minute: number) => START + minute * 60;
  const open = [
    { from: at(0), to: at(60) },
    { from: at(100), to: at(160) },
  ];
  const { gaps } = coverageOf(
    { from: at(0), to: at(160) },
    [
      { from: at(10), to: at(50) },
      { from: at(120), to: at(121) },
    ],
    sessionsOf(open),
  );
  expect(gaps.map(({ from, to, minutes }) => ({ from, to, minutes }))).toEqual([
    { from: at(0), to: at(10), minutes: 10 },
    { from: at(50), to: at(120), minutes: 30 },
    { from: at(121), to: at(160), minutes: 39 },
  ]);
});

test("a session that begins or ends within a minute opens that minute", () => {
  const sessions = [{ openMs: START * 1000 + 59_999, closeMs: START * 1000 + 60_001 }];
  expect(coverageOf({ from: START, to: START + 180 }, [], sessions)).toMatchObject({ gap: 2, closed: 1 });
});

test("the longest ranges come first, and of equal ones the earlier", () => {
  expect(
    longest(
      [
        { n: 1, id: "a" },
        { n: 3, id: "b" },
        { n: 3, id: "c" },
      ],
      ({ n }) => n,
      2,
    ).map(({ id }) => id),
  ).toEqual(["b", "c"]);
});

test("each missing minute has the first reason that is known of it, else it is missing", () => {
  fc.assert(
    fc.property(ranges, ranges, ranges, ranges, (stored, open, struck, lost) => {
      const span = { from: START, to: START + MINUTES * 60 };
      const known = [
        { reason: "struck" as const, ranges: struck },
        { reason: "lost" as const, ranges: lost },
      ];
      const { gaps, gap } = coverageOf(span, stored, sessionsOf(open), known);
      const counts = { struck: 0, lost: 0, missing: 0 };
      for (let time = span.from; time < span.to; time += 60) {
        if (holds(stored, time) || !holds(open, time)) continue;
        const reason = holds(struck, time) ? "struck" : holds(lost, time) ? "lost" : "missing";
        counts[reason] += 1;
        expect(
          holds(
            gaps.filter((one) => one.reason === reason),
            time,
          ),
        ).toBe(true);
      }
      for (const reason of ["struck", "lost", "missing"] as const)
        expect(gaps.filter((one) => one.reason === reason).reduce((sum, { minutes }) => sum + minutes, 0)).toBe(counts[reason]);
      expect(gaps.map(({ from }) => from)).toEqual(gaps.map(({ from }) => from).toSorted((a, b) => a - b));
      expect(gaps.reduce((sum, { minutes }) => sum + minutes, 0)).toBe(gap);
    }),
  );
});

test("what is in both of two lists of ranges is in each of them", () => {
  fc.assert(
    fc.property(ranges, ranges, (a, b) => {
      const both = inBoth(a, b);
      for (let time = START - 1_200; time < START + MINUTES * 60; time += 60)
        expect(holds(both, time)).toBe(holds(a, time) && holds(b, time));
    }),
  );
});
