import { expect, test } from "vitest";
import { changeText, priceText, rateText, sizeText } from "./numbers";

test.each([
  [0.004, "0.00%", "text-ink-soft"],
  [-0.004, "0.00%", "text-ink-soft"],
  [0.006, "+0.01%", "text-positive"],
  [-1.5, "−1.50%", "text-danger"],
])("a change of %d percent is %s", (percent, text, tone) => {
  expect(changeText(percent)).toEqual({ text, tone });
});

test.each([
  [0, "0 KiB"],
  [10_651, "11 KiB"],
  [1_572_864, "1.5 MiB"],
  [20_971_520, "20 MiB"],
  [1_610_612_736, "1.5 GiB"],
])("%d bytes are %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test("a rate is rounded, and a dash while there is none", () => {
  expect([1_234.6, 0, null, undefined].map(rateText)).toEqual(["1,235", "0", "–", "–"]);
});

test.each([
  [3055.752, 3, "3,055.752"],
  [1.1, 5, "1.10000"],
  [1_234_567.5, 0, "1,234,568"],
  [-0.25, 2, "-0.25"],
])("a price of %d with %i decimals is %s", (price, digits, text) => {
  expect(priceText(price, digits)).toBe(text);
});
