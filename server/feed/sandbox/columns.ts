/**
 * Klines of consecutive intervals, one column per field; prices and spreads in whole points (exact integers).
 * A row whose count is 0 has no kline.
 */
export interface Columns {
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  /** Smallest ask - bid. */
  readonly spread: Float64Array;
  /** Number of ticks. */
  readonly count: Float64Array;
}

/** A kline being aggregated from shorter ones, in points; `count` is 0 while it is empty. */
export interface Sum {
  open: number;
  high: number;
  low: number;
  close: number;
  spread: number;
  count: number;
}

/** Bytes of a row. */
export const ROW_BYTES = 6 * Float64Array.BYTES_PER_ELEMENT;

/** Columns of `length` empty rows, in one block of memory. */
export function makeColumns(length: number): Columns {
  return columnsOf(new Float64Array(length * 6));
}

/** The columns in a block of memory, which `bytesOf` returns again. */
export function columnsOf(all: Float64Array): Columns {
  const length = all.length / 6;
  const column = (index: number) => all.subarray(index * length, (index + 1) * length);
  return { open: column(0), high: column(1), low: column(2), close: column(3), spread: column(4), count: column(5) };
}

/** The block of memory that holds the columns. */
export function bytesOf(columns: Columns): ArrayBuffer {
  return columns.open.buffer as ArrayBuffer;
}

/** Adds rows `from` … `to` (excluded) to the sum; they must be later than its contents. */
export function addRows(sum: Sum, rows: Columns, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const count = rows.count[i] ?? 0;
    if (count === 0) continue;
    const [high, low, spread] = [rows.high[i] ?? 0, rows.low[i] ?? 0, rows.spread[i] ?? 0];
    if (sum.count === 0) {
      sum.open = rows.open[i] ?? 0;
      sum.high = high;
      sum.low = low;
      sum.spread = spread;
    } else {
      if (high > sum.high) sum.high = high;
      if (low < sum.low) sum.low = low;
      if (spread < sum.spread) sum.spread = spread;
    }
    sum.close = rows.close[i] ?? 0;
    sum.count += count;
  }
}

/** Writes the sum to row `index`. */
export function setRow(rows: Columns, index: number, sum: Sum): void {
  rows.open[index] = sum.open;
  rows.high[index] = sum.high;
  rows.low[index] = sum.low;
  rows.close[index] = sum.close;
  rows.spread[index] = sum.spread;
  rows.count[index] = sum.count;
}

/** An empty sum. */
export function emptySum(): Sum {
  return { open: 0, high: 0, low: 0, close: 0, spread: 0, count: 0 };
}

/** Aggregates every `size` rows into one of `target`, from row `at` on; the length must be a multiple of it. */
export function condense(rows: Columns, size: number, target: Columns, at: number): void {
  const length = rows.count.length / size;
  for (let i = 0; i < length; i++) {
    const sum = emptySum();
    addRows(sum, rows, i * size, (i + 1) * size);
    setRow(target, at + i, sum);
  }
}
