/** Local wall time of an IANA zone and back, from the runtime's own zone data. Instants are Unix milliseconds. */

import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";

/**
 * Offsets are read a week at a time: reading one takes microseconds, and a client may request decades. From 1970 to 2037 no zone
 * changes its offset twice in such a week.
 */
const WEEK_MS = 7 * DAY_MS;
/** Weeks cached per zone (over a century); a client may request any year, so the cache is cleared when full. */
const WEEKS_REMEMBERED_COUNT = 6_000;

/** A time zone. Keep the object: it caches offsets. */
export interface Zone {
  readonly name: string;
  /** Milliseconds to add to UTC to get local wall time. */
  offsetAt(atMs: number): number;
  /** The instant as if local wall time were UTC: read it with the getUTC… methods. */
  toLocal(atMs: number): number;
  /**
   * The instant of a local wall time (given as if it were UTC). A time that a clock change skips is taken with the
   * offset before the change; one that happens twice is the first.
   */
  fromLocal(localMs: number): number;
}

/** The offsets of seven UTC days; nearly always the same before and after. */
interface WeekOffsets {
  readonly before: number;
  readonly after: number;
  /** First instant at which `after` holds. */
  readonly changeMs: number;
}

function offsetReader(name: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (atMs) => {
    // A third of the time of formatToParts. In this locale the numbers come in this order.
    const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = (format.format(atMs).match(/\d+/g) ?? []).map(
      Number,
    );
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / SECOND_MS) * SECOND_MS;
  };
}

/** The whole second at which the offset stops being `before`; there is one change in between. */
function changeBetween(fromMs: number, toMs: number, before: number, read: (atMs: number) => number): number {
  let low = fromMs / SECOND_MS;
  let high = toMs / SECOND_MS;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (read(middle * SECOND_MS) === before) low = middle;
    else high = middle;
  }
  return high * SECOND_MS;
}

/** Makes a zone; throws a RangeError for a name the runtime does not know. */
export function zone(name: string): Zone {
  const read = offsetReader(name);
  const starts = new Map<number, number>();
  const weeks = new Map<number, WeekOffsets>();

  function startOffset(week: number): number {
    const known = starts.get(week);
    if (known !== undefined) return known;
    const offset = read(week * WEEK_MS);
    starts.set(week, offset);
    return offset;
  }

  function offsetsOf(week: number): WeekOffsets {
    if (weeks.size >= WEEKS_REMEMBERED_COUNT) {
      weeks.clear();
      starts.clear();
    }
    const startMs = week * WEEK_MS;
    const before = startOffset(week);
    const after = startOffset(week + 1);
    const changeMs = before === after ? startMs : changeBetween(startMs, startMs + WEEK_MS, before, read);
    const offsets = { before, after, changeMs };
    weeks.set(week, offsets);
    return offsets;
  }

  function offsetAt(atMs: number): number {
    const week = Math.floor(atMs / WEEK_MS);
    const { before, after, changeMs } = weeks.get(week) ?? offsetsOf(week);
    return atMs < changeMs ? before : after;
  }

  function fromLocal(localMs: number): number {
    const early = localMs - offsetAt(localMs - DAY_MS);
    if (early + offsetAt(early) === localMs) return early;
    const late = localMs - offsetAt(localMs + DAY_MS);
    return late + offsetAt(late) === localMs ? late : early;
  }

  return { name, offsetAt, toLocal: (atMs) => atMs + offsetAt(atMs), fromLocal };
}

/** Milliseconds since midnight of a wall time "HH:MM" or "HH:MM:SS"; 24:00 is the end of the day. */
export function wallTimeMs(wallTime: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = wallTime.split(":").map(Number);
  return (hours * 60 + minutes) * MINUTE_MS + seconds * SECOND_MS;
}
