import { foldQuote, type Kline } from "#lib/domain/kline";
import { PRICES_MAX_FACTOR, roundTo } from "#lib/domain/price";
import type { PriceRange } from "#lib/domain/price-ranges";
import { toQuote } from "#lib/domain/quote";
import { judgePrices } from "#lib/domain/tick";
import { periodOf } from "#lib/history/period";
import { DAY_S, MINUTE_MS, SECOND_MS } from "#lib/units";
import { countText } from "#server/cli/words";
import { byTime, emptyTicks, type FileTicks, setTick } from "./file-ticks";
import { growingColumns } from "./growing-columns";
import { type Counts, createLedger, type MinutesOptions, PART_MAX_TICKS } from "./ledger";
import type { Row, RowKind, RowSink } from "./row";

const FAR_APART = `its prices are more than a factor of ${PRICES_MAX_FACTOR} apart: one may have lost its decimal point`;

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

/** Converts the rows of a file to klines: ticks to M1, klines to those of their timeframe. */
interface Minutes {
  readonly sink: RowSink;
  readonly counts: Counts;
  isFull: ReturnType<typeof createLedger>["isFull"];
  take: ReturnType<typeof createLedger>["take"];
  /** Ends the file, which completes the last minute. */
  finish(): void;
}

function isFiller({ open, high, low, close, tickVolume, realVolume }: Row): boolean {
  const none = !(tickVolume > 0) && !(realVolume > 0) && (tickVolume === 0 || realVolume === 0);
  return none && open === high && high === low && low === close;
}

function klinesOf(options: MinutesOptions): Minutes {
  const { ticker, digits, dropsFillers, intervals } = options;
  const { timeframe } = intervals;
  const ledger = createLedger(options, (time) => periodOf(timeframe, time));
  const { counts } = ledger;
  const isStray = createStrayJudge(options.range);
  let lastMs = Number.NEGATIVE_INFINITY;

  function judge(row: Row): string | null {
    if (timeframe === "M1" && row.timeMs % MINUTE_MS !== 0) return "its time is not the start of a minute";
    const sound =
      row.high >= row.low && row.high >= row.open && row.high >= row.close && row.low <= row.open && row.low <= row.close;
    if (!sound) return "open and close are not between high and low";
    if (row.high > row.low * PRICES_MAX_FACTOR) return FAR_APART;
    return isStray(row.low, row.high) ? STRAY : ledger.doubt(row.timeMs);
  }

  function toKline(row: Row, time: number): Kline {
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
    };
  }

  function onRow(row: Row, line: number): void {
    counts.rows += 1;
    const reason = judge(row);
    if (reason !== null) {
      ledger.refuse(line, reason);
      return;
    }
    const openS = intervals.openOf(row.timeMs);
    if (dropsFillers && isFiller(row)) counts.fillers += 1;
    else if (openS === null) counts.misaligned += 1;
    else {
      if (row.timeMs === lastMs) counts.repeated += 1;
      else if (row.timeMs < lastMs) counts.outOfOrder += 1;
      lastMs = row.timeMs;
      ledger.note(row.timeMs);
      ledger.put(toKline(row, openS), counts.rows);
    }
    ledger.settle(counts.rows);
  }

  return {
    sink: { row: onRow, ...ledger.sink },
    counts,
    isFull: ledger.isFull,
    take: ledger.take,
    finish: () => ledger.settle(counts.rows),
  };
}

/** The ticks of one minute. They are aggregated when the next minute begins, so that late ticks can be sorted in. */
function createMinuteBuffer(ticker: string, digits: number) {
  const buffer = growingColumns(emptyTicks, setTick);
  let isSorted = true;
  let lastMs = Number.NEGATIVE_INFINITY;

  function klineOf({ time, bid, ask, volume }: FileTicks, openS: number): Kline | undefined {
    let kline: Kline | undefined;
    for (let row = 0; row < time.length; row += 1) {
      const tick = { ticker, time_msc: time[row] as number, bid: bid[row] as number, ask: ask[row] as number };
      const amount = volume[row] as number;
      kline = foldQuote(kline, toQuote(tick, digits), Number.isNaN(amount) ? undefined : amount, "M1", openS);
    }
    return kline;
  }

  return {
    size: buffer.rows,
    /** @returns true when the tick is older than the one before */
    add(row: Row): boolean {
      const isLate = row.timeMs < lastMs;
      if (isLate) isSorted = false;
      lastMs = row.timeMs;
      buffer.add(row);
      return isLate;
    },
    /** Returns the kline of the minute and its ticks, and empties the buffer. */
    close(openS: number): { readonly kline: Kline | undefined; readonly ticks: FileTicks } {
      const taken = buffer.take(buffer.rows());
      const ticks = isSorted ? taken : byTime(taken);
      isSorted = true;
      lastMs = Number.NEGATIVE_INFINITY;
      return { kline: klineOf(ticks, openS), ticks };
    },
  };
}

/** The UTC day of an instant, Unix seconds. */
function dayOf(time: number) {
  const from = Math.floor(time / DAY_S) * DAY_S;
  return { from, to: from + DAY_S };
}

function ticksOf(options: MinutesOptions): Minutes {
  const ledger = createLedger(options, dayOf);
  const { counts } = ledger;
  const buffer = createMinuteBuffer(options.ticker, options.digits);
  const isStray = createStrayJudge(options.range);
  let minuteMs = Number.NaN;

  function close(): void {
    const { kline, ticks } = buffer.close(minuteMs / SECOND_MS);
    if (kline !== undefined) ledger.put(kline, Number.POSITIVE_INFINITY, ticks);
  }

  function judge({ bid, ask, timeMs }: Row): string | null {
    if (ask > bid * PRICES_MAX_FACTOR) return FAR_APART;
    return isStray(bid, ask) ? STRAY : ledger.doubt(timeMs);
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
      ledger.refuse(line, reason);
      return;
    }
    const inMinuteMs = row.timeMs - (row.timeMs % MINUTE_MS);
    if (inMinuteMs < minuteMs) {
      ledger.refuse(line, "its time goes back past a minute that is already complete");
      return;
    }
    if (inMinuteMs > minuteMs || Number.isNaN(minuteMs)) {
      close();
      // After a resume, malformed rows between two minutes are reported again, which is harmless.
      ledger.settle(counts.rows - 1);
      minuteMs = inMinuteMs;
    }
    if (buffer.size() === PART_MAX_TICKS) {
      ledger.refuse(line, `there are more than ${countText(PART_MAX_TICKS)} ticks in its minute`);
      return;
    }
    ledger.note(row.timeMs);
    if (counts.rows <= options.skipRows) return;
    if (buffer.add(row)) counts.outOfOrder += 1;
  }

  return {
    sink: { row: onRow, ...ledger.sink },
    counts,
    isFull: ledger.isFull,
    take: ledger.take,
    finish() {
      close();
      ledger.settle(counts.rows);
    },
  };
}

/** Passes klines through and aggregates ticks; counts what it skips or corrects. */
export function createMinutes(kind: RowKind, options: MinutesOptions): Minutes {
  return kind === "ticks" ? ticksOf(options) : klinesOf(options);
}
