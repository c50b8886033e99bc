import { SIDES } from "#lib/domain/columns";
import { TAKEN } from "#lib/domain/tick-columns";
import { ImportFailure } from "#server/import/failure";
import { type Cells, cutCells, emptyCells, isEmpty, NO_VALUE, numberIn, shown } from "./cells";
import { createLineCutter } from "./lines";
import {
  emptyRow,
  isColumnName,
  type Layout,
  plainName,
  type ReaderSettings,
  type Role,
  type Row,
  type RowReader,
  type RowSink,
} from "./row";
import { createTimeReader, type ZoneNamed } from "./times";

/** The columns of one line as texts. */
export function cellTexts(line: string, separator: string): string[] {
  const cells = emptyCells();
  const bytes = Buffer.from(line);
  cutCells(cells, bytes, 0, bytes.length, separator.charCodeAt(0));
  return Array.from({ length: cells.count }, (_, index) => bytes.toString("utf8", cells.from[index], cells.to[index]));
}

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

/** Ask and mid prices of klines, of each side that has all four columns; NaN where all four are empty. */
function sideFiller(layout: Layout, { pointDigits }: ReaderSettings): Filler {
  const sides = Object.values(SIDES)
    .map((roles) => columnsOf(layout, roles))
    .filter((columns) => layout.kind === "klines" && columns.length === PRICES.length);
  const power = Number(`1e${pointDigits ?? 0}`);
  return (bytes, cells, row) => {
    for (const columns of sides) {
      const isUnknown = columns.every(({ index }) => isEmpty(cells, index) || NO_VALUE.test(shown(bytes, cells, index)));
      for (const { index, role } of columns) {
        row[role] = isUnknown ? Number.NaN : numberIn(bytes, cells, index, layout.decimalMark) / power;
        if (!isUnknown && !(row[role] > 0 && row[role] < Number.POSITIVE_INFINITY))
          return `${role.replace(/(?=[A-Z])/, " ").toLowerCase()} is not a price: ${shown(bytes, cells, index)}`;
      }
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
      // Interactive Brokers write -1 where they know none.
      if (row[target] === -1) row[target] = Number.NaN;
      else if (!isEmpty(cells, index) && !(row[target] >= 0) && !NO_VALUE.test(shown(bytes, cells, index)))
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
    row.spread = Number.NaN;
    if (isEmpty(cells, askOpen) && isEmpty(cells, askClose)) return null;
    const first = numberIn(bytes, cells, askOpen, layout.decimalMark) / power - row.open;
    const last = numberIn(bytes, cells, askClose, layout.decimalMark) / power - row.close;
    row.spread = Math.max(0, Math.min(first, last));
    return Number.isNaN(row.spread) ? "ask_open or ask_close is not a price" : null;
  };
}

/** Columns that a row may omit at its end. */
const OPTIONAL: readonly (Role | null)[] = [null, "volume", "tickVolume", "realVolume", "spread"];

/** Names of columns in one line: more than an ordinary row can have by chance. */
const HEADER_MIN_NAMES = 2;
const RETURN = 13;
/** Begins a comment. */
const HASH = 35;

/** The names in a line, without those that are empty at its end. */
function namesIn(bytes: Buffer, cells: Cells): string[] {
  const names = Array.from({ length: cells.count }, (_, index) => plainName(shown(bytes, cells, index).replace(/^\uFEFF/, "")));
  return names.slice(0, 1 + names.findLastIndex((name) => name !== ""));
}

/**
 * Reads rows of a delimited text file. A malformed row is reported and skipped; the rows around it are read.
 * @throws ImportFailure at a line that names other columns than the header line: the rows behind it cannot be read as those before
 */
export function createDelimitedReader(layout: Layout, settings: ReaderSettings, sink: RowSink, zoneNamed: ZoneNamed): RowReader {
  const cells = emptyCells();
  const row = emptyRow();
  const separator = layout.separator.charCodeAt(0);
  const readTime = createTimeReader(layout, settings, zoneNamed);
  const [fillPrices, fillSides, fillQuantities, fillSpread] = [
    priceFiller(layout, settings),
    sideFiller(layout, settings),
    quantityFiller(layout, settings),
    spreadFiller(layout, settings),
  ];
  const quote = columnsOf(layout, QUOTES);
  const prices = layout.kind === "ticks" ? quote : columnsOf(layout, [...PRICES, ...SIDES.ask]);
  const constants = columnsOf(layout, ["symbol", "timeframe"]);
  const needed = 1 + layout.roles.findLastIndex((role) => !OPTIONAL.includes(role));
  const [received, outcome] = [layout.roles.indexOf("received"), layout.roles.indexOf("outcome")];
  const isRecorded = received >= 0 || outcome >= 0;
  // Written as the times of the ticks are.
  const timeRole: Role = layout.roles.includes("epoch") ? "epoch" : "dateTime";
  const readReceived = createTimeReader(
    { ...layout, roles: layout.roles.map((role) => (role === "received" ? timeRole : null)) },
    settings,
    zoneNamed,
  );
  const isUtc = layout.zoned === true && !settings.overrulesOffset;
  const first = new Map<Role, string>();
  let header: readonly string[] = [];
  let headersLeft: number = layout.headerLines;

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
      otherSeries(bytes) ??
      fillPrices(bytes, cells, row) ??
      fillSides(bytes, cells, row) ??
      fillQuantities(bytes, cells, row) ??
      fillSpread(bytes, cells, row)
    );
  }

  /** Whether the line is the header line again, as where files were joined. */
  function isHeaderAgain(bytes: Buffer, line: number): boolean {
    const names = namesIn(bytes, cells);
    if (header.length > 0 && names.join() === header.join()) return true;
    const known = new Set(names.filter((name) => isColumnName(name) || (name !== "" && header.includes(name))));
    // Above the first row of a file without a header line, it is only a row that cannot be read.
    const isFirst = header.length === 0 && Number.isNaN(row.timeMs);
    if (known.size < HEADER_MIN_NAMES || isFirst) return false;
    throw new ImportFailure(
      `line ${line} names other columns than ${header.length === 0 ? "the rows before it have" : "the first line"}: the rows behind ` +
        "it come from another file. Import the files one by one",
    );
  }

  /** A row that was not read. */
  function refuse(bytes: Buffer, line: number, reason: string): void {
    if (isHeaderAgain(bytes, line)) sink.headerAgain?.(line);
    else if (
      cells.count >= needed &&
      prices.every(({ index }) => isEmpty(cells, index) || NO_VALUE.test(shown(bytes, cells, index)))
    )
      sink.withoutQuote?.(line);
    else sink.malformed?.(line, reason);
  }

  function onLine(bytes: Buffer, from: number, to: number, line: number): void {
    cutCells(cells, bytes, from, to, separator);
    if (headersLeft > 0) {
      headersLeft -= 1;
      header = namesIn(bytes, cells);
      return;
    }
    if (bytes[from] === HASH) return;
    if (isRecorded && cells.count >= needed && !readRecorded(bytes)) {
      if (isHeaderAgain(bytes, line)) sink.headerAgain?.(line);
      else sink.notTaken?.(line);
      return;
    }
    const isCut = cells.count > layout.roles.length && bytes.subarray(from, to).includes(RETURN);
    const reason = isCut ? "it has a line end of another kind (CR) in it" : readLine(bytes);
    if (reason !== null) refuse(bytes, line, reason);
    else if (saysNoQuote()) sink.withoutQuote?.(line);
    else sink.row(row, line);
  }

  return createLineCutter(onLine);
}
