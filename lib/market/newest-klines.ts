import { LRUCache } from "lru-cache";
import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { MINUTE_MS } from "#lib/units";
import { mergeRows } from "./kline-merge";
import type { Market } from "./ports";

/** Series kept; each has at most some hundred rows. */
const SERIES_MAX_COUNT = 1_000;
/** Stored rows are read again after this time. What closes meanwhile is in the view. */
const FRESH_MS = 30 * MINUTE_MS;

/** The newest klines of a series, ascending, at most `limit`. */
export type NewestKlines = (
  market: Market,
  series: { readonly ticker: string; readonly timeframe: Timeframe; readonly limit: number },
  nowMs: number,
) => Promise<Kline[]>;

/**
 * Reads the newest klines for pages that everybody may open: stored rows are read at most twice an hour for each series, and
 * overlaid with those of the view each time. Rejects with the error of the store.
 */
export function createNewestKlines(): NewestKlines {
  const reads = new LRUCache<string, Promise<Kline[]>>({ max: SERIES_MAX_COUNT });
  return async (market, { ticker, timeframe, limit }, nowMs) => {
    const read = { from: 0, to: Math.floor(nowMs / 1_000) + 1, limit, end: "newest" } as const;
    const age = Math.floor(nowMs / FRESH_MS);
    const key = [market.venue, ticker, timeframe, limit, age, market.historyRevision()].join(" ");
    let stored = reads.get(key);
    if (stored === undefined) {
      stored = market.store.read({ ticker, timeframe, ...read, prompt: true });
      reads.set(key, stored);
      stored.catch(() => reads.delete(key));
    }
    return mergeRows(await stored, market.view.recentKlines(ticker, timeframe), read);
  };
}
