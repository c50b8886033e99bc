import { tradingDate, wallClock } from "#lib/client/trading-date";
import type { Timeframe } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import { placeOf, type TimeShape, timeText } from "../portal/date-format";
import { isIntraday } from "./breaks";

/** Rounded: of seconds with a fraction, a floating-point number can be a little less than the millisecond. */
const format = (shape: TimeShape, atS: number) => timeText(Math.round(atS * SECOND_MS), shape, "UTC");
const zoneNote = (timeZone: string) => `Times in ${placeOf(timeZone)}.`;

/**
 * How a chart says when a kline is. Klines within a day have their open time in a time zone. Those of days, weeks and months have
 * the date of their first trading day, which is not the date on which they open: Monday's opens on Sunday.
 */
export interface ChartClock {
  /** The time or date of the kline that opens at `atS` (Unix seconds), in seconds as if its clock were UTC. */
  shown(atS: number): number;
  /** The same in words, without the zone. */
  text(atS: number): string;
  /** What its times are, as a sentence. */
  readonly note: string;
}

/** The clock of ticks in a time zone, to the millisecond. */
export function tickClock(timeZone: string): ChartClock {
  const inZone = wallClock(timeZone);
  const shown = (atS: number) => inZone(Math.floor(atS)) + (atS % 1);
  return { shown, text: (atS) => `${format("day", shown(atS))} ${format("millisecond", shown(atS))}`, note: zoneNote(timeZone) };
}

/** The clock of a chart's timeframe. */
export function chartClock(timeframe: Timeframe, timeZone: string): ChartClock {
  if (!isIntraday(timeframe)) {
    const shape = timeframe === "MN1" ? "monthOfYear" : "day";
    return {
      shown: tradingDate,
      text: (atS) => format(shape, tradingDate(atS)),
      note: "Dates are of trading days, which begin at 17:00 in New York.",
    };
  }
  const shown = wallClock(timeZone);
  return {
    shown,
    text: (atS) => `${format("day", shown(atS))} ${format("time", shown(atS))}`,
    note: zoneNote(timeZone),
  };
}
