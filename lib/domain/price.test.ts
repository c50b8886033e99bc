import fc from "fast-check";
import { expect, test } from "vitest";
import { addVolumes, leastSpread, roundTo } from "./price";

test("a rounded price never prints more than its digits", () => {
  fc.assert(
    fc.property(fc.double({ min: -100_000, max: 100_000, noNaN: true }), fc.integer({ min: 0, max: 8 }), (value, digits) => {
      const printed = String(roundTo(value, digits));
      expect(Number(printed)).toBe(Number(Number(printed).toFixed(digits)));
      if (!printed.includes("e")) expect(printed.split(".")[1]?.length ?? 0).toBeLessThanOrEqual(digits);
    }),
  );
});

test("a rounded price is within half a point of the price", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100_000, noNaN: true }), fc.integer({ min: 0, max: 8 }), (value, digits) => {
      expect(Math.abs(roundTo(value, digits) - value)).toBeLessThanOrEqual(0.5000001 / 10 ** digits);
    }),
  );
});

test("a price that already has its digits stays the same double", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), fc.integer({ min: 0, max: 8 }), (points, digits) => {
      const price = Number(`${points}e-${digits}`);
      expect(roundTo(price, digits)).toBe(price);
    }),
  );
});

test.each([
  [1.0854300000000001, 5, "1.08543"],
  [1.1338300000000001, 5, "1.13383"],
  [1.08551 - 1.08543, 6, "0.00008"],
  [0.1 + 0.2, 6, "0.3"],
  [-0.000001, 5, "0"],
  [1e-11, 11, "1e-11"],
  [123456.5, 30, "123456.5"],
])("%d to %i digits prints as %s", (value, digits, printed) => {
  expect(String(roundTo(value, digits))).toBe(printed);
  expect(Object.is(roundTo(value, digits), -0)).toBe(false);
});

test("volumes add up without rounding noise, in any grouping", () => {
  const volume = fc.integer({ min: 0, max: 10_000_000 }).map((hundredths) => hundredths / 100);
  fc.assert(
    fc.property(fc.array(volume, { minLength: 2, maxLength: 50 }), fc.nat(), (volumes, at) => {
      const sum = (parts: number[]) => parts.reduce<number | null>(addVolumes, null);
      const cut = at % volumes.length;
      expect(addVolumes(sum(volumes.slice(0, cut)), sum(volumes.slice(cut)))).toBe(sum(volumes));
      expect(String(sum(volumes)).split(".")[1]?.length ?? 0).toBeLessThanOrEqual(2);
    }),
  );
});

test("an unknown volume adds nothing, and two unknown ones stay unknown", () => {
  expect(addVolumes(null, null)).toBeNull();
  expect(addVolumes(null, 2.5)).toBe(2.5);
  expect(addVolumes(2.5, null)).toBe(2.5);
  expect(addVolumes(26_232_873_000, 189_085_240_000)).toBe(215_318_113_000);
});

test("an unknown spread is never the least, and two unknown ones stay unknown", () => {
  expect(leastSpread(null, null)).toBeNull();
  expect(leastSpread(null, 0.2)).toBe(0.2);
  expect(leastSpread(0.2, null)).toBe(0.2);
  expect(leastSpread(0.1, 0.2)).toBe(0.1);
  expect(leastSpread(0.2, 0.1)).toBe(0.1);
});
