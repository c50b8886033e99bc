import { expect, test } from "vitest";
import { createRate } from "./rate";

test("a rate counts the last ten seconds and falls when nothing arrives", () => {
  const rate = createRate();
  for (let at = 0; at < 60_000; at += 250) rate.count(at);
  expect(rate.perSecond(59_900)).toBe(4);
  expect(rate.perSecond(64_900)).toBe(2);
  expect(rate.perSecond(90_000)).toBe(0);
});
