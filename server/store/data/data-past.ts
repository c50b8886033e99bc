import type { DataPast } from "#lib/contract/portal-data";
import type { Calendar } from "#lib/domain/calendar";
import { COLUMN_NAMES, type KlineColumns } from "#lib/domain/columns";
import { periodOf } from "#lib/domain/period";
import { isoOf, yearSpan } from "#lib/market/data-reads";
import { MINUTE_S } from "#lib/units";
import { readRange } from "#server/store/history/minutes";
import { runsOf } from "#server/store/history/runs";
import type { PastRead } from "#server/store/klines/past-klines";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { coverYear } from "./data-year";

/** What happened between two states of a series, minute by minute. */
function since(then: KlineColumns, now: KlineColumns): DataPast["since"] {
  const counts = { added: 0, removed: 0, changed: 0 };
  for (let a = 0, b = 0; a < then.time.length || b < now.time.length; ) {
    const apart = (then.time[a] ?? Number.POSITIVE_INFINITY) - (now.time[b] ?? Number.POSITIVE_INFINITY);
    if (apart < 0) counts.removed += 1;
    else if (apart > 0) counts.added += 1;
    else if (COLUMN_NAMES.some((name) => !Object.is(then[name][a], now[name][b]))) counts.changed += 1;
    if (apart <= 0) a += 1;
    if (apart >= 0) b += 1;
  }
  return counts;
}

/** The prices of each UTC month. */
function monthsOf({ time, open, high, low, close }: KlineColumns): DataPast["months"] {
  const months: { month: string; rows: number; open: number; high: number; low: number; close: number }[] = [];
  let end = 0;
  for (let row = 0; row < time.length; row += 1) {
    const [at, top, bottom, last] = [time[row] as number, high[row] as number, low[row] as number, close[row] as number];
    const month = months.at(-1);
    if (month === undefined || at >= end) {
      end = periodOf("M1", at).to;
      months.push({ month: isoOf(at).slice(0, 7), rows: 1, open: open[row] as number, high: top, low: bottom, close: last });
      continue;
    }
    month.rows += 1;
    month.high = Math.max(month.high, top);
    month.low = Math.min(month.low, bottom);
    month.close = last;
  }
  return months;
}

/**
 * Reads a UTC year as it showed at an instant, Unix seconds, and what happened since.
 * @param readPast bounds the work
 * @throws Fault as readPast does
 */
export async function readPastYear(
  client: Queries,
  segments: Segments,
  readPast: PastRead,
  ticker: string,
  year: number,
  atS: number,
  calendar: Pick<Calendar, "sessionsBetween" | "sessionAt"> | undefined,
): Promise<DataPast> {
  const span = yearSpan(year);
  const query = { ticker, timeframe: "M1", ...span, limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
  const then = await readPast(client, query, atS);
  const { rows: now } = await readRange(client, segments, { ticker, timeframe: "M1", ...span });
  const [first, last] = [then.time[0], then.time.at(-1)];
  return {
    as_of: isoOf(atS),
    coverage:
      first === undefined || last === undefined
        ? null
        : coverYear(year, { from: first, to: last + MINUTE_S }, runsOf(then.time), calendar, []).coverage,
    months: monthsOf(then),
    since: since(then, now),
  };
}
