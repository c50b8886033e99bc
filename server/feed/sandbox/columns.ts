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

/** Columns of `length` empty rows, in one block of memory. */
export function makeColumns(length: number): Columns {
  const all = new Float64Array(length * 6);
  const column = (index: number) => all.subarray(index * length, (index + 1) * length);
  return { open: column(0), high: column(1), low: column(2), close: column(3), spread: column(4), count: column(5) };
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

/** An empty sum. */
export function emptySum(): Sum {
  return { open: 0, high: 0, low: 0, close: 0, spread: 0, count: 0 };
}

/** Aggregates every `size` rows into one; the length must be a multiple of it. */
export function condense(rows: Columns, size: number): Columns {
  const length = rows.count.length / size;
  const made = makeColumns(length);
  for (let i = 0; i < length; i++) {
    const sum = emptySum();
    addRows(sum, rows, i * size, (i + 1) * size);
    made.open[i] = sum.open;
    made.high[i] = sum.high;
    made.low[i] = sum.low;
    made.close[i] = sum.close;
    made.spread[i] = sum.spread;
    made.count[i] = sum.count;
  }
  return made;
}
