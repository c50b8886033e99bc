import { TAKEN } from "#lib/domain/tick-columns";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { ImportFailure } from "#server/import/failure";
import { createDateReader, DATE_BYTES, type DecimalMark, dayMs, epochAt, numberAt, offsetSuffix, timeOfDayAt } from "./bytes";
import {
  type DateOrder,
  emptyRow,
  type Layout,
  type ReaderSettings,
  type Role,
  type Row,
  type RowReader,
  type RowSink,
} from "./row";

/** Rows of market data are shorter; a file without line ends is not text. */
const LINE_MAX_BYTES = 16_384;

const NEWLINE = 10;
const RETURN = 13;
const MARK = [0xef, 0xbb, 0xbf] as const;

/** Receives one line, bytes[from, to), without its line end; `line` counts from 1. */
type OnLine = (bytes: Buffer, from: number, to: number, line: number) => void;

/**
 * Splits chunks into lines (LF or CRLF, a UTF-8 byte order mark is dropped), copying only lines that span two chunks.
 * Empty lines are counted but not passed on.
 * @throws ImportFailure when a line grows past LINE_MAX_BYTES.
 */
function createLineCutter(onLine: OnLine): { push(chunk: Buffer): void; end(): void } {
  let rest: Buffer | null = null;
  let line = 0;

  function hand(bytes: Buffer, from: number, to: number): void {
    line += 1;
    const start = line === 1 && MARK.every((byte, index) => bytes[from + index] === byte) ? from + MARK.length : from;
    const end = to > start && bytes[to - 1] === RETURN ? to - 1 : to;
    if (end > start) onLine(bytes, start, end, line);
  }

  function keep(piece: Buffer): void {
    // A copy, because the caller may reuse the memory of the chunk.
    rest = rest === null ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    if (rest.length > LINE_MAX_BYTES)
      throw new ImportFailure(`line ${line + 1} is longer than ${LINE_MAX_BYTES} bytes: this is not a text file of rows`);
  }

  return {
    push(chunk) {
      let from = 0;
      if (rest !== null) {
        const end = chunk.indexOf(NEWLINE);
        if (end < 0) {
          keep(chunk);
          return;
        }
        const whole = Buffer.concat([rest, chunk.subarray(0, end)]);
        rest = null;
        hand(whole, 0, whole.length);
        from = end + 1;
      }
      for (let end = chunk.indexOf(NEWLINE, from); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        hand(chunk, from, end);
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
    end() {
      if (rest !== null) hand(rest, 0, rest.length);
      rest = null;
    },
  };
}

/** Maximum number of columns of a line that are read. */
const COLUMNS_MAX_COUNT = 64;
/** Maximum number of characters of a bad value that its report shows. */
const SHOWN_MAX_CHARACTERS = 40;

const SPACE = 32;
const QUOTE = 34;

/** The columns of one line, as offsets into its bytes; reused for all lines. */
interface Cells {
  readonly from: Int32Array;
  readonly to: Int32Array;
  count: number;
}

function emptyCells(): Cells {
  return { from: new Int32Array(COLUMNS_MAX_COUNT), to: new Int32Array(COLUMNS_MAX_COUNT), count: 0 };
}

/** Finds the columns of bytes[from, to); spaces and quotation marks around a value are dropped, separators in them belong to it. */
function cutCells(cells: Cells, bytes: Buffer, from: number, to: number, separator: number): void {
  let start = from;
  let count = 0;
  let quoted = false;
  for (let at = from; at <= to && count < COLUMNS_MAX_COUNT; at += 1) {
    if (at < to) {
      if (bytes[at] === QUOTE) quoted = !quoted;
      if (quoted || bytes[at] !== separator) continue;
    }
    let end = at;
    while (start < end && (bytes[start] === SPACE || bytes[start] === QUOTE)) start += 1;
    while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === QUOTE)) end -= 1;
    cells.from[count] = start;
    cells.to[count] = end;
    count += 1;
    start = at + 1;
  }
  cells.count = count;
}

function isEmpty(cells: Cells, index: number): boolean {
  return index >= cells.count || cells.from[index] === cells.to[index];
}

function numberIn(bytes: Buffer, cells: Cells, index: number, mark: DecimalMark | undefined): number {
  return index >= cells.count ? Number.NaN : numberAt(bytes, cells.from[index] as number, cells.to[index] as number, mark);
}

