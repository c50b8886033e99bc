import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS, type TradingAlignment } from "./timeframe";

/** A window as it was asked for: half-open on open times, Unix seconds. */
export interface WindowRequest {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Most rows of the answer. */
  readonly limit: number;
}

/** Rows to read: from <= time < to, at most `limit`, from the named end. */
export interface WindowRead {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly end: "oldest" | "newest";
}

/** A window with its bounds settled against the clock. */
export interface ResolvedWindow {
  /** Null when only the rows can tell it: the newest rows were asked for. */
  readonly from: number | null;
  /** Not past the second after now, unless the window starts past it. */
  readonly to: number;
  readonly limit: number;
  /** What to read; one row more than the limit where the answer says what comes next. Null: nothing can be there. */
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
 * Settles a window. Neither bound: the newest rows. Only `from`: the oldest from there. Only `to`: the newest before it.
 * Both: the oldest from `from`, not past `to`. A `to` that is absent or in the future is the second after now, so that a
 * kline that opens this very second is inside. A window that starts in the future is one second long and empty.
 * `from < to` was checked before, where both are given.
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
 * The answer of a resolved window from the rows read for it (ascending). Where the newest rows were asked for, the window
 * starts at the oldest row returned; without rows, `limit` nominal klines before its end, not before 1970.
 */
export function answerWindow<Row extends { readonly time: number }>(
  window: ResolvedWindow,
  rows: readonly Row[],
  timeframe: Timeframe,
): WindowAnswer<Row> {
  const { to, limit } = window;
  const newest = window.from === null;
  const items = newest ? rows.slice(-limit) : rows.slice(0, limit);
  const from = window.from ?? items[0]?.time ?? Math.max(0, to - limit * TIMEFRAME_SECONDS[timeframe]);
  const next = newest ? undefined : rows[limit];
  return { from, to, count: items.length, limit, next_from: next?.time ?? null, items };
}

/** An open stretch of a market, [openMs, closeMs) in Unix milliseconds. */
export interface OpenRange {
  readonly openMs: number;
  readonly closeMs: number;
}

/**
 * The stretch of time (Unix ms) whose sessions expectedCount needs: from the first kline that opens in [from, to) to the
 * end of the last one, but not past now, because what is still to come cannot be missing. Null when no kline opens in the window.
 */
export function expectedSpan(
  timeframe: Timeframe,
  from: number,
  to: number,
  nowMs: number,
  alignment: TradingAlignment,
): { fromMs: number; toMs: number } | null {
  const fromMs = firstOpenFrom(timeframe, from, alignment) * 1000;
  if (fromMs >= to * 1000) return null;
  const toMs = Math.min(alignment.nextOpenTime(timeframe, to - 1) * 1000, nowMs);
  return fromMs < toMs ? { fromMs, toMs } : null;
}

/** The first open time at or after `from`. */
function firstOpenFrom(timeframe: Timeframe, from: number, alignment: TradingAlignment): number {
  const openS = alignment.openTime(timeframe, from);
  return openS === from ? from : alignment.nextOpenTime(timeframe, from);
}

/**
 * How many klines whose open time is in [from, to) (Unix seconds) overlap an open stretch; null when the sessions are not
 * known. A kline touched by two sessions counts once.
 * @param sessions ascending, apart from each other; of the stretch that expectedSpan names
 */
export function expectedCount(
  timeframe: Timeframe,
  from: number,
  to: number,
  sessions: readonly OpenRange[] | null,
  alignment: TradingAlignment,
): number | null {
  if (sessions === null) return null;
  const even = timeframe !== "H4" && timeframe !== "D1" && timeframe !== "W1" && timeframe !== "MN1";
  const stepS = TIMEFRAME_SECONDS[timeframe];
  let count = 0;
  /** Open time of the first kline that is neither counted nor before the window. */
  let uncountedS = firstOpenFrom(timeframe, from, alignment);
  for (const { openMs, closeMs } of sessions) {
    if (closeMs <= openMs) continue;
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
