/** Local wall time of an IANA zone and back, from the runtime's own zone data. Instants are Unix milliseconds. */

import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";

/** Days cached per zone (over a century); a client may request any year, so the cache is cleared when full. */
const DAYS_REMEMBERED_COUNT = 40_000;

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

/** The offsets of one UTC day; nearly always the same before and after. */
interface DayOffsets {
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
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(atMs)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / SECOND_MS) * SECOND_MS;
  };
}

/** The whole second at which the offset stops being `before`; zone data know one change a day at the most. */
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
  const days = new Map<number, DayOffsets>();

  function startOffset(day: number): number {
    const known = starts.get(day);
    if (known !== undefined) return known;
    const offset = read(day * DAY_MS);
    starts.set(day, offset);
    return offset;
  }

  function offsetsOf(day: number): DayOffsets {
    if (days.size >= DAYS_REMEMBERED_COUNT) {
      days.clear();
      starts.clear();
    }
    const startMs = day * DAY_MS;
    const before = startOffset(day);
    const after = startOffset(day + 1);
    const changeMs = before === after ? startMs : changeBetween(startMs, startMs + DAY_MS, before, read);
    const offsets = { before, after, changeMs };
    days.set(day, offsets);
    return offsets;
  }

  function offsetAt(atMs: number): number {
    const day = Math.floor(atMs / DAY_MS);
    const { before, after, changeMs } = days.get(day) ?? offsetsOf(day);
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
