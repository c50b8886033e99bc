import { expect, test } from "vitest";
import { emptyRow } from "#server/import/rows/row";
import { spreadUnitOf, volumeOf } from "./decide";
import { createValues } from "./values";

/** What rows of these spreads or volumes at a price show. */
function valuesOf(field: "spread" | "volume", numbers: readonly number[], close = 1.1) {
  const values = createValues();
  for (const number of numbers) values.row({ ...emptyRow(), close, [field]: number });
  return values.values();
}

test.each([
  ["whole numbers", [12, 8, 0, 15], 1.1, "points"],
  ["zeros", [0, 0, 0], 1.1, "points"],
  ["price units behind zeros", [...Array(500).fill(0), 0.00012, 0.0001], 1.1, "price"],
  ["price units of yen", [0.003, 0.012, 0.04], 150, "price"],
  ["price units of silver", [0.03, 0.025], 15, "price"],
  ["price units of gold", [0.15, 0.42, 0.9], 2_000, "price"],
  ["price units of a forint", [0.15, 0.12], 350, "price"],
  ["price units, one of which is that of a weekend", [0.0001, 0.0002, 0.3], 1.1, "price"],
] as const)("spreads that are %s are in %s", (_, numbers, close, unit) => {
  expect(spreadUnitOf(valuesOf("spread", numbers, close), null, 0.0001).is).toBe(unit);
});

test.each([
  ["pips", [0.6, 0.7, 1], 1.35, 0.0001, "0.6, may be pips (0.00006)"],
  ["pips of yen", [0.6, 0.8, 1.1], 150, 0.01, "0.6, may be pips (0.006)"],
  ["average points", [6, 6.5, 7], 1.35, 0.0001, "6, may be pips"],
  ["pips of gold", [2.5, 3.1], 2_000, 0.1, "2.5, may be pips (0.25)"],
] as const)("spreads in %s need --spread", (_, numbers, close, pip, words) => {
  const values = valuesOf("spread", numbers, close);
  expect(() => spreadUnitOf(values, null, pip)).toThrow(words);
  expect(() => spreadUnitOf(values, null, pip)).toThrow("set --spread pips, --spread points or --spread price");
  expect(spreadUnitOf(values, "pips", pip).is).toBe("pips");
});

test.each([
  ["whole numbers", [42, 7], "M1", "tickVolume"],
  ["whole numbers of days", [97_000, 264_000], "D1", "tickVolume"],
  ["whole numbers of weeks", [5_000_000], "W1", "tickVolume"],
  ["more than a minute has", [264_000], "M1", "realVolume"],
  ["millions of hours", [293_760_000], "H1", "realVolume"],
  ["zeros, then fractions", [...Array(900).fill(0), 120.55], "M1", "realVolume"],
  ["zeros", [0, 0], "M1", "tickVolume"],
] as const)("volumes that are %s count, of %s, as %s", (_, numbers, timeframe, role) => {
  expect(volumeOf(valuesOf("volume", numbers), null, timeframe).is).toBe(role);
  expect(volumeOf(valuesOf("volume", numbers), "realVolume", timeframe).is).toBe("realVolume");
});
