import fc from "fast-check";
import { expect, test } from "vitest";
import { roundTo } from "#lib/domain/price";
import { elapsedMs, priceOf, stampOf } from "./stamp";

test("a price keeps its stamp through the rounding of any instrument", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 2, max: 6 }), (stamp, digits) => {
      expect(stampOf(roundTo(priceOf(stamp, digits), digits))).toBe(stamp);
    }),
  );
});

test("the time between two stamps is correct, even when the count restarts", () => {
  expect(elapsedMs(100, 125)).toBe(2.5);
  expect(elapsedMs(99_990, 10)).toBe(2);
});
