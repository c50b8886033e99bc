import type { Kline as PublicKline } from "#lib/contract/kline";
import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import type { Quote } from "#lib/contract/quote";
import { addVolumes, leastSpread } from "./price";
import type { TradingAlignment } from "./timeframe";

/** A kline inside the service: the record of the contract, except that its spread is null where no source knows one. */
export interface Kline extends Omit<PublicKline, "spread"> {
  spread: number | null;
}

/** The record of the contract, in which an unknown spread is 0. */
export function toPublic(kline: Kline): PublicKline {
  return hasSpread(kline) ? kline : { ...kline, spread: 0 };
}

function hasSpread(kline: Kline): kline is PublicKline {
  return kline.spread !== null;
}

/**
 * Adds a quote to the kline of an interval; does not mutate its arguments. Prices are bid, `tick_volume` counts
 * quotes, `spread` is the smallest ask - bid. A crossed quote (bid above ask), which recorded ticks of some brokers hold,
 * counts as spread 0: a kline has no negative spread.
 * @param kline the newest kline of the series: continued when it is of this interval, otherwise a new kline starts
 * @param quote already rounded, later than all before
 * @param volume real volume of the quote, where the provider has one
 * @param time open time of the interval that holds the quote, Unix seconds
 */
export function foldQuote(
  kline: Kline | undefined,
  quote: Quote,
  volume: number | undefined,
  timeframe: Timeframe,
  time: number,
): Kline {
  const { bid, ticker } = quote;
  const spread = Math.max(quote.spread, 0);
  const realVolume = volume ?? null;
  if (kline === undefined || kline.time !== time) {
    return {
      type: "kline",
      ticker,
      timeframe,
      time,
      open: bid,
      high: bid,
      low: bid,
      close: bid,
      tick_volume: 1,
      real_volume: realVolume,
      spread,
    };
  }
  return {
    type: "kline",
    ticker,
    timeframe,
    time,
    open: kline.open,
    high: Math.max(bid, kline.high),
    low: Math.min(bid, kline.low),
    close: bid,
    tick_volume: kline.tick_volume + 1,
    real_volume: addVolumes(kline.real_volume, realVolume),
    spread: leastSpread(spread, kline.spread),
  };
}

/**
 * Merges two parts of an interval into one kline, `earlier` before `later`: open first, high max, low min, close last, volumes
 * summed, spread min (real volume and spread null only where both are). It keeps the timeframe and open time of `earlier`.
 */
export function mergeKlines(earlier: Kline, later: Kline): Kline {
  return {
    type: "kline",
    ticker: earlier.ticker,
    timeframe: earlier.timeframe,
    time: earlier.time,
    open: earlier.open,
    high: Math.max(later.high, earlier.high),
    low: Math.min(later.low, earlier.low),
    close: later.close,
    tick_volume: earlier.tick_volume + later.tick_volume,
    real_volume: addVolumes(earlier.real_volume, later.real_volume),
    spread: leastSpread(later.spread, earlier.spread),
  };
}

/**
 * Aggregates rows of a ticker in a shorter timeframe, ascending, to klines of a longer one; intervals without rows have none.
 * MN1 needs D1 or shorter: a week belongs to two months.
 */
export function aggregate(rows: Iterable<Kline>, timeframe: Timeframe, alignment: TradingAlignment): Kline[] {
  const klines: Kline[] = [];
  let current: Kline | undefined;
  let endS = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    if (current === undefined || row.time >= endS) {
      if (current !== undefined) klines.push(current);
      endS = alignment.nextOpenTime(timeframe, row.time);
      current = { ...row, timeframe, time: alignment.openTime(timeframe, row.time) };
    } else current = mergeKlines(current, row);
  }
  if (current !== undefined) klines.push(current);
  return klines;
}

/** The instant (Unix ms) from which the kline counts as closed: its end and the delay for late ticks. */
export function closesAtMs(kline: Pick<Kline, "timeframe" | "time">, alignment: TradingAlignment): number {
  return alignment.nextOpenTime(kline.timeframe, kline.time) * 1000 + KLINE_CLOSE_DELAY_MS;
}

/** True once the clock (Unix ms) has closed the kline; no tick is needed for it. */
export function isClosed(kline: Pick<Kline, "timeframe" | "time">, nowMs: number, alignment: TradingAlignment): boolean {
  return nowMs >= closesAtMs(kline, alignment);
}
