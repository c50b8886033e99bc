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

/** The sessions of one local year as instants, ascending, touching ones united. */
interface YearSessions {
  readonly opens: readonly number[];
  readonly closes: readonly number[];
}

function sessionsOfYear(year: number, zone: Zone, day: (day: number) => readonly WallRange[]): YearSessions {
  const opens: number[] = [];
  const closes: number[] = [];
  const end = Date.UTC(year + 1, 0, 1) / DAY_MS;
  for (let date = Date.UTC(year, 0, 1) / DAY_MS; date < end; date++) {
    for (const [open, close] of day(date)) {
      const openMs = zone.fromLocal(date * DAY_MS + open);
      const closeMs = zone.fromLocal(date * DAY_MS + close);
      // A range of wall time that the clock change skips has no length.
      if (closeMs <= openMs) continue;
      const lastClose = closes.at(-1);
      if (lastClose !== undefined && openMs <= lastClose) closes[closes.length - 1] = Math.max(lastClose, closeMs);
      else {
        opens.push(openMs);
        closes.push(closeMs);
      }
    }
  }
  return { opens, closes };
}

/** Index of the last value at or below `limit` of an ascending list, -1 when there is none. */
function lastAtOrBelow(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? Number.POSITIVE_INFINITY) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Finds sessions from the open wall times of local days (days since 1970-01-01). A year is computed on first use and
 * cached; `lastYear` is the last year to search.
 */
export function sessionFinder(zone: Zone, day: (day: number) => readonly WallRange[], lastYear: number): SessionFinder {
  const years = new Map<number, YearSessions>();

  function of(year: number): YearSessions {
    const known = years.get(year);
    if (known !== undefined) return known;
    const sessions = sessionsOfYear(year, zone, day);
    years.set(year, sessions);
    return sessions;
  }

  /** The open of a session that may have started in an earlier year. */
  function openOf(openMs: number, year: number): number {
    let first = openMs;
    for (let earlier = year - 1; earlier >= FIRST_YEAR; earlier--) {
      const { opens, closes } = of(earlier);
      if (closes.at(-1) !== first) return first;
      first = opens.at(-1) ?? first;
      if (opens.length > 1) return first;
    }
    return Number.NEGATIVE_INFINITY;
  }

  /** The close of a session that may end in a later year. */
  function closeOf(closeMs: number, year: number): number {
    let last = closeMs;
    for (let later = year + 1; later <= lastYear; later++) {
      const { opens, closes } = of(later);
      if (opens[0] !== last) return last;
      last = closes[0] ?? last;
      if (opens.length > 1) return last;
    }
    return last;
  }

  function closeBefore(year: number): number {
    for (let earlier = year - 1; earlier >= FIRST_YEAR; earlier--) {
      const close = of(earlier).closes.at(-1);
      if (close !== undefined) return close;
    }
    return Number.NEGATIVE_INFINITY;
  }

  function openAfter(year: number): number {
    for (let later = year + 1; later <= lastYear; later++) {
      const open = of(later).opens[0];
      if (open !== undefined) return open;
    }
    return Number.POSITIVE_INFINITY;
  }

  return {
    around(atMs) {
      const year = new Date(zone.toLocal(atMs)).getUTCFullYear();
      const { opens, closes } = of(year);
      const index = lastAtOrBelow(opens, atMs);
      const open = opens[index];
      const close = closes[index];
      const last = opens.length - 1;
      if (open !== undefined && close !== undefined && atMs < close)
        return {
          open: true,
          fromMs: index === 0 ? openOf(open, year) : open,
          untilMs: index === last ? closeOf(close, year) : close,
        };
      return {
        open: false,
        fromMs: close ?? closeBefore(year),
        untilMs: opens[index + 1] ?? openAfter(year),
      };
    },
  };
}