/** The columns of one line as texts. */
export function cellTexts(line: string, separator: string): string[] {
  const cells = emptyCells();
  const bytes = Buffer.from(line);
  cutCells(cells, bytes, 0, bytes.length, separator.charCodeAt(0));
  return Array.from({ length: cells.count }, (_, index) => bytes.toString("utf8", cells.from[index], cells.to[index]));
}

/** A value as a report shows it. */
function shown(bytes: Buffer, cells: Cells, index: number): string {
  return bytes.toString("utf8", cells.from[index], cells.to[index]).slice(0, SHOWN_MAX_CHARACTERS);
}

/** How tools write that a value is not there. */
const NO_VALUE = /^(nan|n\/?a|null|none|-)$/i;

/** Copies columns of a line into the row. Returns the reason when it cannot, else null. */
type Filler = (bytes: Buffer, cells: Cells, row: Row) => string | null;

type Target = Exclude<keyof Row, "timeMs">;
const QUOTES = ["bid", "ask"] as const satisfies readonly (Role & Target)[];
const PRICES = ["open", "high", "low", "close"] as const satisfies readonly (Role & Target)[];
const QUANTITIES = ["volume", "tickVolume", "realVolume"] as const satisfies readonly (Role & Target)[];

/** The columns of these roles, by index. */
function columnsOf<R extends Role>(layout: Layout, roles: readonly R[]): { index: number; role: R }[] {
  return roles.flatMap((role) => {
    const index = layout.roles.indexOf(role);
    return index < 0 ? [] : [{ index, role }];
  });
}

/** Prices above 0, in price units. Rejects an empty price, or keeps the row's value where the layout carries prices. */
function priceFiller(layout: Layout, { pointDigits }: ReaderSettings): Filler {
  const columns = columnsOf(layout, layout.kind === "ticks" ? QUOTES : PRICES);
  const power = Number(`1e${pointDigits ?? 0}`);
  return (bytes, cells, row) => {
    for (const { index, role } of columns) {
      if (isEmpty(cells, index)) {
        if (layout.carriesPrices) continue;
        return `${role} is empty`;
      }
      const value = numberIn(bytes, cells, index, layout.decimalMark) / power;
      if (!(value > 0 && value < Number.POSITIVE_INFINITY)) return `${role} is not a price: ${shown(bytes, cells, index)}`;
      row[role] = value;
    }
    return null;
  };
}

/** Volumes of at least 0; NaN where one is empty. */
function quantityFiller(layout: Layout, { volumeIs }: ReaderSettings): Filler {
  const columns = columnsOf(layout, QUANTITIES).map(({ index, role }) => ({
    index,
    role,
    target: role === "volume" && layout.kind === "klines" ? volumeIs : role,
  }));
  return (bytes, cells, row) => {
    for (const { index, role, target } of columns) {
      row[target] = numberIn(bytes, cells, index, layout.decimalMark);
      if (!isEmpty(cells, index) && !(row[target] >= 0) && !NO_VALUE.test(shown(bytes, cells, index)))
        return `${role} is not a volume: ${shown(bytes, cells, index)}`;
    }
    return null;
  };
}

/**
 * The spread in price units: its own column, that of the quote beside a kline or, for quote klines, the smaller spread of their
 * first and last quote. The highs and lows of bid and ask need not come from the same quote, so open and close are the only pairs.
 */
