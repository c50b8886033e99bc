import { afterEach, expect, test, vi } from "vitest";
import { DAY_MS } from "#lib/units";
import { weeksOf } from "./fortnight";

afterEach(() => {
  vi.unstubAllEnvs();
});
const midnight = Date.UTC(2026, 0, 7);
const noon = Date.UTC(2026, 0, 7, 12);
const at = (days: number) => new Date(midnight + days * DAY_MS).toISOString();
const session = (from: number, to: number) => ({ opens_at: at(from), closes_at: at(to) });

test("sessions are shown in two weeks from midnight, split where a week ends", () => {
  const over = session(6, 8);
  const [first, second] = weeksOf([over], noon, "UTC");
  expect(first?.days).toHaveLength(8);
  expect(first?.days[0]).toBe(midnight);
  expect(first?.bars).toEqual([{ start: 6 / 7, width: expect.closeTo(1 / 7), session: over }]);
  expect(second?.bars).toEqual([{ start: 0, width: expect.closeTo(1 / 7), session: over }]);
});

test("a session without an end fills what is before or after it", () => {
  const noon = at(0.5);
  const until = { opens_at: null, closes_at: noon };
  const since = { opens_at: noon, closes_at: null };
  const [first, second] = weeksOf([until, since], midnight, "UTC");
  expect(first?.bars).toEqual([
    { start: 0, width: expect.closeTo(0.5 / 7), session: until },
    { start: expect.closeTo(0.5 / 7), width: expect.closeTo(6.5 / 7), session: since },
  ]);
  expect(second?.bars).toEqual([{ start: 0, width: 1, session: since }]);
});

test("weeks that begin later show their own days, and no now", () => {
  const later = session(30, 31);
  const [first] = weeksOf([later], noon, "UTC", 2, new Date(at(30)).getTime());
  expect(first).toMatchObject({ now: null, bars: [{ start: 0, width: expect.closeTo(1 / 7) }] });
});

test("now is marked in the first week only, and in neither week once it is past both", () => {
  const [first, second] = weeksOf([session(20, 21)], noon, "UTC");
  expect([first?.now, second?.now]).toEqual([expect.closeTo(0.5 / 7), null]);
  expect([first?.bars, second?.bars]).toEqual([[], []]);
});

test.each([
  ["167 hours where the clock goes forward", new Date(Date.UTC(2026, 2, 25, 12)), 167, [24, 48, 72, 96, 119, 143]],
  ["169 hours where it goes back", new Date(Date.UTC(2026, 9, 21, 12)), 169, [24, 48, 72, 96, 121, 145]],
])("days start at their lines in a week of %s", (_, now, hours, starts) => {
  vi.stubEnv("TZ", "Europe/Berlin");
  const [week] = weeksOf([], now.getTime(), "Europe/Berlin");
  expect(week?.lines).toEqual(starts.map((start) => start / hours));
});

test.each(["America/New_York", "Asia/Kolkata"])("days start at midnight in UTC or in %s, as the page shows", (zone) => {
  vi.stubEnv("TZ", zone);
  const startsIn = (shown: string) => new Date(weeksOf([], noon, shown)[0]?.days[0] ?? 0);
  expect(startsIn("UTC").getTime()).toBe(midnight);
  expect(startsIn(zone).toString()).toMatch(/^Wed Jan 07 2026 00:00:00/);
  expect(startsIn(zone).getTime()).not.toBe(midnight);
});
