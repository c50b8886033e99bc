import { COLUMN_NAMES, emptyColumns, type KlineColumns, rowsBetween, setRow } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";
import type { PriceRange } from "#lib/domain/price-ranges";
import { type Period, periodOf } from "#lib/history/period";
import type { Intervals } from "./interval";

/** Klines that the first columns have room for. */
const ROOM_KLINES = 65_536;
const NO_PERIOD: Period = { from: Number.NaN, to: Number.NaN };

/** No instrument has quotes from before. */
const FIRST_MS = Date.UTC(1971, 0, 1);

/** Why klines that open at other times than ours are refused. */
export const MISALIGNED = "klines that open at other times than those of Spotwire";

/** Why a tick with bid above ask is refused. */
export const CROSSED = "bid above ask (crossed quote)";

/** Counts of what happened to the rows of a file. */
export interface Counts {
  /** All rows, valid or not. */
  rows: number;
  /** Klines produced. */
  klines: number;
  malformed: number;
  /** Klines without a quote: volume 0 and a single price. Skipped. */
  fillers: number;
  /** Klines with the time of an earlier one; the later row counts. */
  repeated: number;
  /** Rows older than the one before. Ticks of one minute are sorted, klines stored at their time. */
  outOfOrder: number;
  /** Ticks with bid above ask. Refused like pushed ones, but not malformed: some brokers record many. */
  crossed: number;
  /** Klines that open at other times than ours. Refused, but not malformed. */
  misaligned: number;
  /** Rows without bid and ask. */
  withoutQuote: number;
  /** Recorded ticks that the service did not take. */
  notTaken: number;
  /** Klines that are not over, which the running service may still write. Skipped. */
  unfinished: number;
  /** Times of the first and last valid row, Unix milliseconds; NaN when there is none. */
  firstMs: number;
  lastMs: number;
}

/** Complete klines, in the order of the file, and the number of rows of the file up to their end. */
export interface Harvest {
  readonly klines: KlineColumns;
  readonly rows: number;
}

/** Rows of columns in memory of their own. */
function copyOf(columns: KlineColumns, from: number, to: number, room: number): KlineColumns {
  const copy = emptyColumns(room);
  const part = rowsBetween(columns, from, to);
  for (const name of COLUMN_NAMES) copy[name].set(part[name]);
  return copy;
}

export interface MinutesOptions {
  readonly ticker: string;
  readonly intervals: Intervals;
  /** Decimal places prices are rounded to. */
  readonly digits: number;
  /** Prices that the instrument can have; null where they are not known, or do not count. */
  readonly range: PriceRange | null;
  /** True when a volume of 0 means that there was no quote. */
  readonly dropsFillers: boolean;
  /** Rows at the beginning that an earlier run stored; only their times are read. */
  readonly skipRows: number;
  readonly nowMs: number;
  onMalformed(line: number, reason: string): void;
}

function emptyCounts(): Counts {
  return {
    rows: 0,
    klines: 0,
    malformed: 0,
    fillers: 0,
    repeated: 0,
    outOfOrder: 0,
    crossed: 0,
    misaligned: 0,
    withoutQuote: 0,
    notTaken: 0,
    unfinished: 0,
    firstMs: Number.NaN,
    lastMs: Number.NaN,
  };
}

/** Shared by ticks and klines: counts rows, rejects impossible times, and holds klines until they are stored. */
export function createLedger(options: MinutesOptions) {
  const counts = emptyCounts();
  let columns = emptyColumns(ROOM_KLINES);
  let filled = 0;
  let safeRows = options.skipRows;
  /** Where the last period of the klines begins: a file of a period is written once if a harvest ends with it. */
  let [period, begin] = [NO_PERIOD, { at: 0, rows: safeRows }];
  const malformed = (line: number, reason: string): void => {
    counts.malformed += 1;
    options.onMalformed(line, reason);
  };
  return {
    counts,
    refuse: malformed,
    /** Null when the time is possible. */
    doubt(timeMs: number): string | null {
      if (timeMs < FIRST_MS) return `its time is before ${new Date(FIRST_MS).getUTCFullYear()}`;
      if (timeMs > options.nowMs) return `its time, ${new Date(timeMs).toISOString()}, is in the future`;
      return null;
    },
    note(timeMs: number): void {
      if (!(counts.firstMs <= timeMs)) counts.firstMs = timeMs;
      if (!(counts.lastMs >= timeMs)) counts.lastMs = timeMs;
    },
    put(kline: Kline, rows: number): void {
      if (rows <= options.skipRows) return;
      if (!options.intervals.isOver(kline.time, options.nowMs)) {
        counts.unfinished += 1;
        return;
      }
      if (!(kline.time >= period.from && kline.time < period.to)) {
        period = periodOf(kline.timeframe, kline.time);
        begin = { at: filled, rows: safeRows };
      }
      if (filled === columns.time.length) columns = copyOf(columns, 0, filled, 2 * filled);
      setRow(columns, filled, kline);
      filled += 1;
      counts.klines += 1;
    },
    settle(rows: number): void {
      safeRows = Math.max(safeRows, rows);
    },
    pending: () => filled,
    /** All complete klines, or those before the last period where there are some. */
    take(end: "file" | "period"): Harvest {
      const { at, rows } = end === "period" && begin.at > 0 ? begin : { at: filled, rows: safeRows };
      const klines = copyOf(columns, 0, at, at);
      for (const name of COLUMN_NAMES) columns[name].copyWithin(0, at, filled);
      filled -= at;
      begin = { at: 0, rows };
      return { klines, rows };
    },
    sink: {
      malformed(line: number, reason: string) {
        counts.rows += 1;
        malformed(line, reason);
      },
      withoutQuote() {
        counts.rows += 1;
        counts.withoutQuote += 1;
      },
      notTaken() {
        counts.rows += 1;
        counts.notTaken += 1;
      },
    },
  };
}
