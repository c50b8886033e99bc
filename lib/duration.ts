import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./units";

const UNITS = [
  [DAY_MS, "d"],
  [HOUR_MS, "h"],
  [MINUTE_MS, "min"],
  [SECOND_MS, "s"],
] as const;
/** Shorter durations are shown with tenths of a second. */
const TENTHS_BELOW_MS = 10 * SECOND_MS;

/**
 * A duration in its two largest units, rounded down, as in "3 h 20 min", "45 s", "1.2 s" or "320 ms"; never below zero.
 * @param units 1 prints the largest unit only, where space is limited
 */
export function durationText(ms: number, units: 1 | 2 = 2): string {
  const given = Math.max(0, ms);
  if (given < SECOND_MS) return `${Math.floor(given)} ms`;
  if (given < TENTHS_BELOW_MS) return `${Math.floor(given / 100) / 10} s`;
  const at = UNITS.findIndex(([unit]) => given >= unit);
  const parts: string[] = [];
  let left = given;
  for (const [unit, name] of UNITS.slice(at, at + units)) {
    const count = Math.floor(left / unit);
    if (count > 0) parts.push(`${count} ${name}`);
    left -= count * unit;
  }
  return parts.join(" ");
}

/** How long ago in words, as "9 days", "3 hours" or "4 min 10 s". */
export function agoText(ms: number): string {
  const count = (of: number, unit: string) => `${of} ${unit}${of === 1 ? "" : "s"}`;
  if (ms >= 2 * DAY_MS) return count(Math.floor(ms / DAY_MS), "day");
  return ms >= HOUR_MS ? count(Math.floor(ms / HOUR_MS), "hour") : durationText(ms);
}

/** A countdown of fixed-width digits, as in "6 d 03:12:09", without days below one day; never below zero. */
export function countdownText(ms: number): string {
  const given = Math.max(0, ms);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const days = Math.floor(given / DAY_MS);
  const clock = [(given % DAY_MS) / HOUR_MS, (given % HOUR_MS) / MINUTE_MS, (given % MINUTE_MS) / SECOND_MS].map(two).join(":");
  return days === 0 ? clock : `${days} d ${clock}`;
}
