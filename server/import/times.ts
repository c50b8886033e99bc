import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { createDateReader, DATE_BYTES, dayMs, epochAt, numberAt, offsetSuffix, timeOfDayAt } from "./bytes";
import { type Cells, isEmpty } from "./columns";
import type { DateOrder, Layout, Role } from "./layout";
import type { ReaderSettings } from "./row";

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
const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:[ T]?(.*))?$/;
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
function fixedReader(layout: Layout, overrulesOffset: boolean): TimeReader {
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
    const suffix = layout.zoned ? offsetSuffix(bytes, from, cells.to[dateTime] as number) : null;
    if (layout.zoned && suffix === null) return Number.NaN;
    const end = suffix?.end ?? (cells.to[dateTime] as number);
    const midnight = readDate(bytes, from) - (overrulesOffset ? 0 : (suffix?.offsetMs ?? 0));
    const gap = from + dateBytes;
    if (end === gap) return midnight;
    return bytes[gap] === SPACE || bytes[gap] === LETTER_T ? midnight + timeOfDayAt(bytes, gap + 1, end) : Number.NaN;
  };
}

/** Reads times as people and spreadsheets write them. */
function writtenReader(layout: Layout, order: DateOrder, overrulesOffset: boolean): TimeReader {
  const columns = (["date", "timeOfDay", "dateTime"] as const).map((role) => layout.roles.indexOf(role)).filter((at) => at >= 0);
  return (bytes, cells) => {
    const texts: string[] = [];
    let offsetMs = 0;
    for (const column of columns) {
      if (isEmpty(cells, column)) continue;
      const from = cells.from[column] as number;
      let to = cells.to[column] as number;
      if (to - from > TIME_MAX_BYTES) return Number.NaN;
      if (layout.zoned) {
        const suffix = offsetSuffix(bytes, from, to);
        if (suffix === null) return Number.NaN;
        to = suffix.end;
        offsetMs = overrulesOffset ? 0 : suffix.offsetMs;
      }
      texts.push(bytes.toString("latin1", from, to));
    }
    return writtenTime(texts.join(" "), order) - offsetMs;
  };
}

function sinceMidnightReader(column: number, startMs: number): TimeReader {
  return (bytes, { from, to }) => {
    const ms = Math.floor(numberAt(bytes, from[column] as number, to[column] as number));
    return ms >= 0 && ms < DAY_MS ? startMs + ms : Number.NaN;
  };
}

/**
 * Reads the time of a row: milliseconds on the clock of the file, NaN when there is none. A time with an offset is converted
 * to UTC, unless that is overruled.
 */
export function createTimeReader(layout: Layout, { overrulesOffset }: ReaderSettings): TimeReader {
  const epoch = layout.roles.indexOf("epoch");
  if (epoch >= 0) return (bytes, { from, to }) => epochAt(bytes, from[epoch] as number, to[epoch] as number);
  const sinceMidnight = layout.roles.indexOf("sinceMidnight");
  if (sinceMidnight >= 0) return sinceMidnightReader(sinceMidnight, layout.startMs ?? Number.NaN);
  const fixed = fixedReader(layout, overrulesOffset);
  if (layout.dateOrder === undefined) return fixed;
  const written = writtenReader(layout, layout.dateOrder, overrulesOffset);
  return (bytes, cells) => {
    const timeMs = fixed(bytes, cells);
    return Number.isNaN(timeMs) ? written(bytes, cells) : timeMs;
  };
}
