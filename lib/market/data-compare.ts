import type pg from "pg";
import type { DataComparison } from "#lib/contract/portal-data";
import { HOUR_S } from "#lib/units";
import { isoOf, yearSpan } from "./data-reads";
import { SERIES } from "./data-year";

/** The number of an import, or null for what feeds wrote. */
export type SourceId = number | null;

/** Every so many minutes are compared an hour off, which shows as much as all of them. */
const SHIFT_STEP_MINUTES = 7;
/** Fewer common minutes of a month say nothing about its clock. */
const SHIFT_MIN_MINUTES = 30;
/** Two clocks differ when the closes agree so much better an hour off. */
const SHIFT_FACTOR = 4;
const SHIFTS_S = [-HOUR_S, HOUR_S];

/**
 * All versions that a source has of the minutes of a range: the newest ones, and those that imports of $4 replaced. The imports
 * lead to the key of kline_previous.
 */
const versions = (source: string) => `
    SELECT time, open, high, low, close FROM kline WHERE ${SERIES} AND batch IS NOT DISTINCT FROM ${source}
    UNION ALL
    SELECT time, open, high, low, close FROM kline_previous
    WHERE batch = ANY($4::integer[]) AND ticker = $1 AND time >= $2 AND time < $3 AND owner IS NOT DISTINCT FROM ${source}
      AND open IS NOT NULL`;
const SOURCES = `a AS MATERIALIZED (${versions("$5::integer")}), b AS MATERIALIZED (${versions("$6::integer")})`;

const COMPARE = `WITH ${SOURCES}, compared AS MATERIALIZED (
    SELECT a.time, abs(a.close - b.close) AS apart,
      (a.open, a.high, a.low, a.close) = (b.open, b.high, b.low, b.close) AS same
    FROM a JOIN b ON b.time = a.time
  )
  SELECT count(*)::float8 AS common, count(*) FILTER (WHERE same)::float8 AS equal,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY apart) AS median, max(apart) AS most,
    (SELECT time::float8 FROM compared ORDER BY apart DESC, time LIMIT 1) AS most_at
  FROM compared`;

const SHIFTS = `WITH ${SOURCES}
  SELECT date_part('month', to_timestamp(a.time) AT TIME ZONE 'UTC') AS month, shift::float8 AS shift,
    count(*)::float8 AS minutes, percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(a.close - b.close)) AS median
  FROM a CROSS JOIN unnest($7::bigint[]) AS shift JOIN b ON b.time = a.time + shift
  WHERE a.time / 60 % ${SHIFT_STEP_MINUTES} = 0
  GROUP BY 1, 2`;

/** The median difference of the closes of a month, with the second source moved by `shift` seconds. */
interface MonthShift {
  readonly month: number;
  readonly shift: number;
  readonly minutes: number;
  readonly median: number;
}

/** The hour by which the clocks of two sources differ, with the months in which it shows; null when it does in none. */
export function clockShift(rows: readonly MonthShift[]): DataComparison["shift"] {
  const known = rows.filter(({ minutes }) => minutes >= SHIFT_MIN_MINUTES);
  const found = SHIFTS_S.map((shift) => ({
    // The second source is right where its prices of an hour later are those of the first: it has to be moved back.
    hours: -shift / HOUR_S,
    months: known
      .filter((row) => row.shift === shift)
      .filter(({ month, median }) => {
        const own = known.find((row) => row.shift === 0 && row.month === month)?.median;
        return own !== undefined && own > median * SHIFT_FACTOR;
      })
      .map(({ month }) => month)
      .sort((a, b) => a - b),
  }));
  const best = found.reduce((a, b) => (b.months.length > a.months.length ? b : a));
  return best.months.length === 0 ? null : best;
}

interface Compared {
  readonly common: number;
  readonly equal: number;
  readonly median: number | null;
  readonly most: number | null;
  readonly most_at: number | null;
}

/**
 * Compares the versions that two sources have of the minutes of a UTC year; null when they have none in common.
 * @param imports the numbers of the imports of the ticker
 */
export async function compareYear(
  client: pg.ClientBase,
  { ticker, pipSize }: { readonly ticker: string; readonly pipSize: number },
  year: number,
  [a, b]: readonly [SourceId, SourceId],
  imports: readonly number[],
): Promise<DataComparison | null> {
  const { from, to } = yearSpan(year);
  const values = [ticker, from, to, imports, a, b];
  const { rows } = await client.query<Compared>(COMPARE, values);
  const [compared] = rows;
  if (compared === undefined || compared.common === 0) return null;
  const { common, equal, median, most, most_at } = compared;
  const shifts = equal === common ? [] : (await client.query<MonthShift>(SHIFTS, [...values, [0, ...SHIFTS_S]])).rows;
  const pips = (difference: number | null) => Number(((difference ?? 0) / pipSize).toFixed(2));
  return {
    ...{ year, common, equal },
    median_pips: pips(median),
    max_pips: pips(most),
    max_at: isoOf(most_at ?? from),
    shift: clockShift(shifts),
  };
}
