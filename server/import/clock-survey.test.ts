import { describe, expect, test } from "vitest";
import { evidenceOf } from "./clock-survey";
import type { Recognition } from "./format";
import { emptyRow, type Row, type RowKind } from "./row";

/** How many runs of rows a file of this one row has. */
function runsOf(row: Partial<Row>, kind: RowKind = "klines"): number {
  const { row: take, evidence } = evidenceOf({ recognition: { kind } as Recognition, timeframe: "M1" });
  take({ ...emptyRow(), timeMs: 0, bid: 1, ask: 1, open: 1, high: 1, low: 1, close: 1, ...row });
  return evidence().runs.length;
}

describe("the clock of a file", () => {
  test.each([
    ["ticks", { tickVolume: 0 }],
    ["real volume", { realVolume: 0 }],
    ["either", { tickVolume: 0, realVolume: 0 }],
  ])("is not judged by klines that fill closed hours: flat, and without %s", (_, volumes) => {
    expect(runsOf(volumes)).toBe(0);
  });

  test.each([
    ["a price that moved", { high: 1.1, tickVolume: 0 }],
    ["ticks", { tickVolume: 3, realVolume: 0 }],
    ["real volume", { tickVolume: 0, realVolume: 3 }],
    ["no column of volumes", {}],
  ])("is judged by klines with %s", (_, row) => {
    expect(runsOf(row)).toBe(1);
  });

  test("is judged by every tick", () => {
    expect(runsOf({ tickVolume: 0 }, "ticks")).toBe(1);
  });
});
