import fc from "fast-check";
import { TickMarkType } from "lightweight-charts";
import { describe, expect, test } from "vitest";
import { chartClock, tickClock } from "./clock";
import { markText } from "./time-axis";

const at = (iso: string) => Date.parse(iso) / 1_000;

describe("klines of days, weeks and months have the date of their trading day", () => {
  test.each([
    ["the day that opens on Sunday evening is Monday's, in winter", "D1", "2026-11-22T22:00:00Z", "23 Nov 2026"],
    ["and in summer", "D1", "2026-07-05T21:00:00Z", "06 Jul 2026"],
    ["the week that opens on Sunday evening has Monday's date", "W1", "2026-11-22T22:00:00Z", "23 Nov 2026"],
    ["the month that opens on the last evening of October is November", "MN1", "2026-10-31T21:00:00Z", "Nov 2026"],
    ["the year's first trading day opens in the year before", "D1", "2025-12-31T22:00:00Z", "01 Jan 2026"],
  ] as const)("%s", (_, timeframe, open, text) => {
    for (const zone of ["UTC", "America/New_York", "Asia/Kolkata"]) expect(chartClock(timeframe, zone).text(at(open))).toBe(text);
  });
});

test("klines within a day have their open time in the zone of the page", () => {
  const open = at("2026-11-28T19:30:00Z");
  expect(chartClock("M30", "UTC").text(open)).toBe("28 Nov 2026 19:30");
  expect(chartClock("M30", "Asia/Kolkata").text(open)).toBe("29 Nov 2026 01:00");
  expect(chartClock("M30", "America/New_York").text(open)).toBe("28 Nov 2026 14:30");
});

test("ticks have their own millisecond, in the zone of the page", () => {
  const utc = tickClock("UTC");
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2100, 0) }), (ms) => {
      expect(utc.text(ms / 1_000).slice(-12)).toBe(new Date(ms).toISOString().slice(11, 23));
    }),
    // As seconds, this one is a little less than its millisecond.
    { examples: [[2_194_032_341_246]] },
  );
  expect(tickClock("Asia/Kolkata").text(at("2026-11-28T19:30:00.123Z"))).toBe("29 Nov 2026 01:00:00.123");
});

test("marks on the axis follow the same clock", () => {
  const day = chartClock("D1", "UTC");
  const open = at("2025-12-31T22:00:00Z");
  expect(markText(TickMarkType.Year, open, day)).toBe("2026");
  expect(markText(TickMarkType.Month, open, day)).toBe("Jan");
  expect(markText(TickMarkType.DayOfMonth, open, day)).toBe("1");
  expect(markText(TickMarkType.Time, at("2026-11-28T18:30:00Z"), chartClock("M30", "Asia/Kolkata"))).toBe("00:00");
});
