import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { LackReason } from "#lib/contract/portal-data";
import type { Logger } from "#lib/log";
import { startRepeating } from "#lib/repeat";
import { DAY_S, MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import type { Minutes } from "./coverage";
import { NUMBERS } from "./kline-rows";

const VENUE = "live";
/** The most ranges that are kept, the newest; a feed that is lost every minute would make more. */
export const LACKING_MAX_RANGES = 20_000;
/** How long it takes at most until a process knows what another one has noted. */
const READ_INTERVAL_MS = 10 * SECOND_MS;

/** Minutes of a ticker of which ticks lack, and why. */
export interface LackingMinutes extends Minutes {
  readonly ticker: string;
  readonly reason: LackReason;
}

const NOTE = `INSERT INTO lacking_minutes AS kept (venue, ticker, from_s, to_s, reason)
  SELECT '${VENUE}', * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[])
  WHERE $5::bigint IS NULL OR EXISTS (SELECT FROM venue_lease WHERE venue = '${VENUE}' AND token = $5)
  ON CONFLICT (venue, ticker, from_s, reason) DO UPDATE SET to_s = GREATEST(kept.to_s, excluded.to_s)`;
/** A minute without a kline is a gap, and one that an import, a repair or a correction wrote has what its source says. */
const PARTIAL = `SELECT FROM kline
  WHERE venue = '${VENUE}' AND kline.ticker = kept.ticker AND timeframe = 'M1' AND time >= from_s AND time < to_s AND batch IS NULL`;
/** Old ranges whose klines were mended, and the oldest beyond the limit. */
const FORGET = `DELETE FROM lacking_minutes AS kept WHERE venue = '${VENUE}' AND (
    (to_s < $1 AND NOT EXISTS (${PARTIAL})) OR from_s <= (
      SELECT from_s FROM lacking_minutes WHERE venue = '${VENUE}' ORDER BY from_s DESC OFFSET ${LACKING_MAX_RANGES} LIMIT 1))`;
const ALL = `SELECT ticker, from_s::float8 AS from, to_s::float8 AS to FROM lacking_minutes WHERE venue = '${VENUE}' ORDER BY from_s`;
/** The ranges of a ticker in a span, each with the open times of its klines that nothing has mended. */
const PARTIAL_ROWS = `lacking_minutes, LATERAL (
    SELECT time FROM kline WHERE venue = '${VENUE}' AND ticker = $1 AND timeframe = 'M1'
      AND time >= GREATEST(from_s, $2) AND time < LEAST(to_s, $3) AND batch IS NULL
  ) AS minutes
  WHERE venue = '${VENUE}' AND ticker = $1 AND to_s > $2 AND from_s < $3`;
const PARTIAL_MINUTES = `SELECT DISTINCT time FROM ${PARTIAL_ROWS} ORDER BY time`;
const PARTIAL_BY_RANGE = `SELECT reason, min(time)::float8 AS first, max(time)::float8 AS last, count(*)::int AS rows
  FROM ${PARTIAL_ROWS} GROUP BY from_s, reason ORDER BY from_s DESC LIMIT $4`;

/** Some M1 klines that lack ticks for one reason: open times of the first and the last, Unix seconds. */
interface LackingRows {
  readonly reason: LackReason;
  readonly first: number;
  readonly last: number;
  readonly rows: number;
}

/** The ranges of a span in which klines lack ticks, the newest first, at most `limit`. */
export async function lackingOf(
  client: Pick<pg.ClientBase, "query">,
  ticker: string,
  { from, to }: Minutes,
  limit: number,
): Promise<readonly LackingRows[]> {
  return (await client.query<LackingRows>(PARTIAL_BY_RANGE, [ticker, from, to, limit])).rows;
}

/** The whole minutes that a range of instants (Unix ms) touches. */
export function minutesTouched(fromMs: number, toMs: number): Minutes {
  return { from: Math.floor(fromMs / MINUTE_MS) * MINUTE_S, to: Math.ceil(toMs / MINUTE_MS) * MINUTE_S };
}

/**
 * Stores of which minutes ticks lack; a range with the same beginning and reason is made longer. With the token of a lease that
 * another node holds, nothing is stored.
 */
export async function noteLacking(
  pool: Pick<pg.Pool, "query">,
  token: number | null,
  ranges: readonly LackingMinutes[],
  nowMs: number,
): Promise<void> {
  if (ranges.length === 0) return;
  // Two rows with one key cannot be written at once.
  const longest = new Map<string, LackingMinutes>();
  for (const range of ranges) {
    const key = `${range.ticker} ${range.from} ${range.reason}`;
    if ((longest.get(key)?.to ?? 0) < range.to) longest.set(key, range);
  }
  const rows = [...longest.values()];
  const columns = [rows.map(({ ticker }) => ticker), rows.map(({ from }) => from), rows.map(({ to }) => to)];
  await pool.query(NOTE, [...columns, rows.map(({ reason }) => reason), token]);
  await pool.query(FORGET, [Math.floor(nowMs / SECOND_MS) - DAY_S]);
}

/** Knows which klines of the live venue lack ticks. */
export interface LackingKlines {
  /** Rises when ranges were added or removed. */
  revision(): number;
  /**
   * Open times (Unix seconds) of the M1 klines with from <= time < to that this service recorded only in part and nothing has
   * mended, ascending. Does not ask the database where no range is known.
   */
  minutes(ticker: string, from: number, to: number): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Reads the ranges again and again; they are few. Where they cannot be read, the last ones count. */
export async function followLacking(options: {
  readonly pool: Pick<pg.Pool, "query">;
  readonly clock: Clock;
  readonly log: Logger;
}): Promise<LackingKlines> {
  const { pool, clock, log } = options;
  let ranges = new Map<string, Minutes[]>();
  let text = "";
  let revision = 0;

  async function read(): Promise<void> {
    const { rows } = await pool.query<Minutes & { ticker: string }>(ALL);
    const now = JSON.stringify(rows);
    if (now === text) return;
    text = now;
    ranges = new Map();
    for (const row of rows) ranges.set(row.ticker, [...(ranges.get(row.ticker) ?? []), row]);
    revision += 1;
  }
  const onError = (error: unknown, failures: number) => {
    if (failures === 1) log.warn({ err: error }, "cannot read which minutes lack ticks; retrying");
  };
  await read();
  const { stop } = startRepeating({ clock, pause: READ_INTERVAL_MS, onError }, read);
  return {
    revision: () => revision,
    async minutes(ticker, from, to) {
      if (!ranges.get(ticker)?.some((range) => range.to > from && range.from < to)) return [];
      const query = { text: PARTIAL_MINUTES, values: [ticker, from, to], rowMode: "array" as const, types: NUMBERS };
      const { rows } = await pool.query<[number]>(query);
      return rows.map(([time]) => time);
    },
    stop,
  };
}
