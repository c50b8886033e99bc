import {
  DATA_FROZEN_MIN_MINUTES,
  DATA_JUMP_LASTING_COUNT,
  DATA_JUMP_MIN_RATIO,
  DATA_SPIKE_MIN_RATIO,
  DATA_SUSPECTS_PER_YEAR_COUNT,
  type DataSuspects,
} from "#lib/contract/portal-data";
import type { Calendar } from "#lib/domain/calendar";
import { type KlineColumns, klineAt } from "#lib/domain/columns";
import { medianOf } from "#lib/domain/price";
import { isoOf, yearSpan } from "#lib/market/data-reads";
import { DAY_S, MINUTE_S } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { readRange } from "#server/store/history/minutes";

/** Frozen runs that are looked up in the calendar: those in closed hours are left out. */
const FROZEN_READ_COUNT = 10 * DATA_SUSPECTS_PER_YEAR_COUNT;
/** Jumps whose levels are compared. */
const FAR_READ_COUNT = 10 * DATA_SUSPECTS_PER_YEAR_COUNT;

/** A row, and by how many mean ranges of its day it is off. */
interface Off {
  readonly row: number;
  readonly ratio: number;
}

/** Frozen rows, both included. */
interface Run {
  readonly first: number;
  readonly last: number;
}

const worstFirst = (a: Off, b: Off) => b.ratio - a.ratio || a.row - b.row;

/** For each row, the mean of its UTC day of a measure of rows, and at least `least`. */
function usualOf({ time }: KlineColumns, measure: (row: number) => number, firstRow: number, least: number): Float64Array {
  const usual = new Float64Array(time.length);
  for (let row = firstRow; row < time.length; ) {
    const nextDay = (Math.floor((time[row] as number) / DAY_S) + 1) * DAY_S;
    let sum = 0;
    let end = row;
    for (; end < time.length && (time[end] as number) < nextDay; end += 1) sum += measure(end);
    usual.fill(Math.max(sum / (end - row), least), row, end);
    row = end;
  }
  return usual;
}

/** Klines beyond the close before and the open after, in mean ranges of their UTC day. */
function spikesOf(minutes: KlineColumns, leastRange: number): Off[] {
  const { time, open, high, low, close } = minutes;
  const usual = usualOf(minutes, (row) => (high[row] as number) - (low[row] as number), 0, leastRange);
  const found: Off[] = [];
  for (let row = 1; row < time.length - 1; row += 1) {
    const [before, after, size] = [close[row - 1] as number, open[row + 1] as number, usual[row] as number];
    const above = (high[row] as number) - Math.max(before, after);
    const beyond = Math.max(above, Math.min(before, after) - (low[row] as number));
    if (beyond >= DATA_SPIKE_MIN_RATIO * size) found.push({ row, ratio: beyond / size });
  }
  return found.sort(worstFirst).slice(0, DATA_SUSPECTS_PER_YEAR_COUNT);
}

/** Runs of minutes with the same prices, without a missing one, longest first. */
function frozenOf({ time, open, high, low, close }: KlineColumns): Run[] {
  const isSame = (row: number) =>
    time[row] === (time[row - 1] as number) + MINUTE_S &&
    open[row] === open[row - 1] &&
    high[row] === high[row - 1] &&
    low[row] === low[row - 1] &&
    close[row] === close[row - 1];
  const runs: Run[] = [];
  for (let first = 0; first < time.length; ) {
    let last = first;
    while (last + 1 < time.length && isSame(last + 1)) last += 1;
    if (last - first + 1 >= DATA_FROZEN_MIN_MINUTES) runs.push({ first, last });
    first = last + 1;
  }
  const length = ({ first, last }: Run) => last - first;
  return runs.sort((a, b) => length(b) - length(a) || a.first - b.first);
}

/** Klines that open far from the close before, in mean ranges of their UTC day, and whose prices stay there. */
function jumpsOf(minutes: KlineColumns, leastRange: number): Off[] {
  const { time, open, high, low, close } = minutes;
  const before = (row: number) => close[row - 1] as number;
  const range = (row: number) => Math.max(high[row] as number, before(row)) - Math.min(low[row] as number, before(row));
  const usual = usualOf(minutes, range, 1, leastRange);
  const far: Off[] = [];
  for (let row = 1; row < time.length; row += 1) {
    const [size, gap] = [usual[row] as number, Math.abs((open[row] as number) - before(row))];
    const elapsed = Math.floor(((time[row] as number) - (time[row - 1] as number)) / MINUTE_S);
    if (gap >= DATA_JUMP_MIN_RATIO * size * Math.sqrt(elapsed)) far.push({ row, ratio: gap / size });
  }
  const lasts = ({ row }: Off) => {
    const earlier = medianOf(close.slice(Math.max(0, row - DATA_JUMP_LASTING_COUNT), row));
    const later = medianOf(close.slice(row, row + DATA_JUMP_LASTING_COUNT));
    return (later - earlier) / ((open[row] as number) - before(row)) >= 0.5;
  };
  return far.sort(worstFirst).slice(0, FAR_READ_COUNT).filter(lasts).slice(0, DATA_SUSPECTS_PER_YEAR_COUNT);
}

/** Reads the suspicious places of a UTC year of a ticker. */
export async function readSuspects(
  db: Pick<Database, "pool" | "segments">,
  { ticker, digits }: { readonly ticker: string; readonly digits: number },
  year: number,
  calendar: Pick<Calendar, "sessionAt"> | undefined,
): Promise<DataSuspects> {
  const { from, to } = yearSpan(year);
  const { rows: minutes } = await readRange(db.pool, db.segments, { ticker, timeframe: "M1", from, to });
  const smallestStep = 10 ** -digits;
  const kline = (row: number) => klineAt(minutes, row, ticker, "M1");
  const at = (row: number) => isoOf(minutes.time[row] as number);
  const isClosed = ({ first }: Run) => calendar?.sessionAt((minutes.time[first] as number) * 1_000).state === "closed";
  return {
    year,
    spikes: spikesOf(minutes, smallestStep).map(({ row, ratio }) => {
      const { open, high, low, close } = kline(row);
      return { at: at(row), open, high, low, close, before: kline(row - 1).close, after: kline(row + 1).open, ratio };
    }),
    frozen: frozenOf(minutes)
      .slice(0, FROZEN_READ_COUNT)
      .filter((run) => !isClosed(run))
      .slice(0, DATA_SUSPECTS_PER_YEAR_COUNT)
      .map(({ first, last }) => ({ from: at(first), to: at(last), rows: last - first + 1, close: kline(first).close })),
    jumps: jumpsOf(minutes, smallestStep).map(({ row, ratio }) => ({
      at: at(row),
      before: kline(row - 1).close,
      open: kline(row).open,
      ratio,
    })),
  };
}
