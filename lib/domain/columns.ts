import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "./kline";
import { addVolumes } from "./price";
import type { TradingAlignment } from "./timeframe";

/** The columns of ask and mid prices, in the order of open, high, low and close. */
export const SIDES = {
  ask: ["askOpen", "askHigh", "askLow", "askClose"],
  mid: ["midOpen", "midHigh", "midLow", "midClose"],
} as const;
export const SIDE_NAMES = [...SIDES.ask, ...SIDES.mid] as const;
export type SideColumns = Readonly<Record<(typeof SIDE_NAMES)[number], Float64Array>>;
/** A price side that only some klines have. */
export type Side = keyof typeof SIDES;

/**
 * Klines of one series as columns, one array for each value. Rows ascend by `time`. Times are Unix seconds, prices bid.
 * What is unknown is NaN: a real volume or a spread that the source did not have. Ask and mid prices are known of klines that were made of
 * ticks, asks alone of those whose source has them; where they are of no row, their columns are empty.
 */
export interface KlineColumns extends SideColumns {
  readonly time: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly tickVolume: Float64Array;
  readonly realVolume: Float64Array;
  readonly spread: Float64Array;
}

/** The columns of a kline, in their order. */
export const COLUMN_NAMES = ["time", "open", "high", "low", "close", "tickVolume", "realVolume", "spread"] as const;

/** The columns of ask and mid prices of klines that have none. */
export const NO_SIDES = unknownSides(0);

/** Whether two have the same rows: the same values in each column, ask and mid prices too. */
export function haveSameRows(a: KlineColumns, b: KlineColumns): boolean {
  return [...COLUMN_NAMES, ...SIDE_NAMES].every((name) => {
    const [one, other] = [a[name], b[name]];
    if (one.length !== other.length) return false;
    for (let row = 0; row < one.length; row += 1) if (!Object.is(one[row], other[row])) return false;
    return true;
  });
}

/** Columns with room for so many rows, all 0, without ask and mid prices. */
export function emptyColumns(rows: number): KlineColumns {
  const column = () => new Float64Array(rows);
  return {
    time: column(),
    open: column(),
    high: column(),
    low: column(),
    close: column(),
    tickVolume: column(),
    realVolume: column(),
    spread: column(),
    ...NO_SIDES,
  };
}

/** Writes a kline into row `at`. */
export function setRow(columns: KlineColumns, at: number, kline: Omit<Kline, "type" | "ticker" | "timeframe">): void {
  columns.time[at] = kline.time;
  columns.open[at] = kline.open;
  columns.high[at] = kline.high;
  columns.low[at] = kline.low;
  columns.close[at] = kline.close;
  columns.tickVolume[at] = kline.tick_volume;
  columns.realVolume[at] = kline.real_volume ?? Number.NaN;
  columns.spread[at] = kline.spread ?? Number.NaN;
}

/** Klines as columns, in their order. */
export function columnsOf(klines: readonly Kline[]): KlineColumns {
  const columns = emptyColumns(klines.length);
  for (const [at, kline] of klines.entries()) setRow(columns, at, kline);
  return columns;
}

const known = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** Row `at` as a kline. */
export function klineAt(columns: KlineColumns, at: number, ticker: string, timeframe: Timeframe): Kline {
  return {
    type: "kline",
    ticker,
    timeframe,
    time: columns.time[at] as number,
    open: columns.open[at] as number,
    high: columns.high[at] as number,
    low: columns.low[at] as number,
    close: columns.close[at] as number,
    tick_volume: columns.tickVolume[at] as number,
    real_volume: known(columns.realVolume[at] as number),
    spread: known(columns.spread[at] as number),
  };
}

