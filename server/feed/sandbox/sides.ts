import { setImmediate as nextTurn } from "node:timers/promises";
import type { Kline } from "#lib/contract/kline";
import { SANDBOX_SIDES_MAX_DAYS } from "#lib/contract/limits";
import type { Side } from "#lib/domain/columns";
import { roundTo } from "#lib/domain/price";
import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import type { KlineQuery } from "#lib/market/ports";
import { DAY_S, MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import { MINUTES_PER_DAY } from "./path";
import type { PriceSeries } from "./prices";
import { widestSpread } from "./ticks";

/** The price of a tick, and how far above the bids of a minute such a price can be, in points. */
const PRICES: Readonly<Record<Side, { of(tick: Tick): number; above(spread: number): number }>> = {
  ask: { of: ({ ask }) => ask, above: (spread) => spread },
  mid: { of: ({ bid, ask }) => (bid + ask) / 2, above: (spread) => spread / 2 },
};

/**
 * Highest and lowest ask or mid of a ticker's ticks in [fromMs, untilMs] (Unix ms, `fromMs` on a minute), in price units; null without
 * ticks. Only the ticks of minutes that could widen the range are computed.
 */
export function sideRange(
  series: PriceSeries,
  fromMs: number,
  untilMs: number,
  side: Side,
): { readonly high: number; readonly low: number } | null {
  const { of, above } = PRICES[side];
  let [high, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let minute = Math.floor(fromMs / MINUTE_MS); minute * MINUTE_MS <= untilMs; minute++) {
    const day = Math.floor(minute / MINUTES_PER_DAY);
    const rows = series.minutes(day);
    const index = minute - day * MINUTES_PER_DAY;
    if (rows === undefined || rows.count[index] === 0) continue;
    const spread = rows.spread[index] ?? 0;
    const highest = ((rows.high[index] ?? 0) + above(widestSpread(spread))) / series.scale;
    const lowest = ((rows.low[index] ?? 0) + above(spread)) / series.scale;
    if (highest <= high && lowest >= low) continue;
    for (const tick of series.ticks(minute)) {
      if (tick.time_msc > untilMs) break;
      high = Math.max(high, of(tick));
      low = Math.min(low, of(tick));
    }
  }
  return low <= high ? { high, low } : null;
}

/** The first tick of [fromS, toS), Unix seconds on minutes, or the last. */
function edgeTick(series: PriceSeries, fromS: number, toS: number, edge: "first" | "last"): Tick | undefined {
  const [first, last] = [fromS / MINUTE_S, toS / MINUTE_S - 1];
  for (let step = 0; step <= last - first; step += 1) {
    const minute = edge === "first" ? first + step : last - step;
    const day = Math.floor(minute / MINUTES_PER_DAY);
    if ((series.minutes(day)?.count[minute - day * MINUTES_PER_DAY] ?? 0) === 0) continue;
    return series.ticks(minute).at(edge === "first" ? 0 : -1);
  }
  return undefined;
}

/**
 * Klines of bids as those of another price: made of the same ticks, one after the other, so that others are answered in between.
 * @param endOf where the minutes of a kline end (excluded), Unix seconds
 * @throws Fault invalid_parameter for more than SANDBOX_SIDES_MAX_DAYS days, with the limit that would do; what `admitDays` throws
 */
export async function sideKlines(
  series: PriceSeries,
  klines: readonly Kline[],
  side: Side,
  endOf: (time: number) => number,
  admitDays: KlineQuery["admitDays"],
): Promise<Kline[]> {
  const [first, last] = [klines[0], klines.at(-1)];
  if (first === undefined || last === undefined) return [];
  const daysOf = (from: Kline, to: Kline) => Math.ceil((endOf(to.time) - from.time) / DAY_S);
  const days = daysOf(first, last);
  if (days > SANDBOX_SIDES_MAX_DAYS) {
    // Whether the oldest or the newest of the range are read next is not known here.
    const oldest = klines.filter((kline) => daysOf(first, kline) <= SANDBOX_SIDES_MAX_DAYS).length;
    const newest = klines.filter((kline) => daysOf(kline, last) <= SANDBOX_SIDES_MAX_DAYS).length;
    const most = Math.min(oldest, newest);
    throw new Fault("invalid_parameter", {
      parameter: "limit",
      detail: `The sandbox computes ask and mid klines of ${SANDBOX_SIDES_MAX_DAYS} days at most, here ${most} klines.`,
      max: most,
      suggestion: String(most),
    });
  }
  admitDays?.(days);
  const { digits } = series.inputs.listing;
  const rounded = (price: number) => roundTo(price, side === "ask" ? digits : digits + 1);
  const { of } = PRICES[side];
  const made: Kline[] = [];
  for (const kline of klines) {
    const endS = endOf(kline.time);
    const [open, close] = [edgeTick(series, kline.time, endS, "first"), edgeTick(series, kline.time, endS, "last")];
    const range = sideRange(series, kline.time * SECOND_MS, endS * SECOND_MS - 1, side);
    if (open === undefined || close === undefined || range === null) continue;
    made.push({
      ...kline,
      open: rounded(of(open)),
      high: rounded(range.high),
      low: rounded(range.low),
      close: rounded(of(close)),
    });
    await nextTurn();
  }
  return made;
}
