import { expect, test } from "vitest";
import { columnsOf } from "#lib/domain/columns";
import { testKline } from "#server/testing/market";
import { createJumpTracker } from "./prices";

const START_S = Date.UTC(2024, 2, 4) / 1000;
const rows = (from: number, count: number, price: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...testKline("EURUSD", "M1", START_S + (from + index) * 60, price),
    open: price,
    high: price,
    low: price,
  }));

test("prices that change and stay are a jump, also over the parts of a file", () => {
  const whole = [...rows(0, 100, 1.09), ...rows(100, 30, 1.27)];
  const jump = { time: START_S + 6_000, from: whole[0]?.close, to: whole[100]?.open };
  expect(createJumpTracker("M1").take(columnsOf(whole))).toEqual(jump);
  expect(createJumpTracker("M1").take(columnsOf(whole.toReversed()))).toEqual(jump);
  for (const cut of [40, 100, 105, 119]) {
    const tracker = createJumpTracker("M1");
    const first = tracker.take(columnsOf(whole.slice(0, cut)));
    expect(first ?? tracker.take(columnsOf(whole.slice(cut)))).toEqual(jump);
  }
});

test("a wrong quote, a smaller change, and prices weeks apart are no jump", () => {
  expect(createJumpTracker("M1").take(columnsOf([...rows(0, 50, 1.09), ...rows(50, 19, 1.9), ...rows(69, 50, 1.09)]))).toBeNull();
  expect(createJumpTracker("M1").take(columnsOf([...rows(0, 50, 1.09), ...rows(50, 50, 1.15)]))).toBeNull();
  expect(createJumpTracker("M1").take(columnsOf([...rows(0, 50, 1.09), ...rows(20_000, 50, 1.27)]))).toBeNull();
});

test("a part that goes back in time is not compared, nor is what follows a part with a jump", () => {
  const tracker = createJumpTracker("M1");
  expect(tracker.take(columnsOf(rows(1_000, 50, 1.09)))).toBeNull();
  expect(tracker.take(columnsOf(rows(0, 50, 1.27)))).toBeNull();
  expect(tracker.take(columnsOf(rows(50, 50, 1.09)))).not.toBeNull();
  expect(tracker.take(columnsOf(rows(50, 50, 1.27)))).toBeNull();
});
