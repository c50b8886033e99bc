import { type DecimalMark, numberAt } from "./bytes";

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

/** Columns before the first line. */
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

/** Whether a line has nothing in a column. */
export function isEmpty(cells: Cells, index: number): boolean {
  return index >= cells.count || cells.from[index] === cells.to[index];
}

/** The number in a column, NaN where there is none. */
export function numberIn(bytes: Buffer, cells: Cells, index: number, mark: DecimalMark | undefined): number {
  return index >= cells.count ? Number.NaN : numberAt(bytes, cells.from[index] as number, cells.to[index] as number, mark);
}

/** A value as a report shows it. */
export function shown(bytes: Buffer, cells: Cells, index: number): string {
  return bytes.toString("utf8", cells.from[index], cells.to[index]).slice(0, SHOWN_MAX_CHARACTERS);
}

/** How tools write that a value is not there. */
export const NO_VALUE = /^(nan|#?n\/?a|<na>|null|none|\\n|[-.])$/i;
