import type { Calendar } from "./calendar";
import type { TradingAlignment } from "./timeframe";

/** Days searched for the previous one with a session: longer than any closure of a market that trades. */
const SEARCHED_MAX_DAYS = 31;

/**
 * The open of the trading day directly before the one that opens at `dayOpenS` (both Unix seconds), according to a calendar:
 * days in which the market never opens do not count. Where the calendar is unknown, only the day next to it can be said to be
 * the one before. Null when there is none.
 */
export function previousTradingDay(dayOpenS: number, calendar: Calendar | undefined, alignment: TradingAlignment): number | null {
  let endS = dayOpenS;
  for (let days = 0; days < SEARCHED_MAX_DAYS; days += 1) {
    const openS = alignment.tradingDayOpen(endS - 1);
    const sessions = calendar?.sessionsBetween(openS * 1000, endS * 1000) ?? null;
    if (sessions === null) return endS === dayOpenS ? openS : null;
    if (sessions.length > 0) return openS;
    endS = openS;
  }
  return null;
}
