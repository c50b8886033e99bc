import fc from "fast-check";
import { expect, test } from "vitest";
import { createMedianWindow } from "./median";

test("a window has the median of its newest values", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { maxLength: 60 }),
      (capacity, values) => {
        const window = createMedianWindow(capacity);
        expect(window.median()).toBeNaN();
        for (const [at, value] of values.entries()) {
          window.add(value);
          const newest = values.slice(Math.max(0, at + 1 - capacity), at + 1).sort((one, other) => one - other);
          expect(window.size()).toBe(newest.length);
          expect(window.median()).toBe(newest[(newest.length - 1) >> 1]);
        }
        window.clear();
        expect(window.median()).toBeNaN();
        window.add(3);
        expect(window.median()).toBe(3);
      },
    ),
  );
});
