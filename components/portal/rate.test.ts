import { expect, test } from "vitest";
import { createRate } from "./rate";

test("a rate counts the last ten seconds and falls when nothing arrives", () => {
  const rate = createRate();
  for (let at = 0; at < 60_000; at += 250) rate.count(at);
  expect(rate.perSecond(59_900)).toBe(4);
  expect(rate.perSecond(64_900)).toBe(2);
  expect(rate.perSecond(90_000)).toBe(0);
});

test("a rate of less than ten seconds is that of the time since the first event", () => {
  const rate = createRate();
  expect(rate.perSecond(20_000)).toBeNull();
  rate.count(20_000, 5);
  expect(rate.perSecond(20_999)).toBeNull();
  expect(rate.perSecond(22_000)).toBe(2.5);
});
