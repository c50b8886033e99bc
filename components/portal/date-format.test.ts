import { expect, test, vi } from "vitest";
import { placeOf, timeText } from "./date-format";

test("a format is made once for each shape and time zone", () => {
  let made = 0;
  class Counted extends Intl.DateTimeFormat {
    constructor(...shape: ConstructorParameters<typeof Intl.DateTimeFormat>) {
      super(...shape);
      made += 1;
    }
  }
  vi.stubGlobal("Intl", { DateTimeFormat: Counted });
  for (const _ of ["first", "again"]) {
    expect(timeText(0, "millisecond", "UTC")).toBe("00:00:00.000");
    expect(timeText(0, "millisecond", "Asia/Tokyo")).toBe("09:00:00.000");
  }
  vi.unstubAllGlobals();
  expect(made).toBe(2);
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
