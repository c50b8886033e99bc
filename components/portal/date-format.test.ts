import { expect, test } from "vitest";
import { dateFormat, placeOf, timeText } from "./date-format";

test("a format is made once for each shape and time zone", () => {
  const shape = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  expect(dateFormat({ ...shape, timeZone: "UTC" })).toBe(dateFormat({ ...shape, timeZone: "UTC" }));
  expect(dateFormat({ ...shape, timeZone: "UTC" }).format(0)).toBe("00:00");
  expect(dateFormat({ ...shape, timeZone: "Asia/Tokyo" }).format(0)).toBe("09:00");
});

test("an instant is written in its zone, and a zone is called by its place", () => {
  expect(timeText("2026-07-01T12:00:07Z", "minute", "UTC")).toBe("01 Jul 2026, 12:00");
  expect(timeText(Date.UTC(2026, 6, 1, 12, 0, 7), "exact", "Asia/Kolkata")).toBe("01 Jul 2026, 17:30:07");
  expect(["UTC", "America/New_York", "America/Argentina/Buenos_Aires", "Etc/GMT+5"].map(placeOf)).toEqual([
    "UTC",
    "New York",
    "Buenos Aires",
    "Etc/GMT+5",
  ]);
});
