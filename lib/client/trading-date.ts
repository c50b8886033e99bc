import { DAY_S, HOUR_S } from "#lib/units";

/** The time zone of the charts: trading days open at 17:00 in New York, all year. */
export const ZONE = "America/New_York";
/** On a clock that is so far ahead of New York's, a trading day begins at midnight and has its own date. */
export const AHEAD_S = 7 * HOUR_S;

/** The clock of an IANA time zone: what it shows at an instant (Unix seconds), in seconds as if that clock were UTC. */
export function wallClock(timeZone: string): (atS: number) => number {
  if (timeZone === "UTC") return (atS) => atS;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (atS) => {
    const parts = Object.fromEntries(format.formatToParts(atS * 1000).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
  };
}

const inNewYork = wallClock(ZONE);

/** What the clock of trading days shows at an instant (Unix seconds), in seconds as if that clock were UTC. */
export const tradingClock = (atS: number): number => inNewYork(atS) + AHEAD_S;

/** Midnight UTC, in Unix seconds, of the date of the trading day that holds an instant: the day that opens on Sunday is Monday's. */
export const tradingDate = (atS: number): number => Math.floor(tradingClock(atS) / DAY_S) * DAY_S;
