import { expect, test } from "vitest";
import { at } from "#server/testing/import-rows";
import { misalignedReason } from "./alignment";
import { createIntervals } from "./interval";

const open = (timeframe: Parameters<typeof createIntervals>[0], instant: string, market: "forex" | "metals" = "forex") => {
  const openS = createIntervals(timeframe, market).openOf(at(instant));
  return openS === null ? null : new Date(openS * 1000).toISOString().slice(0, 16);
};

test.each([
  ["a minute", "M1", "2024-03-06T10:07:00Z", "2024-03-06T10:07"],
  ["seconds past it", "M1", "2024-03-06T10:07:01Z", null],
  ["an hour", "H1", "2024-03-06T10:00:00Z", "2024-03-06T10:00"],
  ["half past an hour", "H1", "2024-03-06T10:30:00Z", null],
  ["four hours from 17:00 in New York, in winter", "H4", "2024-03-06T22:00:00Z", "2024-03-06T22:00"],
  ["four hours from 17:00 in New York, in summer", "H4", "2024-06-05T21:00:00Z", "2024-06-05T21:00"],
  ["four hours of UTC", "H4", "2024-06-05T20:00:00Z", null],
  ["midnight of an EET server in winter", "D1", "2024-01-09T22:00:00Z", "2024-01-09T22:00"],
  ["midnight of an EET server while only New York has summer time", "D1", "2024-03-12T22:00:00Z", null],
  ["a day of UTC", "D1", "2024-01-10T00:00:00Z", null],
  ["a week from Sunday 00:00 of an EET server", "W1", "2024-01-13T22:00:00Z", "2024-01-14T22:00"],
  ["a week from Sunday 00:00 UTC", "W1", "2024-06-09T00:00:00Z", "2024-06-09T21:00"],
  ["a week from Monday 00:00 UTC", "W1", "2024-06-10T00:00:00Z", null],
  ["a month of an EET server that begins on a weekday", "MN1", "2024-04-30T21:00:00Z", "2024-04-30T21:00"],
  ["a month of UTC", "MN1", "2024-06-01T00:00:00Z", null],
] as const)("%s is a kline of ours only if it has the same trading hours", (_, timeframe, instant, expected) => {
  expect(open(timeframe, instant)).toBe(expected);
});

test("a day of a metal that opens an hour later, after the daily break, is ours", () => {
  expect(open("D1", "2024-03-12T22:00:00Z", "metals")).toBe("2024-03-12T21:00");
  expect(open("H4", "2024-03-13T02:00:00Z", "metals")).toBe(null);
});

test("a refusal says when the klines of the file open, when ours do, and what to import", () => {
  const days = Array.from({ length: 20 }, (_, day) => at("2024-01-08T00:00:00Z") + day * 86_400_000);
  expect(misalignedReason(createIntervals("D1", "forex"), days)).toBe(
    "its D1 klines open at other times than those of Spotwire, for example at 2024-01-08T00:00Z instead of 2024-01-07T22:00Z: " +
      "the trading day of Spotwire opens at 17:00 in New York, its klines open at 00:00 UTC. Import M1 or H1 of this source instead",
  );
  const hours = Array.from({ length: 20 }, (_, index) => at("2024-01-08T00:00:00Z") + index * 14_400_000);
  expect(misalignedReason(createIntervals("H4", "forex"), hours)).toContain("open at 00:00 UTC and every four hours from there");
  expect(misalignedReason(createIntervals("H1", "forex"), [at("2024-01-08T00:30:00Z")])).toContain("set it with --tz");
});
