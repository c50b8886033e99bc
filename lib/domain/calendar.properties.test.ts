import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { compileCalendar, type WeeklyCalendar } from "./calendar";
import { wallTimeMs, zone } from "./zone";

const at = (text: string) => Date.parse(`${text}Z`);

const time = fc.integer({ min: 0, max: 96 }).map((quarter) => {
  return `${String(Math.floor(quarter / 4)).padStart(2, "0")}:${String((quarter % 4) * 15).padStart(2, "0")}`;
});
const segment = fc.record({ day: fc.integer({ min: 0, max: 6 }).map((day) => day as 0), open: time, close: time });
const date = fc
  .integer({ min: 0, max: 60 })
  .map((day) => new Date(at("2026-05-20T00:00:00") + day * DAY_MS).toISOString().slice(0, 10));
const times = fc.dictionary(date, time, { maxKeys: 6 });
const definition: fc.Arbitrary<WeeklyCalendar> = fc.record({
  kind: fc.constant("weekly" as const),
  zone: fc.constantFrom("UTC", "America/New_York", "Asia/Kolkata"),
  week: fc.array(segment, { maxLength: 12 }),
  holidays: fc.array(date, { maxLength: 4 }),
  earlyCloses: times,
  lateOpens: times,
  coveredUntil: fc.constant("2026-12-31"),
});
/** June and July: no clock change in any of the zones. */
const instant = fc.integer({ min: at("2026-06-01T00:00:00"), max: at("2026-07-15T00:00:00") });

/** The definition read word for word, one instant at a time. */
function openByTheBook(calendar: WeeklyCalendar, atMs: number): boolean {
  const local = zone(calendar.zone).toLocal(atMs);
  const date = new Date(local).toISOString().slice(0, 10);
  const wall = local % DAY_MS;
  const early = calendar.earlyCloses[date];
  const late = calendar.lateOpens[date];
  const afterClose = early !== undefined && wall >= wallTimeMs(early);
  const beforeOpen = late !== undefined && wall < wallTimeMs(late);
  const hole = early !== undefined && late !== undefined && wallTimeMs(early) <= wallTimeMs(late);
  if (calendar.holidays.includes(date) || (hole ? afterClose && beforeOpen : afterClose || beforeOpen)) return false;
  const day = new Date(local).getUTCDay();
  return calendar.week.some((s) => s.day === day && wallTimeMs(s.open) <= wall && wall < wallTimeMs(s.close));
}

test("the state matches a literal reading of the definition", () => {
  fc.assert(
    fc.property(definition, fc.array(instant, { minLength: 1, maxLength: 20 }), (calendar, instants) => {
      const compiled = compileCalendar(calendar, []);
      for (const atMs of instants) expect(compiled.sessionAt(atMs).state === "open").toBe(openByTheBook(calendar, atMs));
    }),
    { numRuns: 300 },
  );
});

test("sessions and pauses cover any window without overlap, and the state changes at each edge", () => {
  fc.assert(
    fc.property(definition, instant, fc.integer({ min: 1, max: 20 * DAY_MS }), (calendar, fromMs, length) => {
      const compiled = compileCalendar(calendar, []);
      const toMs = fromMs + length;
      const sessions = compiled.sessionsBetween(fromMs, toMs) ?? [];
      let end = fromMs - 1;
      for (const { openMs, closeMs } of sessions) {
        expect(openMs).toBeGreaterThan(end);
        expect(closeMs).toBeGreaterThan(openMs);
        expect(closeMs).toBeLessThanOrEqual(toMs);
        expect(compiled.sessionAt(openMs).state).toBe("open");
        expect(compiled.sessionAt(closeMs - 1).state).toBe("open");
        if (openMs > fromMs) expect(compiled.sessionAt(openMs - 1).state).toBe("closed");
        if (closeMs < toMs) expect(compiled.sessionAt(closeMs).state).toBe("closed");
        end = closeMs;
      }
    }),
    { numRuns: 200 },
  );
});

test("the next open and close are strictly later, and nothing changes before the first of them", () => {
  fc.assert(
    fc.property(definition, instant, (calendar, atMs) => {
      const compiled = compileCalendar(calendar, []);
      const { state, nextOpen, nextClose, openedAt, closedAt } = compiled.sessionAt(atMs);
      const first = state === "open" ? nextClose : nextOpen;
      const second = state === "open" ? nextOpen : nextClose;
      if (first === null) {
        expect(second).toBeNull();
        return;
      }
      expect(first).toBeGreaterThan(atMs);
      expect(openedAt ?? closedAt ?? atMs).toBeLessThanOrEqual(atMs);
      expect(compiled.sessionsBetween(atMs, first)).toEqual(state === "open" ? [{ openMs: atMs, closeMs: first }] : []);
      if (second === null) return;
      expect(second).toBeGreaterThan(first);
      expect(compiled.sessionsBetween(first, second)).toEqual(state === "open" ? [] : [{ openMs: first, closeMs: second }]);
    }),
    { numRuns: 300 },
  );
});

test("a cycle is open in its first part and closed before its anchor, at any distance", () => {
  const turns = {
    anchorS: fc.nat(2_000_000_000),
    openS: fc.integer({ min: 1, max: 9_000 }),
    closedS: fc.integer({ min: 1, max: 9_000 }),
  };
  fc.assert(
    fc.property(fc.record({ kind: fc.constant("cycle" as const), ...turns }), fc.nat(4_000_000_000), (cycle, atS) => {
      const { state, nextOpen, nextClose } = compileCalendar(cycle, []).sessionAt(atS * SECOND_MS);
      const phase = (atS - cycle.anchorS) % (cycle.openS + cycle.closedS);
      expect(state).toBe(atS >= cycle.anchorS && phase < cycle.openS ? "open" : "closed");
      expect(Math.min(nextOpen ?? 0, nextClose ?? 0)).toBeGreaterThan(atS * SECOND_MS);
      expect(Math.abs((nextOpen ?? 0) - (nextClose ?? 0))).toBe((state === "open" ? cycle.closedS : cycle.openS) * SECOND_MS);
    }),
  );
});
