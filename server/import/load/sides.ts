import { emptyColumns, type KlineColumns, SIDE_NAMES, SIDES, setRow, unknownSides } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";
import { PRICES_MAX_FACTOR, roundTo } from "#lib/domain/price";
import type { Row } from "#server/import/rows/row";

/** A kline of a file, with its ask and mid prices where it has some, in the order of SIDE_NAMES. */
export interface FileKline extends Kline {
  readonly sides?: readonly number[] | null;
}

/** Makes columns with room for so many klines of a file. @param hasAsks whether the file has columns of asks */
export const emptyKlines = (hasAsks: boolean) => (rows: number) =>
  hasAsks ? { ...emptyColumns(rows), ...unknownSides(rows) } : emptyColumns(rows);

/** Writes a kline of a file into row `at`. */
export function setKline(columns: KlineColumns, at: number, kline: FileKline): void {
  setRow(columns, at, kline);
  const { sides } = kline;
  if (sides) for (const [index, name] of SIDE_NAMES.entries()) columns[name][at] = sides[index] as number;
}

/** The ask and mid prices of a row, rounded as those of quotes are: a mid has one decimal place more. */
export function sidesOfRow(row: Row, digits: number): readonly number[] {
  return SIDE_NAMES.map((name, index) => roundTo(row[name], index < SIDES.ask.length ? digits : digits + 1));
}

/** Why prices that are too far apart are refused. */
export const FAR_APART = `its prices are more than a factor of ${PRICES_MAX_FACTOR} apart: one may have lost its decimal point`;

/** Why prices cannot be those of a kline; null where they can, or are unknown. @param side in words, where it is not the bid */
export function judgeRange(open: number, high: number, low: number, close: number, side = ""): string | null {
  if (Number.isNaN(close)) return null;
  const isSound = high >= low && high >= open && high >= close && low <= open && low <= close;
  if (!isSound) return `${side}open and close are not between ${side}high and ${side}low`;
  return high > low * PRICES_MAX_FACTOR ? FAR_APART : null;
}

/** Why the asks and mids of a row cannot be; null where they can, or are unknown. */
export function judgeSides(row: Row): string | null {
  const far = row.askHigh > row.low * PRICES_MAX_FACTOR ? FAR_APART : null;
  return (
    judgeRange(row.askOpen, row.askHigh, row.askLow, row.askClose, "ask ") ??
    far ??
    judgeRange(row.midOpen, row.midHigh, row.midLow, row.midClose, "mid ")
  );
}

/** Whether an ask of a row is below its bid. In each quote it is not, so neither is it at open and close, nor the highest and lowest one. */
export function isCrossed(row: Row): boolean {
  return row.askOpen < row.open || row.askHigh < row.high || row.askLow < row.low || row.askClose < row.close;
}
