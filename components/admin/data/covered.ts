import type { DataYearCoverage } from "#lib/contract/portal-data";
import { shareText } from "../../portal/numbers";

/** Whether the klines of a year begin with it and end with it. */
export function isWholeYear({ year, from, to }: Pick<DataYearCoverage, "year" | "from" | "to">): boolean {
  return Date.parse(from) <= Date.UTC(year, 0) && Date.parse(to) >= Date.UTC(year + 1, 0);
}

/** What a year misses from its first kline to its last one. */
export function missingText({ rows, minutes }: Pick<DataYearCoverage, "rows" | "minutes">): string {
  if (minutes === null) return "hours unknown";
  return minutes.gap === 0 ? "complete" : `${shareText(minutes.gap, rows - minutes.in_closed_hours + minutes.gap)} missing`;
}
