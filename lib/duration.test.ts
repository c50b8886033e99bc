import { expect, test } from "vitest";
import { countdownText, durationText } from "./duration";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./units";

test.each([
  [-5, "0 ms"],
  [0.4, "0 ms"],
  [320, "320 ms"],
  [1_000, "1 s"],
  [1_290, "1.2 s"],
  [45_900, "45 s"],
  [90_000, "1 min 30 s"],
  [2 * MINUTE_MS, "2 min"],
  [3 * HOUR_MS + 20 * MINUTE_MS + 59_000, "3 h 20 min"],
  [2 * DAY_MS + 59 * MINUTE_MS, "2 d"],
  [5 * DAY_MS + 7 * HOUR_MS, "5 d 7 h"],
])("a duration of %d ms reads %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [-1, "00:00:00"],
  [3_999, "00:00:03"],
  [3 * HOUR_MS + 12 * MINUTE_MS + 9_000, "03:12:09"],
  [6 * DAY_MS + 3 * HOUR_MS, "6 d 03:00:00"],
])("a countdown of %d ms reads %s", (ms, text) => {
  expect(countdownText(ms)).toBe(text);
});
