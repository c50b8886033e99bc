import type { AssetClass } from "#lib/contract/instrument";
import type { Timeframe } from "#lib/contract/primitives";
import { closesAtMs } from "#lib/domain/kline";
import { createAlignment, TIMEFRAME_SECONDS, type TradingAlignment } from "#lib/domain/timeframe";
import { HOUR_S, MINUTE_MS, SECOND_MS } from "#lib/units";
import { openMs, weeklyHours } from "./clock-judge";

/** Whether klines of a timeframe open on a clock, not on multiples of UTC. */
export const isLong = (timeframe: Timeframe) => TIMEFRAME_SECONDS[timeframe] > HOUR_S;

/** The klines of the service that rows of one timeframe can be. */
export interface Intervals {
  readonly timeframe: Timeframe;
  /** Open time (Unix seconds) of the kline that a row of this time is; null when the service has no such kline. */
  openOf(timeMs: number): number | null;
  /** The kline of the service that holds the time of a row. */
  around(timeMs: number): number;
  /** Whether a kline is over. */
  isOver(openS: number, nowMs: number): boolean;
}

function minutes(): Intervals {
  const around = (timeMs: number) => Math.floor(timeMs / MINUTE_MS) * 60;
  return {
    timeframe: "M1",
    around,
    openOf: (timeMs) => (timeMs % MINUTE_MS === 0 ? timeMs / SECOND_MS : null),
    isOver: (openS, nowMs) => openS * SECOND_MS + MINUTE_MS <= nowMs,
  };
}

/**
 * The open time of the kline with the same trading hours as [openS, …) of a source: their starts and ends are apart only while
 * the market is closed, as those of a week that begins on Saturday instead of Sunday evening.
 */
function sameHours(timeframe: Timeframe, openS: number, alignment: TradingAlignment, isShut: (a: number, b: number) => boolean) {
  const within = alignment.openTime(timeframe, openS);
  for (const own of [within, alignment.nextOpenTime(timeframe, openS)]) {
    const shiftS = openS - own;
    const endS = alignment.nextOpenTime(timeframe, own);
    if (isShut(own, openS) && isShut(endS, endS + shiftS)) return own;
  }
  return null;
}

/**
 * The intervals of a timeframe. Rows of up to an hour open on multiples of UTC; longer ones must hold the same trading hours as
 * the klines of the service.
 */
export function createIntervals(timeframe: Timeframe, assetClass: AssetClass): Intervals {
  if (timeframe === "M1") return minutes();
  const alignment = createAlignment();
  const hours = weeklyHours(assetClass);
  const isShut = (a: number, b: number) => openMs(hours, Math.min(a, b) * SECOND_MS, Math.max(a, b) * SECOND_MS) === 0;
  const around = (timeMs: number) => alignment.openTime(timeframe, Math.floor(timeMs / SECOND_MS));
  return {
    timeframe,
    around,
    openOf(timeMs) {
      const own = around(timeMs);
      if (own * SECOND_MS === timeMs) return own;
      return isLong(timeframe) ? sameHours(timeframe, timeMs / SECOND_MS, alignment, isShut) : null;
    },
    isOver: (openS, nowMs) => closesAtMs({ timeframe, time: openS }, alignment) <= nowMs,
  };
}
