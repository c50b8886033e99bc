import type { Timeframe } from "#lib/contract/primitives";

/** The times that one segment of a series holds, Unix seconds, `to` excluded. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The year 9999: beyond any stored time, and an instant that calendars know; Unix seconds. */
export const TIME_MAX_S = 253_370_764_800;
/** What comes after the last period: beyond any time that can be stored. */
const FOR_EVER = 8_640_000_000_000;
const LONGEST: readonly Timeframe[] = ["D1", "W1", "MN1"];

/** The period of a time: a UTC month for M1, a UTC year up to H4, and one for all days, weeks and months. */
export function periodOf(timeframe: Timeframe, time: number): Period {
  if (LONGEST.includes(timeframe)) return { from: 0, to: FOR_EVER };
  const date = new Date(time * 1_000);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const [from, to] =
    timeframe === "M1" ? [Date.UTC(year, month), Date.UTC(year, month + 1)] : [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
  return { from: from / 1_000, to: to / 1_000 };
}
