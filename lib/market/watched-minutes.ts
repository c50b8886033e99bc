import type pg from "pg";
import { INGEST_KLINES_MAX_AGE_S } from "#lib/contract/limits";
import { NUMBERS } from "#lib/history/kline-rows";
import { DAY_S } from "#lib/units";
import type { Minutes } from "./coverage";

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
const READ = `SELECT from_s, to_s FROM watched_minutes
  WHERE venue = '${VENUE}' AND ticker IN ('', $1) AND to_s > $2 AND from_s < $3 ORDER BY from_s`;

/**
 * Stores watched minutes; a range with the same beginning replaces the one before. With the token of a lease that another node
 * holds, nothing is stored.
 */
export async function noteWatched(
  pool: Pick<pg.Pool, "query">,
  token: number | null,
  ranges: readonly WatchedMinutes[],
  nowMs: number,
): Promise<void> {
  if (ranges.length === 0) return;
  const columns = [ranges.map(({ ticker }) => ticker ?? ""), ranges.map(({ from }) => from), ranges.map(({ to }) => to)];
  await pool.query(NOTE, [...columns, token]);
  await pool.query(FORGET, [Math.floor(nowMs / 1_000) - KEPT_S]);
}

/** The watched minutes of a ticker within [from, to), Unix seconds, by their open times. */
export async function watchedMinutes(
  client: Pick<pg.ClientBase, "query">,
  ticker: string,
  { from, to }: Minutes,
): Promise<ReadonlySet<number>> {
  const read = { text: READ, values: [ticker, from, to], rowMode: "array" as const, types: NUMBERS };
  const { rows } = await client.query<[number, number]>(read);
  const watched = new Set<number>();
  for (const [first, end] of rows) for (let time = Math.max(first, from); time < Math.min(end, to); time += 60) watched.add(time);
  return watched;
}
