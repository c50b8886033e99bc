import { DAY_MS } from "#lib/units";
import type { LocalDate, WeeklyCalendar, WeeklySegment } from "./calendar-definition";
import { OPEN_BY_RULES, restOf, type Timeline, type Verdict } from "./calendar-timeline";
import { type SessionFinder, sessionFinder, type WallRange } from "./session-finder";
import { wallTimeMs, zone } from "./zone";

const DAYS_OF_WEEK = 7;
/** 1970-01-01, day 0, was a Thursday. */
const WEEKDAY_OF_DAY_0 = 4;
/** A closure of at least this length within a session counts as a holiday, not as an early close or a late open. */
const HOLIDAY_MIN_MS = 43_200_000;

/** The part of a day that a dated exception leaves open; wall times in milliseconds since midnight. */
interface DayException {
  holiday?: boolean;
  earlyCloseMs?: number;
  lateOpenMs?: number;
}

/** Days since 1970-01-01 of a local date. */
function dayOf(date: LocalDate): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

/** The open wall times of each weekday, ascending by their open; they may overlap and touch. */
function weekOf(segments: readonly WeeklySegment[]): WallRange[][] {
  return Array.from({ length: DAYS_OF_WEEK }, (_, weekday) =>
    segments
      .filter((segment) => segment.day === weekday)
      .map((segment): WallRange => [wallTimeMs(segment.open), wallTimeMs(segment.close)])
      .sort((a, b) => a[0] - b[0]),
  );
}

function exceptionsOf(calendar: WeeklyCalendar): Map<number, DayException> {
  const exceptions = new Map<number, DayException>();
  const at = (date: LocalDate): DayException => {
    const day = dayOf(date);
    const exception = exceptions.get(day) ?? {};
    exceptions.set(day, exception);
    return exception;
  };
  for (const date of calendar.holidays) at(date).holiday = true;
  for (const [date, time] of Object.entries(calendar.earlyCloses)) at(date).earlyCloseMs = wallTimeMs(time);
  for (const [date, time] of Object.entries(calendar.lateOpens)) at(date).lateOpenMs = wallTimeMs(time);
  return exceptions;
}

/** An early close before a late open leaves a gap between them; any other pair leaves the time that both allow. */
function cut(day: readonly WallRange[], exception: DayException): readonly WallRange[] {
  if (exception.holiday) return [];
  const { earlyCloseMs = DAY_MS, lateOpenMs = 0 } = exception;
  const both = exception.earlyCloseMs !== undefined && exception.lateOpenMs !== undefined;
  const kept: WallRange[] =
    both && earlyCloseMs <= lateOpenMs
      ? [
          [0, earlyCloseMs],
          [lateOpenMs, DAY_MS],
        ]
      : [[lateOpenMs, earlyCloseMs]];
  return kept.flatMap(([from, until]) =>
    day.map(([open, close]): WallRange => [Math.max(open, from), Math.min(close, until)]).filter(([open, close]) => open < close),
  );
}

/**
 * Why a calendar is closed at an instant, from its session rules and the dated exceptions that shorten them:
 * - open by the rules: `holiday` on a holiday's date, or when half a day or more is removed in one piece, or a complete
 *   session; otherwise `early_close` when part of the session came before, `late_open` when part of it follows;
 * - closed by the rules as well: `weekend`, or `daily_break` when the closure is shorter than a day. A break after which
 *   the market stays closed belongs to the closure that follows it.
 */
function closureAt(atMs: number, sessions: SessionFinder, rules: SessionFinder, isHoliday: (atMs: number) => boolean): Verdict {
  const gap = sessions.around(atMs);
  const byRules = rules.around(atMs);
  if (!byRules.open) {
    const rest = restOf(byRules.fromMs, byRules.untilMs);
    const runsOn = rest.reason === "daily_break" && gap.untilMs > byRules.untilMs;
    return runsOn ? closureAt(byRules.untilMs, sessions, rules, isHoliday) : rest;
  }
  const source = "holiday_calendar";
  const fromMs = Math.max(gap.fromMs, byRules.fromMs);
  const untilMs = Math.min(gap.untilMs, byRules.untilMs);
  if (isHoliday(atMs) || untilMs - fromMs >= HOLIDAY_MIN_MS) return { reason: "holiday", source };
  if (fromMs > byRules.fromMs) return { reason: "early_close", source };
  return { reason: untilMs < byRules.untilMs ? "late_open" : "holiday", source };
}

/** The timeline of a weekly calendar; unknown from the end of its covered day on. Throws a RangeError for a bad zone. */
export function weekly(calendar: WeeklyCalendar): Timeline {
  const local = zone(calendar.zone);
  const week = weekOf(calendar.week);
  const exceptions = exceptionsOf(calendar);
  const endDay = dayOf(calendar.coveredUntil) + 1;
  const horizonMs = local.fromLocal(endDay * DAY_MS);
  const lastYear = new Date(endDay * DAY_MS).getUTCFullYear();

  const byRules = (day: number) => week[(((day + WEEKDAY_OF_DAY_0) % DAYS_OF_WEEK) + DAYS_OF_WEEK) % DAYS_OF_WEEK] ?? [];
  const rules = sessionFinder(local, byRules, lastYear);
  const sessions = sessionFinder(
    local,
    (day) => {
      const exception = exceptions.get(day);
      return exception === undefined ? byRules(day) : cut(byRules(day), exception);
    },
    lastYear,
  );
  const isHoliday = (atMs: number) => exceptions.get(Math.floor(local.toLocal(atMs) / DAY_MS))?.holiday === true;

  return {
    at(atMs) {
      if (atMs >= horizonMs) return { state: "unknown", fromMs: horizonMs, untilMs: Number.POSITIVE_INFINITY };
      const { open, fromMs, untilMs } = sessions.around(atMs);
      return { state: open ? "open" : "closed", fromMs, untilMs: Math.min(untilMs, horizonMs) };
    },
    why(atMs) {
      if (atMs >= horizonMs) return { reason: "calendar_horizon", source: "unavailable" };
      return sessions.around(atMs).open ? OPEN_BY_RULES : closureAt(atMs, sessions, rules, isHoliday);
    },
  };
}
