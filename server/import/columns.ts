import { type DecimalMark, numberAt } from "./bytes";
import type { Layout, Role } from "./layout";
import type { ReaderSettings, Row } from "./row";

/** Maximum number of columns of a line that are read. */
const COLUMNS_MAX_COUNT = 64;
/** Maximum number of characters of a bad value that its report shows. */
const SHOWN_MAX_CHARACTERS = 40;

const SPACE = 32;
const QUOTE = 34;

/** The columns of one line, as offsets into its bytes; reused for all lines. */
export interface Cells {
  readonly from: Int32Array;
  readonly to: Int32Array;
  count: number;
}

export function emptyCells(): Cells {
  return { from: new Int32Array(COLUMNS_MAX_COUNT), to: new Int32Array(COLUMNS_MAX_COUNT), count: 0 };
}

/** Finds the columns of bytes[from, to); spaces and quotation marks around a value are dropped, separators in them belong to it. */
export function cutCells(cells: Cells, bytes: Buffer, from: number, to: number, separator: number): void {
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

export function isEmpty(cells: Cells, index: number): boolean {
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
export function shown(bytes: Buffer, cells: Cells, index: number): string {
  return bytes.toString("utf8", cells.from[index], cells.to[index]).slice(0, SHOWN_MAX_CHARACTERS);
}

/** How tools write that a value is not there. */
const NO_VALUE = /^(nan|n\/?a|null|none|-)$/i;

/** Copies columns of a line into the row. Returns the reason when it cannot, else null. */
type Filler = (bytes: Buffer, cells: Cells, row: Row) => string | null;

type Target = Exclude<keyof Row, "timeMs">;
const PRICES = ["bid", "ask", "open", "high", "low", "close"] as const satisfies readonly (Role & Target)[];
const QUANTITIES = ["volume", "tickVolume", "realVolume"] as const satisfies readonly (Role & Target)[];

/** The columns of these roles, by index. */
export function columnsOf<R extends Role>(layout: Layout, roles: readonly R[]): { index: number; role: R }[] {
  return roles.flatMap((role) => {
    const index = layout.roles.indexOf(role);
    return index < 0 ? [] : [{ index, role }];
  });
}

/** Prices above 0, in price units. Rejects an empty price, or keeps the row's value where the layout carries prices. */
export function priceFiller(layout: Layout, { pointDigits }: ReaderSettings): Filler {
  const columns = columnsOf(layout, PRICES);
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
export function quantityFiller(layout: Layout): Filler {
  const columns = columnsOf(layout, QUANTITIES);
  return (bytes, cells, row) => {
    for (const { index, role } of columns) {
      row[role] = numberIn(bytes, cells, index, layout.decimalMark);
      if (!isEmpty(cells, index) && !(row[role] >= 0) && !NO_VALUE.test(shown(bytes, cells, index)))
        return `${role} is not a volume: ${shown(bytes, cells, index)}`;
    }
    return null;
  };
}

/**
 * The spread in price units: its own column or, for quote klines, the smaller spread of their first and last quote. The highs
 * and lows of bid and ask need not come from the same quote, so open and close are the only pairs.
 */
export function spreadFiller(layout: Layout, { pointDigits, spreadDigits }: ReaderSettings): Filler {
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
  if (askOpen < 0 || askClose < 0) return () => null;
  const power = Number(`1e${pointDigits ?? 0}`);
  return (bytes, cells, row) => {
    const first = numberIn(bytes, cells, askOpen, layout.decimalMark) / power - row.open;
    const last = numberIn(bytes, cells, askClose, layout.decimalMark) / power - row.close;
    row.spread = Math.max(0, Math.min(first, last));
    return Number.isNaN(row.spread) ? "ask_open or ask_close is not a price" : null;
  };
}
