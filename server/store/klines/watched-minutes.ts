import { INGEST_KLINES_MAX_AGE_S } from "#lib/contract/limits";
import type { Minutes } from "#lib/market/coverage";
import { DAY_S } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";

/** Ranges older than any minute that may be pushed are of no use. */
const KEPT_S = INGEST_KLINES_MAX_AGE_S + DAY_S;
const VENUE = "live";

/** Minutes of which the service heard every tick of a ticker; null: of all tickers. */
export interface WatchedMinutes extends Minutes {
  readonly ticker: string | null;
}

const NOTE = `INSERT INTO watched_minutes (venue, ticker, from_s, to_s)
  SELECT '${VENUE}', * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
  WHERE $4::bigint IS NULL OR EXISTS (SELECT FROM venue_lease WHERE venue = '${VENUE}' AND token = $4)
  ON CONFLICT (venue, ticker, from_s) DO UPDATE SET to_s = excluded.to_s`;
const FORGET = `DELETE FROM watched_minutes WHERE venue = '${VENUE}' AND to_s < $1`;
const READ = `SELECT from_s::float8 AS from, to_s::float8 AS to FROM watched_minutes
  WHERE venue = '${VENUE}' AND ticker IN ('', $1) AND to_s > $2 AND from_s < $3`;

/**
 * Stores watched minutes; a range with the same beginning replaces the one before. With the token of a lease that another node
 * holds, nothing is stored.
 */
export async function noteWatched(
  pool: Queries,
  token: number | null,
  ranges: readonly WatchedMinutes[],
  nowMs: number,
): Promise<void> {
  if (ranges.length === 0) return;
  const columns = [ranges.map(({ ticker }) => ticker ?? ""), ranges.map(({ from }) => from), ranges.map(({ to }) => to)];
  await pool.query(NOTE, [...columns, token]);
  await pool.query(FORGET, [Math.floor(nowMs / 1_000) - KEPT_S]);
}

/** The watched minutes of a ticker that touch a span, as ranges, which may overlap. */
export async function watchedMinutes(client: Queries, ticker: string, { from, to }: Minutes): Promise<readonly Minutes[]> {
  return (await client.query<Minutes>(READ, [ticker, from, to])).rows;
}
