import type { PreviewSession } from "#lib/contract/portal-admin";

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
  /** Unix milliseconds of the viewer's midnights: seven starts and the end. */
  readonly days: readonly number[];
  /** Where each day except the first begins, as fractions of the week's length from 0 to 1. */
  readonly lines: readonly number[];
  readonly bars: readonly Bar[];
  /** Position of the current time; null in other weeks. */
  readonly now: number | null;
}

/** The viewer's midnight this many days after the one before `nowMs`; a day has 23 to 25 hours when clocks change. */
function midnight(nowMs: number, days: number): number {
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).getTime();
}

/** Weeks (two by default) from the viewer's today on, with the sessions split at their ends. */
export function weeksOf(sessions: readonly PreviewSession[], nowMs: number, count: number = WEEKS_COUNT): readonly Week[] {
  return Array.from({ length: count }, (_, week) => {
    const days = Array.from({ length: WEEK_DAYS + 1 }, (_, day) => midnight(nowMs, week * WEEK_DAYS + day));
    const from = days[0] ?? nowMs;
    const length = (days.at(-1) ?? nowMs) - from;
    const part = (ms: number) => Math.min(1, Math.max(0, (ms - from) / length));
    const bars = sessions
      .map((session) => {
        const start = part(Date.parse(session.opens_at));
        return { start, width: part(Date.parse(session.closes_at)) - start, session };
      })
      .filter(({ width }) => width > 0);
    return { days, lines: days.slice(1, -1).map(part), bars, now: nowMs >= from && nowMs < from + length ? part(nowMs) : null };
  });
}
