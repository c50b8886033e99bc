import { afterEach, describe, expect, test, vi } from "vitest";
import type { Closure } from "#lib/contract/markets";
import { DAY_S, HOUR_S, SECOND_MS } from "#lib/units";
import { timeText } from "../portal/date-format";
import { daysOf } from "./fortnight";

afterEach(() => {
  vi.unstubAllEnvs();
});

const MONDAY = Date.parse("2026-11-23T00:00:00Z") / SECOND_MS;
const NOON_MS = (MONDAY + 12 * HOUR_S) * SECOND_MS;
const SUNDAY = MONDAY + 6 * DAY_S;
/** A break from 22:00 to 23:00 UTC every day, and a weekend. */
const WEEK: readonly Closure[] = [
  ...[-1, 0, 1, 2, 3].map((day) => ({
    from: MONDAY + day * DAY_S + 22 * HOUR_S,
    to: MONDAY + day * DAY_S + 23 * HOUR_S,
    reason: "daily_break" as const,
  })),
  { from: MONDAY + 4 * DAY_S + 22 * HOUR_S, to: SUNDAY + 23 * HOUR_S, reason: "weekend" },
];

/** The first days in a zone: their dates, and when they are open. */
const wordsIn = (zone: string) =>
  daysOf(WEEK, NOON_MS, zone)
    .slice(0, 8)
    .map(({ from, to: endOfDay, open }) => {
      const clock = (at: number) => (at === endOfDay ? "24:00" : timeText(at * SECOND_MS, "time", zone));
      const times = open.map((span) => `${clock(span.from)}–${clock(span.to)}`);
      const date = `${timeText(from * SECOND_MS, "weekday", zone)} ${timeText(from * SECOND_MS, "dayOfYear", zone)}`;
      return `${date}: ${times.join(", ") || "closed"}`;
    });

describe("the days of a market", () => {
  test("are those of UTC, with breaks and a weekend over three of them", () => {
    expect(daysOf(WEEK, NOON_MS, "UTC")).toHaveLength(14);
    expect(wordsIn("UTC")).toEqual([
      "Mon 23 Nov: 00:00–22:00, 23:00–24:00",
      "Tue 24 Nov: 00:00–22:00, 23:00–24:00",
      "Wed 25 Nov: 00:00–22:00, 23:00–24:00",
      "Thu 26 Nov: 00:00–22:00, 23:00–24:00",
      "Fri 27 Nov: 00:00–22:00",
      "Sat 28 Nov: closed",
      "Sun 29 Nov: 23:00–24:00",
      "Mon 30 Nov: 00:00–24:00",
    ]);
  });

  test("are those of the device where its zone was chosen: the same closures, at other times of other days", () => {
    vi.stubEnv("TZ", "Asia/Kolkata");
    expect(wordsIn("Asia/Kolkata")).toEqual([
      "Mon 23 Nov: 00:00–03:30, 04:30–24:00",
      "Tue 24 Nov: 00:00–03:30, 04:30–24:00",
      "Wed 25 Nov: 00:00–03:30, 04:30–24:00",
      "Thu 26 Nov: 00:00–03:30, 04:30–24:00",
      "Fri 27 Nov: 00:00–03:30, 04:30–24:00",
      "Sat 28 Nov: 00:00–03:30",
      "Sun 29 Nov: closed",
      "Mon 30 Nov: 04:30–24:00",
    ]);
  });

  test("name each reason once, in order", () => {
    const [day, next] = daysOf(
      [
        { from: MONDAY, to: MONDAY + HOUR_S, reason: "holiday" },
        { from: MONDAY + 2 * HOUR_S, to: MONDAY + 3 * HOUR_S, reason: "holiday" },
        { from: MONDAY + 22 * HOUR_S, to: MONDAY + 23 * HOUR_S, reason: "early_close" },
      ],
      NOON_MS,
      "UTC",
    );
    expect(day?.reasons).toEqual(["Holiday", "Early close"]);
    expect(next?.reasons).toEqual([]);
  });
});
