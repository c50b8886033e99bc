import type { Calendar } from "#lib/domain/calendar";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import type { PricedListing } from "./model";
import { bits, seriesKey, unit } from "./noise";
import { MINUTES_PER_DAY } from "./path";
/** End of the prices of tickers that have gone quiet: their last tick is just before it. */
export const QUIET_SINCE_MS = Date.UTC(2026, 0, 1);
/** Share of the minutes that TESTGAP lacks one by one. */
const GAP_SHARE = 0.03;
/** Probability that a longer gap starts at each tenth minute; seven minutes, so that at least one M5 kline is missing. */
const HOLE_CHANCE = 0.02;
const HOLE_EVERY_MINUTES = 10;
const HOLE_MINUTES = 7;
const HOUR_MINUTES = 60;

/** When a ticker has prices. */
export type Habit =
  /** At any minute. */
  | "always"
  /** No quote ever, no kline. */
  | "never"
  /** Until QUIET_SINCE_MS. */
  | "ended"
  /** While its calendar is open; silent while it is closed or unknown. */
  | "session"
  /** Always but for a few minutes, some short holes, and one whole hour of each day (UTC). */
  | "gaps";

const HABITS: Readonly<Record<string, Habit>> = {
  TESTCLOSED: "ended",
  TESTUNKNOWN: "always",
  TESTSTALE: "ended",
  TESTLATE: "ended",
  TESTMISSING: "never",
  TESTNOTREADY: "never",
  TESTFLIP: "session",
  TESTFX: "session",
  TESTMETAL: "session",
  TESTGAP: "gaps",
};

/** Ordinary tickers always have prices; a test ticker behaves as its name says. */
export function habitOf(listing: PricedListing): Habit {
  if (listing.assetClass !== "test" || !Object.hasOwn(HABITS, listing.ticker)) return "always";
  return HABITS[listing.ticker] ?? "always";
}

function openMinutes(calendar: Calendar | undefined, day: number): Uint8Array {
  const open = new Uint8Array(MINUTES_PER_DAY);
  if (calendar === undefined) return open;
  const startMs = day * DAY_MS;
  const sessions = calendar.sessionsBetween(startMs, startMs + DAY_MS);
  if (sessions !== null) {
    for (const { openMs, closeMs } of sessions)
      open.fill(1, Math.ceil((openMs - startMs) / MINUTE_MS), Math.floor((closeMs - startMs) / MINUTE_MS));
    return open;
  }
  // Part of the day is beyond the covered time: what is still known counts.
  for (let minute = 0; minute < MINUTES_PER_DAY; minute++) {
    const atMs = startMs + minute * MINUTE_MS;
    const { state, nextClose } = calendar.sessionAt(atMs);
    if (state === "open" && (nextClose === null || nextClose >= atMs + MINUTE_MS)) open[minute] = 1;
  }
  return open;
}

function gappyMinutes(key: number, day: number): Uint8Array {
  const open = new Uint8Array(MINUTES_PER_DAY).fill(1);
  const single = seriesKey(key, 1, day);
  const holes = seriesKey(key, 2, day);
  for (let minute = 0; minute < MINUTES_PER_DAY; minute++) {
    if (unit(bits(single, minute)) < GAP_SHARE) open[minute] = 0;
    if (minute % HOLE_EVERY_MINUTES === 0 && unit(bits(holes, minute)) < HOLE_CHANCE) open.fill(0, minute, minute + HOLE_MINUTES);
  }
  const hour = bits(seriesKey(key, 3), day) % 24;
  return open.fill(0, hour * HOUR_MINUTES, (hour + 1) * HOUR_MINUTES);
}

/**
 * Which minutes of a UTC day have prices, 1 or 0 each; "all" or "none" for a whole day.
 * A minute counts only when the market is open for the whole of it.
 */
export function pricedMinutes(
  habit: Habit,
  calendar: Calendar | undefined,
  key: number,
  day: number,
): Uint8Array | "all" | "none" {
  switch (habit) {
    case "always":
      return "all";
    case "never":
      return "none";
    case "ended":
      return day * DAY_MS < QUIET_SINCE_MS ? "all" : "none";
    case "session":
      return openMinutes(calendar, day);
    case "gaps":
      return gappyMinutes(key, day);
  }
}
