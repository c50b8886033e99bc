import { KLINE_CLOSE_DELAY_MS, KLINES_DEFAULT_LIMIT_ROWS } from "#lib/contract/limits";
import type { Kline } from "#lib/domain/kline";
import { createAlignment, type TradingAlignment } from "#lib/domain/timeframe";
import { answerWindow, expectedCount, expectedSpan, type ResolvedWindow, resolveWindow } from "#lib/domain/window";
import { Fault } from "#lib/fault";
import { route } from "#lib/http/route";
import { createKlineCache, type KlinesQuery, type Series } from "#lib/market/kline-cache";
import { revisionOf } from "#lib/market/kline-revision";
import { klinesAt, requirePast } from "#lib/market/klines-at";
import { requireHistory } from "#lib/market/oldest";
import type { Call, Question, Reply } from "#lib/market/question";
import { requireListings } from "#lib/market/tickers";
import { SECOND_MS } from "#lib/units";
import { klines } from "./declaration";

/** How long clients may cache a window of closed klines; corrected history shows after this time at the latest. */
const LASTING_MAX_AGE_S = 3_600;

/** Open times of the klines, ascending, in whose interval a minute lacks ticks; both ascending, Unix seconds. */
function incompleteOf(klines: readonly Kline[], lacking: readonly number[], alignment: TradingAlignment): number[] {
  let next = 0;
  return klines.flatMap(({ timeframe, time }) => {
    while ((lacking[next] ?? Number.POSITIVE_INFINITY) < time) next += 1;
    return (lacking[next] ?? Number.POSITIVE_INFINITY) < alignment.nextOpenTime(timeframe, time) ? [time] : [];
  });
}

/** The window without what is older than the caller's history. @throws Fault not_in_plan for one that begins or ends before it */
function withinHistory(call: Call<KlinesQuery>, window: ResolvedWindow): ResolvedWindow {
  const { oldestMs } = call;
  if (oldestMs === 0) return window;
  if (window.from !== null) requireHistory(call, window.from * SECOND_MS, "from");
  else requireHistory(call, window.to * SECOND_MS, "to");
  const { read } = window;
  return { ...window, read: read && { ...read, from: Math.max(read.from, oldestMs / SECOND_MS) } };
}

/**
 * Makes the question for klines, with a bounded cache of encoded answers. Each request checks the cache against the revisions
 * of view and store, so an answer is never stale.
 * The question throws Fault unknown_ticker, unsupported_timeframe when the ticker is not offered in that timeframe, and not_in_plan.
 */
export function createKlines(): Question<KlinesQuery> {
  const alignment = createAlignment();
  const cache = createKlineCache();
  /** By the rows of a cached window, so that one that has not changed is not hashed again. */
  const revisions = new WeakMap<readonly Kline[], string>();

  function revision(rows: readonly Kline[], items: readonly Kline[]): string {
    const known = revisions.get(rows) ?? revisionOf(items);
    revisions.set(rows, known);
    return known;
  }

  /** Number of intervals of the window, up to now, in which the market was open; null when unknown. */
  function expected({ market, query }: Call<KlinesQuery>, from: number, to: number, nowMs: number): number | null {
    const calendar = market.catalogue.calendar(query.ticker);
    if (calendar === undefined) return null;
    const span = expectedSpan(query.timeframe, from, to, Math.floor(nowMs / 1000 + 1) * 1000, alignment);
    const sessions = span === null ? [] : calendar.sessionsBetween(span.fromMs, span.toMs);
    return expectedCount(query.timeframe, from, to, sessions, alignment);
  }

  function answer(call: Call<KlinesQuery>, window: ResolvedWindow, series: Series): Reply {
    const { market, query, nowMs } = call;
    const { ticker, timeframe } = query;
    const lastEndS = alignment.nextOpenTime(timeframe, window.to - 1);
    const reachedMs = Math.min(nowMs, market.closedUpTo(nowMs));
    const closed = reachedMs >= lastEndS * 1000 + KLINE_CLOSE_DELAY_MS;
    // Besides its rows, an answer depends on its end, on the calendar, on the price it names and, until its last kline has ended, on the time.
    const state = `${window.to} ${Math.min(Math.floor(nowMs / 1000), lastEndS)} ${query.price ?? ""}`;
    const calendar = market.catalogue.calendar(ticker);
    const encoded = series.encode(state, calendar, (rows, lacking) => {
      const { items, ...bounds } = answerWindow(window, rows, timeframe);
      const incomplete = lacking.length === 0 ? [] : incompleteOf(items, lacking, alignment);
      const head = {
        ticker,
        timeframe,
        ...bounds,
        expected_count: expected(call, bounds.from, bounds.to, nowMs),
        ...(incomplete.length > 0 && { incomplete }),
        ...(query.price !== undefined && { price: query.price }),
        ...(market.venue === "live" && { revision: revision(rows, items) }),
      };
      return { head, items };
    });
    const { body, data } = encoded;
    return closed ? { body, data, lasting: { etag: encoded.etag(), maxAgeS: LASTING_MAX_AGE_S } } : { body, data };
  }

  return (call) => {
    const { query, nowMs } = call;
    const { ticker, timeframe } = query;
    const [listing] = requireListings(call, [ticker], "ticker");
    if (listing !== undefined && !listing.timeframes.includes(timeframe))
      throw new Fault("unsupported_timeframe", {
        detail: `${ticker} is not offered in ${timeframe}.`,
        parameter: "timeframe",
        allowed: [...listing.timeframes],
      });
    const asked = { from: query.from, to: query.to, limit: query.limit ?? KLINES_DEFAULT_LIMIT_ROWS };
    const { as_of } = query;
    if (as_of !== undefined) {
      requirePast(as_of, nowMs);
      const thenMs = as_of * SECOND_MS;
      const past = withinHistory(call, resolveWindow(asked, thenMs));
      return klinesAt(call, past, as_of, (from, to) => expected(call, from, to, thenMs));
    }
    const window = withinHistory(call, resolveWindow(asked, nowMs));
    // The view has bids alone.
    if (query.price !== undefined && query.price !== "bid")
      return klinesAt(call, window, null, (from, to) => expected(call, from, to, nowMs));
    const series = cache.open(call, window);
    return series instanceof Promise ? series.then((opened) => answer(call, window, opened)) : answer(call, window, series);
  };
}

export const handler = route(klines, createKlines());
