import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { createDateReader, DATE_BYTES, dayMs, epochAt, numberAt, offsetSuffix, timeOfDayAt } from "./bytes";
import { type Cells, isEmpty } from "./cells";
import type { DateOrder, Layout, ReaderSettings, Role } from "./row";

const SPACE = 32;
const LETTER_T = 84;
/** Longer texts are not times. */
const TIME_MAX_BYTES = 40;
/** Two digits of a year from here on are of the 20th century. */
const CENTURY_YEAR = 70;

const SEPARATED = /^(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})(?:[ T,]+(.*))?$/;
/** Jan 05, 2024, as investing.com writes it. */
const NAMED = /^([a-z]{3})[a-z]* (\d{1,2}), (\d{4})$/i;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:[ T-]*(.*))?$/;
const TIME_OF_DAY = /^(\d{1,2}):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?)?$/i;

function yearOf(text: string): number {
  if (text.length === 4) return Number(text);
  if (text.length !== 2) return Number.NaN;
  return Number(text) + (Number(text) >= CENTURY_YEAR ? 1900 : 2000);
}

function clockTime(text: string): number {
  const [, hours = "", minutes, seconds = "0", fraction = "", half] = TIME_OF_DAY.exec(text) ?? [];
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const valid =
    hours !== "" && hour < 24 && Number(minutes) < 60 && Number(seconds) < 60 && (half === undefined || Number(hours) <= 12);
  if (!valid) return Number.NaN;
  return (
    hour * HOUR_MS +
    Number(minutes) * MINUTE_MS +
    Number(seconds) * SECOND_MS +
    Math.floor(Number(`0.${fraction}0`) * 1000 + 1e-6)
  );
}

/** Milliseconds of a written time whose parts may have one digit: 1/5/2024 9:30 PM, 05.01.24 09:30, 20240105 0930. NaN for anything else. */
function writtenTime(text: string, order: DateOrder): number {
  const [, month, day, year] = NAMED.exec(text) ?? [];
  if (month !== undefined) return dayMs(Number(year), MONTHS.indexOf(month.toLowerCase()) + 1, Number(day));
  const separated = SEPARATED.exec(text);
  const [, first, second, third, rest = ""] = separated ?? COMPACT.exec(text) ?? [];
  if (first === undefined) return Number.NaN;
  const read = separated === null ? "ymd" : order;
  const part = (letter: string) => [first, second, third][read.indexOf(letter)] as string;
  if (part("m").length > 2 || part("d").length > 2) return Number.NaN;
  const midnight = dayMs(yearOf(part("y")), Number(part("m")), Number(part("d")));
  return rest === "" ? midnight : midnight + clockTime(rest);
}

type TimeReader = (bytes: Buffer, cells: Cells) => number;

/** Reads times of a fixed width without creating a string for each. */
function fixedReader(layout: Layout): TimeReader {
  const index = (role: Role) => layout.roles.indexOf(role);
  const dateBytes = DATE_BYTES[layout.dateStyle];
  const readDate = createDateReader(layout.dateStyle);
  const [date, timeOfDay, dateTime] = [index("date"), index("timeOfDay"), index("dateTime")];
  if (dateTime < 0) {
    return (bytes, { from, to }) => {
      if ((to[date] as number) - (from[date] as number) !== dateBytes) return Number.NaN;
      const midnight = readDate(bytes, from[date] as number);
      return timeOfDay < 0 ? midnight : midnight + timeOfDayAt(bytes, from[timeOfDay] as number, to[timeOfDay] as number);
    };
  }
  return (bytes, cells) => {
    const from = cells.from[dateTime] as number;
    const end = cells.to[dateTime] as number;
    const midnight = readDate(bytes, from);
    const gap = from + dateBytes;
    if (end === gap) return midnight;
    return bytes[gap] === SPACE || bytes[gap] === LETTER_T ? midnight + timeOfDayAt(bytes, gap + 1, end) : Number.NaN;
  };
}

