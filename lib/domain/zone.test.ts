import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { wallTimeMs, zone } from "./zone";

const newYork = zone("America/New_York");
const utc = (text: string) => Date.parse(`${text}Z`);
const localOf = (name: string, at: string) => new Date(zone(name).toLocal(utc(at))).toISOString().slice(0, 19);

describe("both clock changes, both ways (New York)", () => {
  test("in spring the offset changes at 07:00 UTC to the millisecond, and local time skips 02:00 to 03:00", () => {
    expect(newYork.offsetAt(utc("2026-03-08T06:59:59.999"))).toBe(-5 * HOUR_MS);
    expect(newYork.offsetAt(utc("2026-03-08T07:00:00"))).toBe(-4 * HOUR_MS);
    expect(newYork.fromLocal(utc("2026-03-08T01:59:59.999"))).toBe(utc("2026-03-08T06:59:59.999"));
    expect(newYork.fromLocal(utc("2026-03-08T03:00:00"))).toBe(utc("2026-03-08T07:00:00"));
  });

  test("a skipped local time is taken with the offset before the change", () => {
    expect(newYork.fromLocal(utc("2026-03-08T02:30:00"))).toBe(utc("2026-03-08T07:30:00"));
  });

  test("in autumn the offset changes at 06:00 UTC to the millisecond, and local time repeats 01:00 to 02:00", () => {
    expect(newYork.offsetAt(utc("2026-11-01T05:59:59.999"))).toBe(-4 * HOUR_MS);
    expect(newYork.offsetAt(utc("2026-11-01T06:00:00"))).toBe(-5 * HOUR_MS);
    expect(newYork.fromLocal(utc("2026-11-01T00:59:59"))).toBe(utc("2026-11-01T04:59:59"));
    expect(newYork.fromLocal(utc("2026-11-01T02:00:00"))).toBe(utc("2026-11-01T07:00:00"));
  });

  test("a local time that occurs twice means its first occurrence", () => {
    expect(newYork.fromLocal(utc("2026-11-01T01:30:00"))).toBe(utc("2026-11-01T05:30:00"));
  });

  test("a Sunday open at 17:00 on the day of a change has the new offset", () => {
    expect(newYork.fromLocal(utc("2026-03-08T17:00:00"))).toBe(utc("2026-03-08T21:00:00"));
    expect(newYork.fromLocal(utc("2026-11-01T17:00:00"))).toBe(utc("2026-11-01T22:00:00"));
  });
});

describe("other zones", () => {
  test.each([
    ["UTC", "2026-07-01T12:00:00", "2026-07-01T12:00:00"],
    ["Europe/Athens", "2026-03-29T00:59:59", "2026-03-29T02:59:59"],
    ["Europe/Athens", "2026-03-29T01:00:00", "2026-03-29T04:00:00"],
    ["Europe/Athens", "2026-10-25T00:59:59", "2026-10-25T03:59:59"],
    ["Europe/Athens", "2026-10-25T01:00:00", "2026-10-25T03:00:00"],
    ["Australia/Lord_Howe", "2026-10-03T15:29:59", "2026-10-04T01:59:59"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00", "2026-10-04T02:30:00"],
    ["Asia/Kolkata", "2026-01-01T00:00:00", "2026-01-01T05:30:00"],
    ["Pacific/Apia", "2011-12-30T09:59:59", "2011-12-29T23:59:59"],
    ["Pacific/Apia", "2011-12-30T10:00:00", "2011-12-31T00:00:00"],
    ["Africa/Monrovia", "1972-01-07T00:44:29", "1972-01-06T23:59:59"],
    ["Africa/Monrovia", "1972-01-07T00:44:30", "1972-01-07T00:44:30"],
  ])("local time in %s at %s UTC is %s", (name, at, local) => {
    expect(localOf(name, at)).toBe(local);
  });

  test("an unknown zone name is a RangeError", () => {
    expect(() => zone("Mars/Olympus_Mons")).toThrow(RangeError);
  });
});

test("an instant survives conversion to local time and back, except in the repeated hour, where it becomes the first", () => {
  const zones = ["America/New_York", "Europe/Athens", "Australia/Sydney", "Australia/Lord_Howe", "UTC"].map(zone);
  const instant = fc.integer({ min: utc("2007-01-01T00:00:00"), max: utc("2036-01-01T00:00:00") });
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (local, atMs) => {
      const back = local.fromLocal(local.toLocal(atMs));
      expect(local.toLocal(back)).toBe(local.toLocal(atMs));
      expect(back).toBeLessThanOrEqual(atMs);
      expect(atMs - back).toBeLessThanOrEqual(HOUR_MS);
      if (local.offsetAt(atMs - HOUR_MS) === local.offsetAt(atMs)) expect(back).toBe(atMs);
    }),
    { numRuns: 2_000 },
  );
});

test("the zone data of the runtime is read once for each week, and no more than a century of weeks is remembered", () => {
  const reads = vi.spyOn(Intl.DateTimeFormat.prototype as { readonly format: object }, "format", "get");
  const offsets = zone("UTC");
  const readsOf = (weeks: number) => {
    reads.mockClear();
    for (let week = 0; week < weeks; week += 1) offsets.offsetAt(week * 7 * DAY_MS);
    return reads.mock.calls.length;
  };
  // Each week needs the offsets at its start and at its end.
  expect([readsOf(6_000), readsOf(6_000), readsOf(6_001), readsOf(1)]).toEqual([6_001, 0, 2, 2]);
  reads.mockRestore();
});

test("a zone used for more days than it caches still answers correctly", () => {
  for (let year = 2000; year < 2130; year++)
    for (let day = 0; day < 365; day++) newYork.offsetAt(Date.UTC(year, 0, 1) + day * 24 * HOUR_MS);
  expect(newYork.offsetAt(utc("2026-03-08T06:59:59"))).toBe(-5 * HOUR_MS);
  expect(newYork.offsetAt(utc("2026-03-08T07:00:00"))).toBe(-4 * HOUR_MS);
});

test("wall times are milliseconds since midnight", () => {
  expect(wallTimeMs("00:00")).toBe(0);
  expect(wallTimeMs("17:00")).toBe(17 * HOUR_MS);
  expect(wallTimeMs("09:30:15")).toBe(9.5 * HOUR_MS + 15_000);
  expect(wallTimeMs("24:00")).toBe(24 * HOUR_MS);
});
