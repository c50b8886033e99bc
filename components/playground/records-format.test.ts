import { expect, test } from "vitest";
import { instantText, priceDigits, priceText } from "./records-format";

const rows = [
  { ticker: "EURUSD", time: 1_767_225_600, open: 1.0193, close: 1.01884, tick_volume: 1_033 },
  { ticker: "XAUUSD", bid: 2_650, mid: 2_650.125 },
];

test("prices keep the trailing zeros of their instrument, by its digits or by the most precise price in the answer", () => {
  const digits = priceDigits(rows, new Map([["XAUUSD", 2]]));
  expect([...digits]).toEqual([
    ["EURUSD", 5],
    ["XAUUSD", 2],
  ]);
  expect(priceText("open", 1.0193, 5)).toBe("1.01930");
  expect(priceText("mid", 2_650.1, 2)).toBe("2650.100");
  expect(priceText("bid", 1.123456, 5)).toBe("1.123456");
});

test("volumes, percentages, nulls and unknown instruments stay as they are", () => {
  for (const [name, value] of [
    ["tick_volume", 5],
    ["change_pct", 0.04],
    ["open", null],
  ] as const)
    expect(priceText(name, value, 5)).toBeUndefined();
  expect(priceText("open", 1.2, undefined)).toBeUndefined();
});

test("times are shown in UTC, to the precision of their field", () => {
  expect(instantText("time", 1_767_225_600)).toBe("2026-01-01 00:00:00");
  expect(instantText("time_msc", 1_767_225_600_123)).toBe("2026-01-01 00:00:00.123");
  expect(instantText("time", 1e300)).toBeUndefined();
  expect(instantText("open", 1)).toBeUndefined();
});
