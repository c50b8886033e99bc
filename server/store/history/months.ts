import { type Period, periodOf } from "#lib/domain/period";
import type { Queries } from "#server/store/segments/segment-store";

/** A month is open while it has minutes that are in no segment yet. */
const MONTHS = `SELECT start::float8 AS start, max(rows) AS rows, max(sides) AS sides, max(content) AS content, bool_or(open) AS open FROM (
    SELECT start, rows, sides, content, false AS open FROM history_visible
      WHERE ticker = $1 AND timeframe = 'M1' AND content IS NOT NULL AND start >= $2 AND start < $3
    UNION ALL SELECT DISTINCT extract(epoch FROM date_trunc('month', to_timestamp(time), 'UTC'))::bigint, 0, 0, NULL, true FROM kline_tail
      WHERE ticker = $1 AND time >= $2 AND time < $3
  ) AS months GROUP BY start ORDER BY start`;
const MONTH = `SELECT v.content, coalesce(v.rows, 0) AS rows, t.state, t.open FROM (
    SELECT md5(string_agg(kline_tail::text, '' ORDER BY time) FILTER (WHERE time < $4)) AS state, count(*) > 0 AS open
      FROM kline_tail WHERE ticker = $1 AND time >= $2 AND time < $3
  ) AS t LEFT JOIN history_visible v ON v.ticker = $1 AND v.timeframe = 'M1' AND v.start = $2`;

/** The minutes of a month as they show: in a segment, or, while it is open, also as rows. */
interface Month {
  readonly content: string | null;
  readonly rows: number;
  readonly open: boolean;
}

/** The months that touch a range in which minutes of a ticker are stored, ascending. Reads no minutes. */
export async function monthsOf(
  client: Queries,
  ticker: string,
  { from, to }: Period,
): Promise<(Month & { readonly start: number; readonly sides: number })[]> {
  const whole = { from: periodOf("M1", from).from, to: periodOf("M1", to - 1).to };
  const { rows } = await client.query<Month & { start: number; sides: number }>(MONTHS, [ticker, whole.from, whole.to]);
  return rows;
}

/**
 * One month. `state` differs whenever what shows of its minutes before an instant does, Unix seconds; null where none of them is a row.
 */
export async function monthAt(
  client: Queries,
  ticker: string,
  { from, to }: Period,
  before: number,
): Promise<Month & { readonly state: string | null }> {
  const { rows } = await client.query<Month & { state: string | null }>(MONTH, [ticker, from, to, before]);
  return rows[0] as Month & { state: string | null };
}
