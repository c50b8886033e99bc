import type { PreviewSession } from "#lib/contract/portal-admin";
import { startOfDay } from "../portal/local-time";

const WEEK_DAYS = 7;
const WEEKS_COUNT = 2;

/** A session's place in a week, as fractions of the week's length from 0 to 1. */
interface Bar {
  readonly start: number;
  readonly width: number;
  readonly session: PreviewSession;
}

/** One row of the strip. */
export interface Week {
  /** Unix milliseconds of the page's midnights: seven starts and the end. */
  readonly days: readonly number[];
  /** Where each day except the first begins, as fractions of the week's length from 0 to 1. */
  readonly lines: readonly number[];
  readonly bars: readonly Bar[];
  /** Position of the current time; null in other weeks. */
  readonly now: number | null;
}

/**
 * Weeks (two by default) from the day of `fromMs` on, today by default, with the sessions split at their ends.
 * @param zone the zone that the page shows: UTC, or that of the device
 */
export function weeksOf(
  sessions: readonly PreviewSession[],
  nowMs: number,
  zone: string,
  count: number = WEEKS_COUNT,
  fromMs: number = nowMs,
): readonly Week[] {
  return Array.from({ length: count }, (_, week) => {
    const days = Array.from({ length: WEEK_DAYS + 1 }, (_, day) => startOfDay(fromMs, week * WEEK_DAYS + day, zone));
    const from = days[0] ?? fromMs;
    const length = (days.at(-1) ?? fromMs) - from;
    const part = (ms: number) => Math.min(1, Math.max(0, (ms - from) / length));
    const placeOf = (at: string | null, unknown: number) => (at === null ? unknown : part(Date.parse(at)));
    const bars = sessions
      .map((session) => {
        const start = placeOf(session.opens_at, 0);
        return { start, width: placeOf(session.closes_at, 1) - start, session };
      })
      .filter(({ width }) => width > 0);
    return { days, lines: days.slice(1, -1).map(part), bars, now: nowMs >= from && nowMs < from + length ? part(nowMs) : null };
  });
}
