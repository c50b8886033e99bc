import type { Timeframe } from "#lib/contract/primitives";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import type { WallTime } from "./calendar";
import { wallTimeMs, zone } from "./zone";

/** 1970-01-04 was a Sunday. */
const FIRST_SUNDAY_S = 3 * DAY_S;

/** From the shortest to the longest. */
export const TIMEFRAMES_ORDER = ["M1", "M5", "M15", "M30", "H1", "H4", "D1", "W1", "MN1"] as const satisfies readonly Timeframe[];

/**
 * Nominal length of a kline in seconds; a month is taken as 30 days. Real H4 to MN1 klines are longer or shorter by the
 * hour of a clock change, MN1 also by the calendar: ask an alignment for the end of a kline.
 */
export const TIMEFRAME_SECONDS: Readonly<Record<Timeframe, number>> = {
  M1: 60,
  M5: 300,
  M15: 900,
  M30: 1_800,
  H1: HOUR_S,
  H4: 4 * HOUR_S,
  D1: DAY_S,
  W1: 7 * DAY_S,
  MN1: 30 * DAY_S,
};

/** The timeframe of so many minutes, a month of 30 days; undefined where there is none. */
export const timeframeOfMinutes = (minutes: number): Timeframe | undefined =>
  TIMEFRAMES_ORDER.find((timeframe) => TIMEFRAME_SECONDS[timeframe] === minutes * MINUTE_S);

/** The clock that H4, D1, W1 and MN1 klines open on. */
interface AlignmentRule {
  /** IANA zone. */
  readonly zone: string;
  /**
   * Wall time at which the trading day opens. From 12:00 on, the day carries the date of the next calendar day
   * (Sunday 17:00 opens Monday's), before 12:00 its own.
   */
  readonly dayStart: WallTime;
}

/** The alignment of the service: the trading day opens at 17:00 in New York, all year. */
export const NEW_YORK_CLOSE: AlignmentRule = { zone: "America/New_York", dayStart: "17:00" };

/** Finds the interval of a timeframe that contains an instant. All instants are Unix seconds. */
export interface TradingAlignment {
  /** Open time of the kline that holds the instant. */
  openTime(timeframe: Timeframe, atS: number): number;
  /** Open time of the kline after the one that holds the instant, which is the (excluded) end of the latter. */
  nextOpenTime(timeframe: Timeframe, atS: number): number;
  /** Open of the trading day that holds the instant: the open time of its D1 kline. */
  tradingDayOpen(atS: number): number;
}

/** Start and end of an interval on the wall clock of a zone, in seconds as if that clock were UTC. */
interface WallGrid {
  floor(wallS: number): number;
  next(openS: number): number;
}

function evenGrid(anchorS: number, stepS: number): WallGrid {
  return {
    floor: (wallS) => Math.floor((wallS - anchorS) / stepS) * stepS + anchorS,
    next: (openS) => openS + stepS,
  };
}

/** Months of trading days; `dateShiftS` leads from the wall clock to the clock on which the trading day opens at midnight. */
function monthGrid(dateShiftS: number): WallGrid {
  function monthStart(wallS: number, later: number): number {
    const date = new Date((wallS + dateShiftS) * 1000);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1) / 1000 - dateShiftS;
  }
  return { floor: (wallS) => monthStart(wallS, 0), next: (openS) => monthStart(openS, 1) };
}

/** Finds the interval of an instant and caches the last one: most calls are for the same or the next interval. */
function intervalFinder(clock: ReturnType<typeof zone>, grid: WallGrid): (atS: number) => { openS: number; endS: number } {
  // No instant is in the first interval, nor at its end.
  const interval = { openS: Number.NaN, endS: Number.NaN, endWallS: Number.NaN };
  const fromWall = (wallS: number) => clock.fromLocal(wallS * 1000) / 1000;

  function take(wallS: number, openS: number): void {
    interval.openS = openS;
    interval.endWallS = grid.next(wallS);
    interval.endS = fromWall(interval.endWallS);
  }

  return (atS) => {
    if (atS >= interval.openS && atS < interval.endS) return interval;
    if (atS !== interval.endS) {
      const wallS = grid.floor(clock.toLocal(atS * 1000) / 1000);
      take(wallS, fromWall(wallS));
      // When a clock goes back over a boundary, the repeated wall time belongs to the interval before the boundary.
    }
    while (atS >= interval.endS) take(interval.endWallS, interval.endS);
    return interval;
  };
}

/**
 * An alignment by its rule. M1 to H1 open on UTC multiples; D1 at the day start; H4 every four wall hours from it; W1 on
 * the local Sunday at the day start; MN1 with the trading day of the first of the month.
 *
 * Intervals tile time without gap or overlap: boundaries are wall times, so the interval that holds a clock change is an
 * hour longer or shorter. In New York that is the H4 of 01:00, which lasts three hours in spring and five in autumn, and
 * the D1, W1 and MN1 around it. Keep the object: it caches lookups.
 * @throws RangeError for a zone the runtime does not know.
 */
export function createAlignment(rule: AlignmentRule = NEW_YORK_CLOSE): TradingAlignment {
  const clock = zone(rule.zone);
  const dayStartS = wallTimeMs(rule.dayStart) / 1000;
  const find = {
    H4: intervalFinder(clock, evenGrid(dayStartS, 4 * HOUR_S)),
    D1: intervalFinder(clock, evenGrid(dayStartS, DAY_S)),
    W1: intervalFinder(clock, evenGrid(FIRST_SUNDAY_S + dayStartS, 7 * DAY_S)),
    MN1: intervalFinder(clock, monthGrid(dayStartS >= DAY_S / 2 ? DAY_S - dayStartS : -dayStartS)),
  };

  function openTime(timeframe: Timeframe, atS: number): number {
    if (timeframe === "H4" || timeframe === "D1" || timeframe === "W1" || timeframe === "MN1") return find[timeframe](atS).openS;
    const stepS = TIMEFRAME_SECONDS[timeframe];
    return Math.floor(atS / stepS) * stepS;
  }

  function nextOpenTime(timeframe: Timeframe, atS: number): number {
    if (timeframe === "H4" || timeframe === "D1" || timeframe === "W1" || timeframe === "MN1") return find[timeframe](atS).endS;
    const stepS = TIMEFRAME_SECONDS[timeframe];
    return Math.floor(atS / stepS) * stepS + stepS;
  }

  return { openTime, nextOpenTime, tradingDayOpen: (atS) => find.D1(atS).openS };
}
