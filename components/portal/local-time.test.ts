import { afterEach, describe, expect, test, vi } from "vitest";
import { instantOf, localText, startOfDay } from "./local-time";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each([
  ["America/New_York", "2026-07-02T19:59"],
  ["Asia/Kolkata", "2026-07-03T05:29"],
])("on a device in %s", (zone, local) => {
  test.each([
    [zone, local],
    ["UTC", "2026-07-02T23:59"],
  ])("an instant is shown in %s and is the same after it was in a control", (shown, text) => {
    vi.stubEnv("TZ", zone);
    expect(localText("2026-07-02T23:59:00.000Z", shown)).toBe(text);
    expect(instantOf(text, shown)).toBe("2026-07-02T23:59:00.000Z");
    expect(localText("2026-07-02T23:59:07.000Z", shown, 19)).toBe(`${text}:07`);
  });
});

test("no instant is an empty control, and what is no time is left to the service", () => {
  expect(localText(null, "UTC")).toBe("");
  for (const text of ["2026-13-40T99:00", ""]) {
    expect(instantOf(text, "UTC")).toBe(text);
    expect(localText(text, "UTC")).toBe("");
  }
});

test("a day begins at midnight in the zone of the page, and has an hour less or more when clocks change", () => {
  vi.stubEnv("TZ", "America/New_York");
  const at = Date.parse("2026-11-01T03:00:00Z");
  const begins = (days: number, zone: string) => new Date(startOfDay(at, days, zone)).toISOString();
  expect([0, 1].map((days) => begins(days, "UTC"))).toEqual(["2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z"]);
  expect([0, 1, 2].map((days) => begins(days, "America/New_York"))).toEqual([
    "2026-10-31T04:00:00.000Z",
    "2026-11-01T04:00:00.000Z",
    "2026-11-02T05:00:00.000Z",
  ]);
});
