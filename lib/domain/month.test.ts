import fc from "fast-check";
import { expect, test } from "vitest";
import { firstDay, monthAfter, monthEndMs, monthOf, monthStartMs } from "./month";

const instants = fc.integer({ min: 0, max: Date.UTC(2999, 11, 31) });

test("every instant is in its month alone: from its start, before its end", () => {
  fc.assert(
    fc.property(instants, (ms) => {
      const month = monthOf(ms);
      expect(monthStartMs(month)).toBeLessThanOrEqual(ms);
      expect(monthEndMs(month)).toBeGreaterThan(ms);
      expect(monthOf(monthEndMs(month) - 1)).toBe(month);
    }),
  );
});

test("months follow each other without a gap, in the order of their texts, and back again", () => {
  fc.assert(
    fc.property(instants, fc.integer({ min: 1, max: 200 }), (ms, count) => {
      const month = monthOf(ms);
      const later = monthAfter(month, count);
      expect(monthStartMs(monthAfter(month))).toBe(monthEndMs(month));
      expect(later > month).toBe(true);
      expect(monthAfter(later, -count)).toBe(month);
    }),
  );
});

test("a month is written as PostgreSQL reads a date, also across a year and in February", () => {
  expect([firstDay("2026-11"), monthAfter("2026-12"), monthAfter("2024-03", -1)]).toEqual(["2026-11-01", "2027-01", "2024-02"]);
  expect(monthEndMs("2024-02") - monthStartMs("2024-02")).toBe(29 * 86_400_000);
});
