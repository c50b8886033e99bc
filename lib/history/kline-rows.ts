import type { CustomTypesConfig } from "pg";
import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";

/** Every column that is read becomes a number, including int8, which pg would return as text. */
export const NUMBERS: CustomTypesConfig = { getTypeParser: () => Number as (text: string) => number };

/** A stored row: time, open, high, low, close, tick_volume, real_volume, spread. */
export type KlineRow = [number, number, number, number, number, number, number | null, number | null];

/** The wire record of a stored row. */
export function toKline(ticker: string, timeframe: Timeframe, row: KlineRow): Kline {
  const [time, open, high, low, close, tick_volume, real_volume, spread] = row;
  return { type: "kline", ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread };
}

/**
 * A batch without duplicates (the last row of a key wins), ordered by key: concurrent writers lock rows in the same order and
 * cannot deadlock.
 */
export function distinct(klines: readonly Kline[]): Kline[] {
  const byKey = new Map<string, Kline>();
  for (const kline of klines) byKey.set(`${kline.ticker}:${kline.timeframe}:${kline.time}`, kline);
  return [...byKey.values()].sort((a, b) => compare(a.ticker, b.ticker) || compare(a.timeframe, b.timeframe) || a.time - b.time);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Turns rows into columns for unnest. */
export function columnsOf(klines: readonly Kline[]): unknown[][] {
  return [
    klines.map((kline) => kline.ticker),
    klines.map((kline) => kline.timeframe),
    klines.map((kline) => kline.time),
    klines.map((kline) => kline.open),
    klines.map((kline) => kline.high),
    klines.map((kline) => kline.low),
    klines.map((kline) => kline.close),
    klines.map((kline) => kline.tick_volume),
    klines.map((kline) => kline.real_volume),
    klines.map((kline) => kline.spread),
  ];
}
