import { emptyColumns, type KlineColumns, setRow } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";
import type { PriceRange } from "#lib/domain/price-ranges";
import type { Period } from "#lib/history/period";
import { emptyTicks, type FileTicks, NO_FILE_TICKS, setTick } from "./file-ticks";
import { growingColumns } from "./growing-columns";
import type { Intervals } from "./interval";

/** Ticks of a day that does not end: a part of the file ends with them. No instrument has as many a day. */
export const PART_MAX_TICKS = 1_000_000;

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

/** Complete klines, in the order of the file, their ticks, and the number of rows of the file up to their end. */
export interface Harvest {
  readonly klines: KlineColumns;
  /** None of a file of klines. */
  readonly ticks: FileTicks;
  readonly rows: number;
}

/** How much of a file makes a part of it. */
export interface PartBounds {
  readonly batchKlines: number;
  readonly batchTicks: number;
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

/**
 * Shared by ticks and klines: counts rows, rejects impossible times, and holds klines, and their ticks, until they are stored.
 * @param unitOf the period of a kline (Unix seconds) that is stored as a whole, if a harvest ends with it
 */
export function createLedger(options: MinutesOptions, unitOf: (time: number) => Period) {
  const counts = emptyCounts();
  const klines = growingColumns(emptyColumns, setRow);
  const ticks = growingColumns(emptyTicks, setTick);
  let safeRows = options.skipRows;
  /** Where the last period of the klines begins. */
  let [unit, begin] = [NO_PERIOD, { klines: 0, ticks: 0, rows: safeRows }];
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
    put(kline: Kline, rows: number, itsTicks: FileTicks = NO_FILE_TICKS): void {
      if (rows <= options.skipRows) return;
      if (!options.intervals.isOver(kline.time, options.nowMs)) {
        counts.unfinished += 1;
        return;
      }
      if (!(kline.time >= unit.from && kline.time < unit.to)) {
        unit = unitOf(kline.time);
        begin = { klines: klines.rows(), ticks: ticks.rows(), rows: safeRows };
      }
      klines.add(kline);
      ticks.append(itsTicks);
      counts.klines += 1;
    },
    settle(rows: number): void {
      safeRows = Math.max(safeRows, rows);
    },
    /** Whether a part of the file can be taken: a day of ticks is not cut, unless it does not end. */
    isFull({ batchKlines, batchTicks }: PartBounds): boolean {
      const waiting = ticks.rows();
      return klines.rows() >= batchKlines || waiting >= (begin.klines > 0 ? batchTicks : PART_MAX_TICKS);
    },
    /** All complete klines, or those before the last period where there are some. */
    take(end: "file" | "period"): Harvest {
      const all = { klines: klines.rows(), ticks: ticks.rows(), rows: safeRows };
      const taken = end === "period" && begin.klines > 0 ? begin : all;
      begin = { klines: 0, ticks: 0, rows: taken.rows };
      return { klines: klines.take(taken.klines), ticks: ticks.take(taken.ticks), rows: taken.rows };
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