/** The first row at or after an instant (Unix seconds); the number of rows where there is none. */
export function rowFrom(time: Float64Array, from: number): number {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((time[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The rows of [from, to) by their numbers, without a copy. */
export function rowsBetween<Columns extends object>(columns: Columns, from: number, to: number): Columns {
  const parts = Object.entries(columns).map(([name, column]) => [name, (column as Float64Array).subarray(from, to)]);
  return Object.fromEntries(parts) as Columns;
}

/** Rows by their numbers, in this order. */
export function pickRows<Columns extends object>(columns: Columns, rows: readonly number[]): Columns {
  const pick = (column: Float64Array) => {
    const picked = column.slice(0, rows.length);
    for (let at = 0; at < rows.length; at += 1) picked[at] = column[rows[at] as number] as number;
    return picked;
  };
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, pick(column)])) as Columns;
}

/** Rows by time; those of one time stay in their order. */
export function ascending<Columns extends Pick<KlineColumns, "time">>(columns: Columns): Columns {
  const { time } = columns;
  let row = 1;
  while (row < time.length && (time[row] as number) >= (time[row - 1] as number)) row += 1;
  if (row >= time.length) return columns;
  const order = [...time.keys()].sort((a, b) => (time[a] as number) - (time[b] as number));
  return pickRows(columns, order);
}

/** Columns in one, in their order. */
export function joinColumns(parts: readonly KlineColumns[]): KlineColumns {
  const filled = parts.filter(({ time }) => time.length > 0);
  if (filled.length === 1) return filled[0] as KlineColumns;
  const joined = emptyColumns(filled.reduce((sum, { time }) => sum + time.length, 0));
  let at = 0;
  for (const part of filled) {
    for (const name of COLUMN_NAMES) joined[name].set(part[name], at);
    at += part.time.length;
  }
  return { ...joined, ...joinSides(filled, at) };
}

/** The ask and mid prices of parts in one, each after the one before. */
export function joinSides(parts: readonly KlineColumns[], rows: number): SideColumns {
  if (parts.every(({ askClose }) => askClose.length === 0)) return NO_SIDES;
  const joined = unknownSides(rows);
  let at = 0;
  for (const part of parts) {
    for (const name of SIDE_NAMES) joined[name].set(part[name], at);
    at += part.time.length;
  }
  return joined;
}

/** The klines of a side: those that have it, with its prices in place of the bid. Volumes and spreads stay. */
export function sideOf(columns: KlineColumns, side: Side): KlineColumns {
  const [open, high, low, close] = SIDES[side].map((name) => columns[name]) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  if (close.length === 0) return emptyColumns(0);
  const known = [...close.keys()].filter((row) => !Number.isNaN(close[row]));
  const prices = pickRows({ open, high, low, close }, known);
  return { ...pickRows(columns, known), ...prices, ...NO_SIDES };
}

/** The rows of [from, to), Unix seconds, without a copy. */
export function cutColumns<Columns extends Pick<KlineColumns, "time">>(columns: Columns, from: number, to: number): Columns {
  return rowsBetween(columns, rowFrom(columns.time, from), rowFrom(columns.time, to));
}

/** The columns of ask and mid prices of so many rows, of which none is known. */
export function unknownSides(rows: number): SideColumns {
  const columns = SIDE_NAMES.map((name) => [name, new Float64Array(rows).fill(Number.NaN)] as const);
  return Object.fromEntries(columns) as SideColumns;
}

/** Adds the ask and mid prices of a row to those of a kline that it is a part of. Where one has none, the kline has none. */
function addSides(made: KlineColumns, at: number, columns: KlineColumns, row: number): void {
  for (const [open, high, low, close] of [SIDES.ask, SIDES.mid]) {
    if (Number.isNaN(made[close][at]) || Number.isNaN(columns[close][row])) {
      for (const name of [open, high, low, close]) made[name][at] = Number.NaN;
      continue;
    }
    made[high][at] = Math.max(made[high][at] as number, columns[high][row] as number);
    made[low][at] = Math.min(made[low][at] as number, columns[low][row] as number);
    made[close][at] = columns[close][row] as number;
  }
}

/**
 * Aggregates klines of a shorter timeframe to those of a longer one, as mergeKlines does; intervals without rows have none. MN1 needs D1
 * or shorter: a week belongs to two months. A kline has ask or mid prices only where all of its rows have them: prices of a part of
 * an interval beside bids of all of it would show a spread that never was.
 */
export function aggregateColumns(columns: KlineColumns, timeframe: Timeframe, alignment: TradingAlignment): KlineColumns {
  const { time, high, low, close, tickVolume, realVolume, spread } = columns;
  const made = { ...emptyColumns(time.length), ...(columns.askClose.length > 0 && unknownSides(time.length)) };
  let rows = 0;
  let endS = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < time.length; row += 1) {
    const at = rows - 1;
    if ((time[row] as number) >= endS) {
      endS = alignment.nextOpenTime(timeframe, time[row] as number);
      made.time[rows] = alignment.openTime(timeframe, time[row] as number);
      for (const name of COLUMN_NAMES) if (name !== "time") made[name][rows] = columns[name][row] as number;
      for (const name of SIDE_NAMES) made[name][rows] = columns[name][row] as number;
      rows += 1;
      continue;
    }
    if (made.askClose.length > 0) addSides(made, at, columns, row);
    if ((high[row] as number) > (made.high[at] as number)) made.high[at] = high[row] as number;
    if ((low[row] as number) < (made.low[at] as number)) made.low[at] = low[row] as number;
    made.close[at] = close[row] as number;
    made.tickVolume[at] = (made.tickVolume[at] as number) + (tickVolume[row] as number);
    const volume = realVolume[row] as number;
    if (!Number.isNaN(volume)) made.realVolume[at] = addVolumes(known(made.realVolume[at] as number), volume) as number;
    const least = made.spread[at] as number;
    if (Number.isNaN(least) || (spread[row] as number) < least) made.spread[at] = spread[row] as number;
  }
  return rowsBetween(made, 0, rows);
}
