/** Local wall time of an IANA zone and back, from the runtime's own zone data. Instants are Unix milliseconds. */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Offsets change on quarter hours at the most: one look-up serves the whole quarter. */
const OFFSET_STEP_MS = 900_000;

/** One zone, ready to be asked; it remembers the offsets it looked up, so keep it. */
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
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000;
  };
}

/** Makes a zone; throws a RangeError for a name the runtime does not know. */
export function zone(name: string): Zone {
  const read = offsetReader(name);
  const days = new Map<number, number | undefined>();
  const steps = new Map<number, number>();

  /** The offset of a whole UTC day, undefined for the few days on which it changes. */
  function offsetOfDay(day: number): number | undefined {
    if (days.has(day)) return days.get(day);
    const first = read(day * DAY_MS);
    const offset = first === read((day + 1) * DAY_MS) ? first : undefined;
    days.set(day, offset);
    return offset;
  }

  function offsetAt(atMs: number): number {
    const whole = offsetOfDay(Math.floor(atMs / DAY_MS));
    if (whole !== undefined) return whole;
    const step = Math.floor(atMs / OFFSET_STEP_MS);
    const known = steps.get(step);
    if (known !== undefined) return known;
    const offset = read(step * OFFSET_STEP_MS);
    steps.set(step, offset);
    return offset;
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
  return (hours * 60 + minutes) * MINUTE_MS + seconds * 1000;
}
