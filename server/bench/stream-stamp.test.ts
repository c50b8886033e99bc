import fc from "fast-check";
import { expect, test } from "vitest";
import { roundTo } from "#lib/domain/price";
import { elapsedMs, priceOf, stampOf } from "./stream-stamp";

test("a price carries its stamp through the rounding of any instrument", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 2, max: 6 }), (stamp, digits) => {
      expect(stampOf(roundTo(priceOf(stamp, digits), digits))).toBe(stamp);
    }),
  );
});

test("time passes from one stamp to the next, over the end of the count too", () => {
  expect(elapsedMs(100, 125)).toBe(2.5);
  expect(elapsedMs(99_990, 10)).toBe(2);
});