/** Reads times as people and spreadsheets write them. */
function writtenReader(layout: Layout, order: DateOrder): TimeReader {
  const columns = (["date", "timeOfDay", "dateTime"] as const).map((role) => layout.roles.indexOf(role)).filter((at) => at >= 0);
  return (bytes, cells) => {
    const texts: string[] = [];
    for (const column of columns) {
      if (isEmpty(cells, column)) continue;
      const [from, to] = [cells.from[column] as number, cells.to[column] as number];
      if (to - from > TIME_MAX_BYTES) return Number.NaN;
      texts.push(bytes.toString("latin1", from, to));
    }
    return writtenTime(texts.join(" "), order);
  };
}

/** Reads times without their offset. */
function localReader(layout: Layout): TimeReader {
  const fixed = fixedReader(layout);
  if (layout.dateOrder === undefined) return fixed;
  const written = writtenReader(layout, layout.dateOrder);
  return (bytes, cells) => {
    const timeMs = fixed(bytes, cells);
    return Number.isNaN(timeMs) ? written(bytes, cells) : timeMs;
  };
}

function sinceMidnightReader(column: number, startMs: number): TimeReader {
  return (bytes, { from, to }) => {
    const ms = Math.floor(numberAt(bytes, from[column] as number, to[column] as number));
    return ms >= 0 && ms < DAY_MS ? startMs + ms : Number.NaN;
  };
}

/** Converts the clock of a zone to UTC, both in milliseconds; NaN for a time that it skips. */
type ToUtc = ReaderSettings["toUtcMs"];
/** The zone with a name. @throws Unsure when it is not known, or means several */
export type ZoneNamed = (name: string) => ToUtc;

/** Finds the zones that rows name; nearly all name that of the row before. */
function createZones(zoneNamed: ZoneNamed) {
  const zones = new Map<string, ToUtc>();
  let last = Buffer.alloc(0);
  let zone: ToUtc = () => Number.NaN;
  return (bytes: Buffer, from: number, to: number): ToUtc => {
    if (last.length === to - from && last.compare(bytes, from, to) === 0) return zone;
    const name = bytes.toString("latin1", from, to);
    zone = zones.get(name) ?? zoneNamed(name);
    zones.set(name, zone);
    last = Buffer.from(name, "latin1");
    return zone;
  };
}

/** Reads times that have an offset, as UTC. */
function zonedReader(layout: Layout, zoneNamed: ZoneNamed, overrulesOffset: boolean): TimeReader {
  const readLocal = localReader(layout);
  const zoneOf = createZones(zoneNamed);
  const column = layout.roles.includes("dateTime") ? layout.roles.indexOf("dateTime") : layout.roles.indexOf("timeOfDay");
  return (bytes, cells) => {
    const to = cells.to[column] as number;
    const suffix = isEmpty(cells, column) ? null : offsetSuffix(bytes, cells.from[column] as number, to);
    if (suffix === null) return Number.NaN;
    cells.to[column] = suffix.end;
    const localMs = readLocal(bytes, cells);
    cells.to[column] = to;
    if (overrulesOffset || Number.isNaN(localMs)) return localMs;
    return suffix.nameAt < 0 ? localMs - suffix.offsetMs : zoneOf(bytes, suffix.nameAt, to)(localMs);
  };
}

/**
 * Reads the time of a row: milliseconds on the clock of the file, NaN when there is none. A time with an offset is converted
 * to UTC, unless that is overruled.
 */
export function createTimeReader(layout: Layout, { overrulesOffset }: ReaderSettings, zoneNamed: ZoneNamed): TimeReader {
  const { roles, epochUnit, startMs = Number.NaN, zoned } = layout;
  const epoch = roles.indexOf("epoch");
  if (epoch >= 0 && epochUnit === undefined) throw new Error("a layout with Unix times says their unit");
  if (epoch >= 0 && epochUnit !== undefined)
    return (bytes, { from, to }) => epochAt(bytes, from[epoch] as number, to[epoch] as number, epochUnit);
  const sinceMidnight = roles.indexOf("sinceMidnight");
  if (sinceMidnight >= 0) return sinceMidnightReader(sinceMidnight, startMs);
  return zoned === true ? zonedReader(layout, zoneNamed, overrulesOffset) : localReader(layout);
}
