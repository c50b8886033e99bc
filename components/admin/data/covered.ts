import type { DataYearCoverage } from "#lib/contract/portal-data";
import { DAY_MS } from "#lib/units";
import { timeText } from "../../portal/date-format";
import { shareText } from "../../portal/numbers";

type Year = Pick<DataYearCoverage, "year" | "from" | "to" | "rows" | "minutes">;

const day = (atMs: number) => timeText(atMs, "dayOfYear", "UTC");
const time = (atMs: number) => timeText(atMs, "time", "UTC");

/** The stretch of a year that has klines, in UTC; undefined for a whole year. */
export function stretchText({ year, from, to }: Year): string | undefined {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  if (fromMs <= Date.UTC(year, 0) && toMs >= Date.UTC(year + 1, 0)) return undefined;
  // The end is not part of it.
  const last = toMs - 1;
  if (day(fromMs) === day(last)) return `${day(fromMs)}, ${time(fromMs)} – ${time(toMs)}`;
  if (toMs - fromMs > 2 * DAY_MS) return `${day(fromMs)} – ${day(last)}`;
  return `${day(fromMs)}, ${time(fromMs)} – ${day(toMs)}, ${time(toMs)}`;
}

/** What a year misses within its stretch. */
export function missingText(year: Year): string {
  const { rows, minutes } = year;
  if (minutes === null) return "hours unknown";
  if (minutes.gap > 0) return `${shareText(minutes.gap, rows - minutes.in_closed_hours + minutes.gap)} missing`;
  return stretchText(year) === undefined ? "complete" : "complete within";
}
