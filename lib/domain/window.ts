import type { Timeframe } from "#lib/contract/primitives";
import { HOUR_S } from "#lib/units";
import { TIMEFRAME_SECONDS, type TradingAlignment } from "./timeframe";

/** A requested window: half-open on open times, Unix seconds. */
export interface WindowRequest {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Maximum number of rows in the answer. */
  readonly limit: number;
}

/** Rows to read: from <= time < to, at most `limit`, from the named end. */
export interface WindowRead {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly end: "oldest" | "newest";
}

/** A window with its bounds resolved against the clock. */
export interface ResolvedWindow {
  /** Null when only the rows determine it: the newest rows were requested. */
  readonly from: number | null;
  /** Not past the second after now, unless the window starts past it. */
  readonly to: number;
  readonly limit: number;
  /** What to read; one row more than the limit when the answer has a next row. Null: the window cannot have rows. */
  readonly read: WindowRead | null;
}

/** The answer of a window, ascending by open time. */
export interface WindowAnswer<Row> {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly limit: number;
  readonly next_from: number | null;
  readonly items: Row[];
}

/**
 * Resolves a window. Neither bound: the newest rows. Only `from`: the oldest from there. Only `to`: the newest before it.
 * Both: the oldest from `from`, not past `to`. A `to` that is absent or in the future is the second after now, so that a
 * kline that opens this very second is inside. A window that starts in the future is one second long and empty.
 * The caller has checked `from < to` when both are given.
 * @param nowMs the clock, Unix milliseconds
 */
export function resolveWindow(request: WindowRequest, nowMs: number): ResolvedWindow {
  const { from, limit } = request;
  const endS = Math.floor(nowMs / 1000) + 1;
  const to = Math.min(request.to ?? endS, endS);
  if (from === undefined) {
    return { from: null, to, limit, read: to > 0 ? { from: 0, to, limit, end: "newest" } : null };
  }
  if (from >= to) return { from, to: from + 1, limit, read: null };
  return { from, to, limit, read: { from, to, limit: limit + 1, end: "oldest" } };
}

/**
 * The answer of a resolved window from the rows read for it (ascending). When the newest rows were requested, the window
 * starts at the oldest row returned; without rows, `limit` nominal klines before its end, not before what may be read.
 */
export function answerWindow<Row extends { readonly time: number }>(
  window: ResolvedWindow,
  rows: readonly Row[],
  timeframe: Timeframe,
): WindowAnswer<Row> {
  const { to, limit } = window;
  const newest = window.from === null;
  const items = newest ? rows.slice(-limit) : rows.slice(0, limit);
  const from = window.from ?? items[0]?.time ?? Math.max(window.read?.from ?? 0, to - limit * TIMEFRAME_SECONDS[timeframe]);
  const next = newest ? undefined : rows[limit];
  return { from, to, count: items.length, limit, next_from: next?.time ?? null, items };
}

/** A range in which a market is open, [openMs, closeMs) in Unix milliseconds. */
export interface OpenRange {
  readonly openMs: number;
  readonly closeMs: number;
}

/**
 * The time range (Unix ms) whose sessions expectedCount needs: from the first kline that opens in [from, to) to the end of the
 * last one, but not past now, because future klines cannot be missing. Null when no kline opens in the window.
 */
export function expectedSpan(
  timeframe: Timeframe,
  from: number,
  to: number,
  nowMs: number,
  alignment: TradingAlignment,
): { fromMs: number; toMs: number } | null {
  const fromMs = firstOpenFrom(timeframe, from, alignment) * 1000;
  const toMs = Math.min(alignment.nextOpenTime(timeframe, to - 1) * 1000, nowMs);
  return fromMs < toMs ? { fromMs, toMs } : null;
}

/** The first open time at or after `from`. */
function firstOpenFrom(timeframe: Timeframe, from: number, alignment: TradingAlignment): number {
  const openS = alignment.openTime(timeframe, from);
  return openS === from ? from : alignment.nextOpenTime(timeframe, from);
}

/**
 * The number of klines that open in [from, to) (Unix seconds) and overlap a session; null when the sessions are unknown. A
 * kline that overlaps two sessions counts once.
 * @param sessions ascending and disjoint, none of them empty, for the range from expectedSpan
 */
export function expectedCount(
  timeframe: Timeframe,
  from: number,
  to: number,
  sessions: readonly OpenRange[] | null,
  alignment: TradingAlignment,
): number | null {
  if (sessions === null) return null;
  const stepS = TIMEFRAME_SECONDS[timeframe];
  // Up to an hour, klines open on UTC multiples; longer ones follow the wall clock, which has uneven steps.
  const even = stepS <= HOUR_S;
  let count = 0;
  /** Open time of the first kline that is neither counted nor before the window. */
  let uncountedS = firstOpenFrom(timeframe, from, alignment);
  for (const { openMs, closeMs } of sessions) {
    const firstS = Math.max(uncountedS, alignment.openTime(timeframe, Math.floor(openMs / 1000)));
    // A kline overlaps when it opens before the close, on the millisecond.
    const endS = Math.min(to, Math.ceil(closeMs / 1000));
    if (firstS >= endS) continue;
    if (even) {
      const klines = Math.ceil((endS - firstS) / stepS);
      count += klines;
      uncountedS = firstS + klines * stepS;
    } else {
      for (uncountedS = firstS; uncountedS < endS; uncountedS = alignment.nextOpenTime(timeframe, uncountedS)) count += 1;
    }
  }
  return count;
}
