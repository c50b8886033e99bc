import { expect, test } from "vitest";
import { changeText } from "./numbers";

test.each([
  [0.004, "0.00 %", "text-ink-soft"],
  [-0.004, "0.00 %", "text-ink-soft"],
  [0.006, "+0.01 %", "text-positive"],
  [-1.5, "−1.50 %", "text-danger"],
])("a change of %d percent is %s", (percent, text, tone) => {
  expect(changeText(percent)).toEqual({ text, tone });
});
