import { DAY_MS } from "#lib/units";
import type { Zone } from "./zone";

/** Sessions are not searched before this local year; the service's time starts in 1970, which is still 1969 in the Americas. */
const FIRST_YEAR = 1969;

/** [open, close) of a local day in milliseconds of wall time since its midnight. */
export type WallRange = readonly [open: number, close: number];

/** The session or pause around an instant, Unix milliseconds; infinite where it has no end within the searched years. */
interface SessionOrPause {
  readonly open: boolean;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface SessionFinder {
  around(atMs: number): SessionOrPause;
}

interface Session {
  readonly openMs: number;
  readonly closeMs: number;
}

/** The sessions of one local year as instants, ascending, overlapping and touching ones united. */
function sessionsOfYear(year: number, zone: Zone, day: (day: number) => readonly WallRange[]): Session[] {
  const sessions: { openMs: number; closeMs: number }[] = [];
  const end = Date.UTC(year + 1, 0, 1) / DAY_MS;
  for (let date = Date.UTC(year, 0, 1) / DAY_MS; date < end; date++) {
    for (const [open, close] of day(date)) {
      const openMs = zone.fromLocal(date * DAY_MS + open);
      const closeMs = zone.fromLocal(date * DAY_MS + close);
      // A range of wall time that the clock change skips has no length.
      if (closeMs <= openMs) continue;
      const last = sessions.at(-1);
      if (last !== undefined && openMs <= last.closeMs) last.closeMs = Math.max(last.closeMs, closeMs);
      else sessions.push({ openMs, closeMs });
    }
  }
  return sessions;
}

/** Index of the last session that opens at or before an instant, -1 when there is none. */
function lastOpenBy(sessions: readonly Session[], atMs: number): number {
  let low = 0;
  let high = sessions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sessions[middle]?.openMs ?? Number.POSITIVE_INFINITY) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Finds sessions from the open wall times of local days (days since 1970-01-01), ascending by their open. A year is computed on
 * first use and cached; `lastYear` is the last year to search.
 */
export function sessionFinder(zone: Zone, day: (day: number) => readonly WallRange[], lastYear: number): SessionFinder {
  const years = new Map<number, readonly Session[]>();

  function of(year: number): readonly Session[] {
    const known = years.get(year);
    if (known !== undefined) return known;
    const sessions = sessionsOfYear(year, zone, day);
    years.set(year, sessions);
    return sessions;
  }

  /** The open of the first session of a year, which may continue the last of the year before. */
  function openOf({ openMs }: Session, year: number): number {
    if (year < FIRST_YEAR) return Number.NEGATIVE_INFINITY;
    const earlier = of(year - 1).at(-1);
    return earlier?.closeMs === openMs ? openOf(earlier, year - 1) : openMs;
  }

  /** The close of the last session of a year, which may go on in the next. */
  function closeOf({ closeMs }: Session, year: number): number {
    const later = year < lastYear ? of(year + 1)[0] : undefined;
    return later?.openMs === closeMs ? closeOf(later, year + 1) : closeMs;
  }

  function closeBefore(year: number): number {
    for (let earlier = year - 1; earlier >= FIRST_YEAR; earlier--) {
      const last = of(earlier).at(-1);
      if (last !== undefined) return last.closeMs;
    }
    return Number.NEGATIVE_INFINITY;
  }

  function openAfter(year: number): number {
    for (let later = year + 1; later <= lastYear; later++) {
      const [first] = of(later);
      if (first !== undefined) return first.openMs;
    }
    return Number.POSITIVE_INFINITY;
  }

  return {
    around(atMs) {
      const year = new Date(zone.toLocal(atMs)).getUTCFullYear();
      const sessions = of(year);
      const index = lastOpenBy(sessions, atMs);
      const session = sessions[index];
      if (session !== undefined && atMs < session.closeMs)
        return {
          open: true,
          fromMs: index === 0 ? openOf(session, year) : session.openMs,
          untilMs: index === sessions.length - 1 ? closeOf(session, year) : session.closeMs,
        };
      return {
        open: false,
        fromMs: session?.closeMs ?? closeBefore(year),
        untilMs: sessions[index + 1]?.openMs ?? openAfter(year),
      };
    },
  };
}
