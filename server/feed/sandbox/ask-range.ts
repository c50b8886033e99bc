import { MINUTE_MS } from "#lib/units";
import type { PriceSeries } from "./prices";
import { widestSpread } from "./ticks";

const MINUTES_PER_DAY = 1_440;

/**
 * Highest and lowest ask of a ticker's ticks in [fromMs, untilMs] (Unix ms, `fromMs` on a minute), in price units; null without
 * ticks. Only the ticks of minutes that could widen the range are computed.
 */
export function askRange(
  series: PriceSeries,
  fromMs: number,
  untilMs: number,
): { ask_high: number | null; ask_low: number | null } {
  let [high, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let minute = Math.floor(fromMs / MINUTE_MS); minute * MINUTE_MS <= untilMs; minute++) {
    const day = Math.floor(minute / MINUTES_PER_DAY);
    const rows = series.minutes(day);
    const index = minute - day * MINUTES_PER_DAY;
    if (rows === undefined || rows.count[index] === 0) continue;
    const spread = rows.spread[index] ?? 0;
    const highest = ((rows.high[index] ?? 0) + widestSpread(spread)) / series.scale;
    const lowest = ((rows.low[index] ?? 0) + spread) / series.scale;
    if (highest <= high && lowest >= low) continue;
    for (const { time_msc, ask } of series.ticks(minute)) {
      if (time_msc > untilMs) break;
      high = Math.max(high, ask);
      low = Math.min(low, ask);
    }
  }
  return low <= high ? { ask_high: high, ask_low: low } : { ask_high: null, ask_low: null };
}