function spreadFiller(layout: Layout, { pointDigits, spreadDigits }: ReaderSettings): Filler {
  const [own, askOpen, askClose] = [
    layout.roles.indexOf("spread"),
    layout.roles.indexOf("askOpen"),
    layout.roles.indexOf("askClose"),
  ];
  if (own >= 0) {
    const power = Number(`1e${spreadDigits ?? 0}`);
    return (bytes, cells, row) => {
      row.spread = numberIn(bytes, cells, own, layout.decimalMark) / power;
      if (row.spread >= 0 || isEmpty(cells, own) || NO_VALUE.test(shown(bytes, cells, own))) return null;
      return `spread is not a number from 0 up: ${shown(bytes, cells, own)}`;
    };
  }
  const power = Number(`1e${pointDigits ?? 0}`);
  const [bid, ask] = [layout.roles.indexOf("bid"), layout.roles.indexOf("ask")];
  if (layout.kind === "klines" && bid >= 0 && ask >= 0)
    return (bytes, cells, row) => {
      // Of the quote at its close; unknown where it has none.
      const [from, to] = [numberIn(bytes, cells, bid, layout.decimalMark), numberIn(bytes, cells, ask, layout.decimalMark)];
      row.spread = Math.max(0, (to - from) / power);
      return null;
    };
  if (askOpen < 0 || askClose < 0) return () => null;
  return (bytes, cells, row) => {
    const first = numberIn(bytes, cells, askOpen, layout.decimalMark) / power - row.open;
    const last = numberIn(bytes, cells, askClose, layout.decimalMark) / power - row.close;
    row.spread = Math.max(0, Math.min(first, last));
    return Number.isNaN(row.spread) ? "ask_open or ask_close is not a price" : null;
  };
}

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
function createTimeReader(layout: Layout, { overrulesOffset }: ReaderSettings): TimeReader {
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

/** Columns that a row may omit at its end. */
const OPTIONAL: readonly (Role | null)[] = [null, "volume", "tickVolume", "realVolume", "spread"];

/** Reads rows of a delimited text file. A malformed row is reported and skipped; the rows around it are read. */
export function createDelimitedReader(layout: Layout, settings: ReaderSettings, sink: RowSink): RowReader {
  const cells = emptyCells();
  const row = emptyRow();
  const separator = layout.separator.charCodeAt(0);
  const readTime = createTimeReader(layout, settings);
  const [fillPrices, fillQuantities, fillSpread] = [
    priceFiller(layout, settings),
    quantityFiller(layout, settings),
    spreadFiller(layout, settings),
  ];
  const quote = columnsOf(layout, QUOTES);
  const constants = columnsOf(layout, ["symbol", "timeframe"]);
  const needed = 1 + layout.roles.findLastIndex((role) => !OPTIONAL.includes(role));
  const [received, outcome] = [layout.roles.indexOf("received"), layout.roles.indexOf("outcome")];
  const isRecorded = received >= 0 || outcome >= 0;
  // Written as the times of the ticks are.
  const timeRole: Role = layout.roles.includes("epoch") ? "epoch" : "dateTime";
  const readReceived = createTimeReader(
    { ...layout, roles: layout.roles.map((role) => (role === "received" ? timeRole : null)) },
    settings,
  );
  const isUtc = layout.zoned === true && !settings.overrulesOffset;
  const first = new Map<Role, string>();

  /** A row of another instrument or timeframe than the first one. */
  function otherSeries(bytes: Buffer): string | null {
    for (const { index, role } of constants) {
      const text = shown(bytes, cells, index);
      const expected = first.get(role) ?? text;
      first.set(role, expected);
      if (text !== expected) return `${text} in a file of ${expected}`;
    }
    return null;
  }

  /** A trade or a volume: where prices carry over, a row with neither bid nor ask, or one before the first bid and ask. */
  function saysNoQuote(): boolean {
    if (!layout.carriesPrices) return false;
    return quote.every(({ index }) => isEmpty(cells, index)) || Number.isNaN(row.bid) || Number.isNaN(row.ask);
  }

  /** Reads when a recorded tick came and what became of it. False where its row is not wanted. */
  function readRecorded(bytes: Buffer): boolean {
    row.outcome = outcome < 0 ? TAKEN : shown(bytes, cells, outcome);
    row.receivedMs = isEmpty(cells, received) ? Number.NaN : readReceived(bytes, cells);
    return settings.everyOutcome === true || row.outcome === TAKEN;
  }

  /** Null when the line was read into `row`, else the reason. */
  function readLine(bytes: Buffer): string | null {
    if (cells.count < needed) return `${cells.count} columns, at least ${needed} required`;
    const timeMs = readTime(bytes, cells);
    if (Number.isNaN(timeMs)) return "no valid time";
    row.timeMs = (isUtc ? timeMs : settings.toUtcMs(timeMs)) - settings.lateMs;
    if (Number.isNaN(row.timeMs)) return "its time does not exist: the clock of the file skips it when it is put forward";
    return (
      otherSeries(bytes) ?? fillPrices(bytes, cells, row) ?? fillQuantities(bytes, cells, row) ?? fillSpread(bytes, cells, row)
    );
  }

  function onLine(bytes: Buffer, from: number, to: number, line: number): void {
    if (line <= layout.headerLines) return;
    cutCells(cells, bytes, from, to, separator);
    if (isRecorded && cells.count >= needed && !readRecorded(bytes)) {
      sink.notTaken?.(line);
      return;
    }
    const reason = readLine(bytes);
    if (reason !== null) sink.malformed?.(line, reason);
    else if (saysNoQuote()) sink.withoutQuote?.(line);
    else sink.row(row, line);
  }

  return createLineCutter(onLine);
}
