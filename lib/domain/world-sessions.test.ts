import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileCalendar } from "#lib/domain/calendar";
import { forex } from "#lib/domain/calendars/forex";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { worldSessions } from "./world-sessions";

const calendar = compileCalendar(forex, []);

/** The sessions of a UTC day, as "HH:MM-HH:MM". */
function sessionsOn(day: string): Record<string, string> {
  const fromMs = Date.parse(`${day}T00:00:00Z`);
  const open = calendar.sessionsBetween(fromMs, fromMs + DAY_MS) ?? [];
  const clock = (ms: number) => (ms === fromMs + DAY_MS ? "24:00" : new Date(ms).toISOString().slice(11, 16));
  return Object.fromEntries(
    worldSessions(open, fromMs, fromMs + DAY_MS).map(({ centre, spans }) => [
      centre,
      spans.map(({ openMs, closeMs }) => `${clock(openMs)}-${clock(closeMs)}`).join(" "),
    ]),
  );
}

describe("sessions of the world", () => {
  test.each([
    ["a Wednesday in January", "2026-01-14", ["00:00-05:00 20:00-24:00", "00:00-09:00", "08:00-17:00", "13:00-22:00"]],
    ["a Wednesday in July", "2026-07-15", ["00:00-06:00 21:00-24:00", "00:00-09:00", "07:00-16:00", "12:00-21:00"]],
    [
      "between the changes of New York and London",
      "2026-03-18",
      ["00:00-05:00 20:00-24:00", "00:00-09:00", "08:00-17:00", "12:00-21:00"],
    ],
    ["a Sunday: Sydney begins when the market opens", "2026-01-11", ["22:00-24:00", "", "", ""]],
    ["a Saturday", "2026-01-10", ["", "", "", ""]],
    ["New Year's Day: until the market opens again nobody trades", "2026-01-01", ["22:00-24:00", "", "", ""]],
    ["Christmas Day of 2025, which the market leaves early", "2025-12-25", ["00:00-05:00 22:00-24:00", "00:00-08:00", "", ""]],
  ])("sessions of %s", (_, day, [sydney, tokyo, london, newYork]) => {
    expect(sessionsOn(day)).toEqual({ Sydney: sydney, Tokyo: tokyo, London: london, "New York": newYork });
  });

  test("desks do not work on the Saturday or Sunday of their city, even in a market that is always open", () => {
    const [fromMs, toMs] = [Date.parse("2026-01-05T00:00Z"), Date.parse("2026-02-02T00:00Z")];
    for (const { centre, spans } of worldSessions([{ openMs: fromMs, closeMs: toMs }], fromMs, toMs)) {
      const hours = spans.reduce((sum, { openMs, closeMs }) => sum + (closeMs - openMs) / HOUR_MS, 0);
      // The range begins and ends on a Monday, in Sydney four hours after nine hours of work have begun.
      expect(hours, centre).toBe(4 * 5 * 9);
    }
  });

  test("a session is open exactly while it is office hours there and the market is open, at any minute of any year", () => {
    const zones = { Sydney: "Australia/Sydney", Tokyo: "Asia/Tokyo", London: "Europe/London", "New York": "America/New_York" };
    const hours: Record<string, [number, number]> = { Sydney: [7, 16], Tokyo: [9, 18], London: [8, 17], "New York": [8, 17] };
    const formats = Object.entries(zones).map(([centre, timeZone]) => {
      const shape = { timeZone, weekday: "short", hour: "numeric", hourCycle: "h23" } as const;
      return [centre, new Intl.DateTimeFormat("en-GB", shape)] as const;
    });
    const minute = fc.integer({ min: Date.UTC(2015, 0, 1) / MINUTE_MS, max: Date.UTC(2028, 0, 1) / MINUTE_MS });
    fc.assert(
      fc.property(minute, (at) => {
        const atMs = at * MINUTE_MS;
        const fromMs = atMs - 30 * HOUR_MS;
        const toMs = atMs + 30 * HOUR_MS;
        const sessions = worldSessions(calendar.sessionsBetween(fromMs, toMs) ?? [], fromMs, toMs);
        for (const [centre, format] of formats) {
          const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
          const [opens = 0, closes = 0] = hours[centre] ?? [];
          const office = !/Sat|Sun/.test(parts.weekday ?? "") && Number(parts.hour) >= opens && Number(parts.hour) < closes;
          const spans = sessions.find((session) => session.centre === centre)?.spans ?? [];
          const isOpen = spans.some(({ openMs, closeMs }) => openMs <= atMs && atMs < closeMs);
          expect(isOpen, `${centre} ${new Date(atMs).toISOString()}`).toBe(office && calendar.sessionAt(atMs).state === "open");
        }
      }),
      { numRuns: 300 },
    );
  });
});
