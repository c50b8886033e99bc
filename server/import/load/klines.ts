import { ascending, type KlineColumns } from "#lib/domain/columns";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { type Period, periodOf } from "#lib/domain/period";
import { PRICES_MAX_FACTOR, roundTo } from "#lib/domain/price";
import type { PriceRange } from "#lib/domain/price-ranges";
import { toQuote } from "#lib/domain/quote";
import { judgePrices } from "#lib/domain/tick";
import { sortTicks, TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import { DAY_S, MINUTE_MS, SECOND_MS } from "#lib/units";
import { countText } from "#server/cli/words";
import { ImportFailure } from "#server/import/failure";
import { isFiller, type Row, type RowKind } from "#server/import/rows/row";
import type { Intervals } from "#server/import/survey/timeframe";
import { growingColumns } from "./growing";
import { emptyKlines, FAR_APART, type FileKline, isCrossed, judgeRange, judgeSides, setKline, sidesOfRow } from "./sides";

/** Ticks of a day that does not end: a part of the file ends with them. No instrument has as many a day. */
export const PART_MAX_TICKS = 1_000_000;

const NO_PERIOD: Period = { from: Number.NaN, to: Number.NaN };

/** No instrument has quotes from before. */
const FIRST_MS = Date.UTC(1971, 0, 1);

/** Why klines that open at other times than ours are refused. */
export const MISALIGNED = "klines that open at other times than those of Spotwire";

/** Why a tick or a kline with bid above ask is refused. */
export const CROSSED = "bid above ask (crossed quote)";

const NO_COUNTS = {
  /** All rows, valid or not. */
  rows: 0,
  /** Klines produced. */
  klines: 0,
  malformed: 0,
  /** Klines without a quote: volume 0 and a single price. Skipped. */
  fillers: 0,
  /** Klines with the time of an earlier one; the later row counts. */
  repeated: 0,
  /** Rows older than the one before. Ticks of one minute are sorted, klines stored at their time. */
  outOfOrder: 0,
  /** Ticks and klines with bid above ask. Refused like pushed ones, but not malformed: some brokers record many. */
  crossed: 0,
  /** Klines that open at other times than ours. Refused, but not malformed. */
  misaligned: 0,
  /** Rows without a price. */
  withoutQuote: 0,
  /** The header line again. */
  headers: 0,
  /** Recorded ticks that the service did not take. */
  notTaken: 0,
  /** Klines that are not over, which the running service may still write. Skipped. */
  unfinished: 0,
  /** Times of the first and last valid row, Unix milliseconds; NaN when there is none. */
  firstMs: Number.NaN,
  lastMs: Number.NaN,
};

/** Counts of what happened to the rows of a file. */
export type Counts = typeof NO_COUNTS;

/** Complete klines, in the order of the file, their ticks, and the number of rows of the file up to their end. */
export interface KlinePart {
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
  /** Whether klines have columns of asks. */
  readonly hasAsks: boolean;
  /** Decimal places prices are rounded to. */
  readonly digits: number;
  /** Prices that the instrument can have; null where they are not known, or do not count. */
  readonly range: PriceRange | null;
  /** True when a volume of 0 means that there was no quote. */
  readonly dropsFillers: boolean;
  /** Rows at the beginning that an earlier run stored; only their times are read. */
  readonly skipRows: number;
  /** True for a file that begins with its newest row. */
  readonly newestFirst: boolean;
  readonly nowMs: number;
  onMalformed(line: number, reason: string): void;
  /** A kline that opens at another time than ours. */
  onMisaligned(line: number, timeMs: number): void;
}

/** Ticks of a file that make its klines, ascending by time: all of one source, and all taken. An unknown volume is NaN. */
type FileTicks = Pick<TickColumns, "time" | "bid" | "ask" | "volume">;

/** Columns with room for so many ticks, all 0. */
function emptyTicks(rows: number): FileTicks {
  const column = () => new Float64Array(rows);
  return { time: column(), bid: column(), ask: column(), volume: column() };
}

/** What a file of klines has. */
const NO_FILE_TICKS = emptyTicks(0);

/** Writes a row of a file into row `at`. */
function setTick(ticks: FileTicks, at: number, { timeMs, bid, ask, volume }: Row): void {
  ticks.time[at] = timeMs;
  ticks.bid[at] = bid;
  ticks.ask[at] = ask;
  ticks.volume[at] = volume;
}

/** The ticks as they are stored, ascending by time. @param format the id of the format of their file */
export function storedTicks(ticks: FileTicks, format: string): TickColumns {
  const rows = ticks.time.length;
  return sortTicks({
    ...ticks,
    received: new Float64Array(rows).fill(Number.NaN),
    source: new Array<string>(rows).fill(format),
    outcome: new Array<string>(rows).fill(TAKEN),
  });
}

/**
 * Shared by ticks and klines: counts rows, rejects impossible times, and holds klines, and their ticks, until they are stored.
 * @param unitOf the period of a kline (Unix seconds) that is stored as a whole, if a part ends with it
 */
function createQueue(options: MinutesOptions, unitOf: (time: number) => Period) {
  const counts: Counts = { ...NO_COUNTS };
  const klines = growingColumns(emptyKlines(options.hasAsks), setKline);
  const ticks = growingColumns(emptyTicks, setTick);
  let safeRows = options.skipRows;
  /** Where the last period of the klines begins. */
  let [unit, begin] = [NO_PERIOD, { klines: 0, ticks: 0, rows: safeRows }];
  const malformed = (line: number, reason: string): void => {
    counts.malformed += 1;
    options.onMalformed(line, reason);
  };
  return {
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
    put(kline: FileKline, rows: number, itsTicks: FileTicks = NO_FILE_TICKS): void {
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
    output: {
      counts,
      /** Whether a part of the file can be taken: a day of ticks is not cut, unless it does not end. */
      isFull({ batchKlines, batchTicks }: PartBounds): boolean {
        const waiting = ticks.rows();
        return klines.rows() >= batchKlines || waiting >= (begin.klines > 0 ? batchTicks : PART_MAX_TICKS);
      },
      /** All complete klines, or those before the last period where there are some. */
      take(end: "file" | "period"): KlinePart {
        const all = { klines: klines.rows(), ticks: ticks.rows(), rows: safeRows };
        const taken = end === "period" && begin.klines > 0 ? begin : all;
        begin = { klines: 0, ticks: 0, rows: taken.rows };
        return { klines: klines.take(taken.klines), ticks: ticks.take(taken.ticks), rows: taken.rows };
      },
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
      headerAgain() {
        counts.rows += 1;
        counts.headers += 1;
      },
      notTaken() {
        counts.rows += 1;
        counts.notTaken += 1;
      },
    },
  };
}

/** Rows one after the other that can be strays. */
const STRAYS_MAX_ROWS = 10;
const STRAY = "its prices are not those of the instrument, as those of the row before are";

/**
 * Finds rows whose prices the instrument cannot have, after rows whose prices it can: a decimal point that is lost in all of them.
 * Where none of many rows fits, they are of another instrument, and the check of whole files refuses them.
 */
function createStrayJudge(range: PriceRange | null): (low: number, high: number) => boolean {
  let fitted = false;
  let strays = 0;
  return (low, high) => {
    const fits = range === null || (low >= range.low && high <= range.high);
    const isStray = !fits && fitted && strays < STRAYS_MAX_ROWS;
    strays = isStray ? strays + 1 : 0;
    if (!isStray) fitted = fits;
    return isStray;
  };
}

function klinesOf(options: MinutesOptions) {
  const { ticker, digits, dropsFillers, intervals } = options;
  const { timeframe } = intervals;
  const queue = createQueue(options, (time) => periodOf(timeframe, time));
  const { counts } = queue.output;
  const isStray = createStrayJudge(options.range);
  let lastMs = Number.NEGATIVE_INFINITY;

  function judge(row: Row): string | null {
    if (timeframe === "M1" && row.timeMs % MINUTE_MS !== 0) return "its time is not the start of a minute";
    const unsound = judgeRange(row.open, row.high, row.low, row.close) ?? judgeSides(row);
    if (unsound !== null) return unsound;
    if (row.tickVolume % 1 > 0)
      return "its number of quotes is not a whole number: if it is an amount, name it real_volume, or set --volume real";
    return isStray(row.low, row.high) ? STRAY : queue.doubt(row.timeMs);
  }

  function toKline(row: Row, time: number): FileKline {
    return {
      type: "kline",
      ticker,
      timeframe,
      time,
      open: roundTo(row.open, digits),
      high: roundTo(row.high, digits),
      low: roundTo(row.low, digits),
      close: roundTo(row.close, digits),
      tick_volume: Number.isNaN(row.tickVolume) ? 0 : row.tickVolume,
      real_volume: Number.isNaN(row.realVolume) ? null : row.realVolume,
      spread: Number.isNaN(row.spread) ? null : roundTo(row.spread, digits + 1),
      sides: Number.isNaN(row.askClose) ? null : sidesOfRow(row, digits),
    };
  }

  function onRow(row: Row, line: number): void {
    counts.rows += 1;
    if (isCrossed(row)) {
      counts.crossed += 1;
      return;
    }
    const reason = judge(row);
    if (reason !== null) {
      queue.refuse(line, reason);
      return;
    }
    const openS = intervals.openOf(row.timeMs);
    if (dropsFillers && isFiller(row)) counts.fillers += 1;
    else if (openS === null) {
      counts.misaligned += 1;
      options.onMisaligned(line, row.timeMs);
    } else {
      if (row.timeMs === lastMs) counts.repeated += 1;
      else if (row.timeMs < lastMs) counts.outOfOrder += 1;
      lastMs = row.timeMs;
      queue.note(row.timeMs);
      queue.put(toKline(row, openS), counts.rows);
    }
    queue.settle(counts.rows);
  }

  return { ...queue.output, sink: { row: onRow, ...queue.sink }, finish: () => queue.settle(counts.rows) };
}

/** The UTC day of an instant, Unix seconds. */
function dayOf(time: number) {
  const from = Math.floor(time / DAY_S) * DAY_S;
  return { from, to: from + DAY_S };
}

const LATE = "its time goes back past a minute that is already complete";
/** Late ticks one after the other that can be strays. */
const LATE_MAX_ROWS = 10;

/**
 * Tells late ticks, which are refused one by one, from parts of a file that are in another order, as days that come newest first with
 * ticks that come oldest first: to store some of them and to refuse the rest would be a file with holes.
 */
function createOrderWatch() {
  let rows = 0;
  let firstMs = Number.NaN;
  /** @throws ImportFailure when so many ticks are late, or several minutes of them */
  return (isLate: boolean, inMinuteMs: number, minuteMs: number, line: number): void => {
    if (!isLate) {
      rows = 0;
      return;
    }
    if (rows === 0) firstMs = inMinuteMs;
    rows += 1;
    if (rows <= LATE_MAX_ROWS && inMinuteMs === firstMs) return;
    throw new ImportFailure(
      `its ticks are not in one order: line ${line} has ${new Date(inMinuteMs).toISOString()} after ${new Date(minuteMs).toISOString()}. ` +
        "Sort its rows by time, oldest or newest first",
    );
  };
}

function ticksOf(options: MinutesOptions) {
  const { ticker, digits, skipRows, newestFirst } = options;
  const queue = createQueue(options, dayOf);
  const { counts } = queue.output;
  const minute = growingColumns(emptyTicks, setTick);
  const isStray = createStrayJudge(options.range);
  const watchOrder = createOrderWatch();
  let minuteMs = Number.NaN;
  let lastMs = Number.NaN;
  /** Whether a time comes before another one in the order of the file. */
  const isBefore = newestFirst ? (a: number, b: number) => a > b : (a: number, b: number) => a < b;

  /** Aggregates the ticks of a minute when the next one begins, so that late ticks can be sorted in. */
  function close(): void {
    const taken = minute.take(minute.rows());
    // Those of one time, too, are in the order of time.
    if (newestFirst) for (const column of Object.values(taken)) column.reverse();
    const ticks = ascending(taken);
    const { time, bid, ask, volume } = ticks;
    let kline: Kline | undefined;
    for (let row = 0; row < time.length; row += 1) {
      const tick = { ticker, time_msc: time[row] as number, bid: bid[row] as number, ask: ask[row] as number };
      const amount = volume[row] as number;
      kline = foldQuote(kline, toQuote(tick, digits), Number.isNaN(amount) ? undefined : amount, "M1", minuteMs / SECOND_MS);
    }
    if (kline !== undefined) queue.put(kline, Number.POSITIVE_INFINITY, ticks);
    lastMs = Number.NaN;
  }

  function judge({ bid, ask, timeMs }: Row): string | null {
    if (ask > bid * PRICES_MAX_FACTOR) return FAR_APART;
    return isStray(bid, ask) ? STRAY : queue.doubt(timeMs);
  }

  function onRow(row: Row, line: number): void {
    counts.rows += 1;
    const badPrices = judgePrices(row);
    if (badPrices === "crossed_quote") {
      counts.crossed += 1;
      return;
    }
    const reason = badPrices === null ? judge(row) : "bid or ask is not a possible price";
    if (reason !== null) {
      queue.refuse(line, reason);
      return;
    }
    const inMinuteMs = row.timeMs - (row.timeMs % MINUTE_MS);
    const isLate = isBefore(inMinuteMs, minuteMs);
    watchOrder(isLate, inMinuteMs, minuteMs, line);
    if (isLate) {
      queue.refuse(line, LATE);
      return;
    }
    if (inMinuteMs !== minuteMs) {
      close();
      // After a resume, malformed rows between two minutes are reported again, which is harmless.
      queue.settle(counts.rows - 1);
      minuteMs = inMinuteMs;
    }
    if (minute.rows() === PART_MAX_TICKS) {
      queue.refuse(line, `there are more than ${countText(PART_MAX_TICKS)} ticks in its minute`);
      return;
    }
    queue.note(row.timeMs);
    if (counts.rows <= skipRows) return;
    if (isBefore(row.timeMs, lastMs)) counts.outOfOrder += 1;
    lastMs = row.timeMs;
    minute.add(row);
  }

  return {
    ...queue.output,
    sink: { row: onRow, ...queue.sink },
    finish() {
      close();
      queue.settle(counts.rows);
    },
  };
}

/** Converts the rows of a file to klines, ticks to M1 and klines to those of their timeframe, and counts what it skips or corrects. */
export function createMinutes(kind: RowKind, options: MinutesOptions) {
  return kind === "ticks" ? ticksOf(options) : klinesOf(options);
}
