import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { LackReason } from "#lib/contract/portal-data";
import { rowFrom } from "#lib/domain/columns";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import type { Logger } from "#lib/log";
import type { Minutes } from "#lib/market/coverage";
import type { LackingKlines } from "#lib/market/ports";
import { startRepeating } from "#lib/repeat";
import { DAY_S, MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { readRange } from "#server/store/history/minutes";

const VENUE = "live";
type Stored = Pick<Database, "pool" | "segments">;
/** Ranges before are not looked at again: nothing mends them any more but an import. */
const MENDED_MAX_S = 60 * DAY_S;
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
/** The oldest beyond the limit. */
const FORGET_OLDEST = `DELETE FROM lacking_minutes WHERE venue = '${VENUE}' AND from_s <= (
    SELECT from_s FROM lacking_minutes WHERE venue = '${VENUE}' ORDER BY from_s DESC OFFSET ${LACKING_MAX_RANGES} LIMIT 1)`;
const FORGET = `DELETE FROM lacking_minutes WHERE venue = '${VENUE}' AND ticker = $1 AND from_s = ANY($2::bigint[]) AND to_s < $3`;
const ALL = `SELECT ticker, from_s::float8 AS from, to_s::float8 AS to FROM lacking_minutes WHERE venue = '${VENUE}' ORDER BY from_s`;
const RANGES = `SELECT ticker, from_s::float8 AS from, to_s::float8 AS to, reason FROM lacking_minutes
  WHERE venue = '${VENUE}' AND ($1::text IS NULL OR ticker = $1) AND to_s > $2 AND from_s < $3 ORDER BY from_s DESC`;

/**
 * The open times of the klines that the feed made and nothing has mended. A minute without a kline is a gap, and one that an import, a
 * repair or a correction wrote has what its source says.
 */
const ofFeed = ({ time, layer }: Statements) => time.filter((_, row) => layer[row] === FEED_LAYER);

async function feedMinutes({ pool, segments }: Stored, ticker: string, { from, to }: Minutes): Promise<Float64Array> {
  return ofFeed((await readRange(pool, segments, { ticker, timeframe: "M1", from, to })).rows);
}

/** The times within a range. */
const within = (times: Float64Array, { from, to }: Minutes) => times.subarray(rowFrom(times, from), rowFrom(times, to));

/** The ranges of a ticker that touch a span, newest first. */
export async function lackingRanges(
  { pool }: Pick<Stored, "pool">,
  ticker: string,
  { from, to }: Minutes,
): Promise<LackingMinutes[]> {
  return (await pool.query<LackingMinutes>(RANGES, [ticker, from, to])).rows;
}

/** Some M1 klines that lack ticks for one reason: open times of the first and the last, Unix seconds. */
interface LackingRows {
  readonly reason: LackReason;
  readonly first: number;
  readonly last: number;
  readonly rows: number;
}

/** The klines that lack ticks among those that show, by the ranges in which ticks lack. */
export function lackingAmong(rows: Statements, ranges: readonly LackingMinutes[]): LackingRows[] {
  const times = ofFeed(rows);
  return ranges.flatMap(({ reason, ...range }) => {
    const lacking = within(times, range);
    const [first, last] = [lacking[0], lacking.at(-1)];
    return first === undefined || last === undefined ? [] : [{ reason, first, last, rows: lacking.length }];
  });
}

/** Forgets the ranges of the last weeks that ended more than a day ago and whose klines were all mended. */
export async function forgetMended(db: Stored, nowMs: number): Promise<void> {
  const nowS = Math.floor(nowMs / SECOND_MS);
  const { rows } = await db.pool.query<LackingMinutes>(RANGES, [null, nowS - MENDED_MAX_S, nowS - DAY_S]);
  const tickers = new Map<string, LackingMinutes[]>();
  for (const row of rows) tickers.set(row.ticker, [...(tickers.get(row.ticker) ?? []), row]);
  for (const [ticker, ranges] of tickers) {
    const span = { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) };
    const times = await feedMinutes(db, ticker, span);
    const mended = ranges.filter((range) => within(times, range).length === 0).map(({ from }) => from);
    if (mended.length > 0) await db.pool.query(FORGET, [ticker, mended, nowS - DAY_S]);
  }
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
  await pool.query(FORGET_OLDEST);
}

/** Reads the ranges again and again; they are few. Where they cannot be read, the last ones count. */
export async function followLacking(options: {
  readonly db: Stored;
  readonly clock: Clock;
  readonly log: Logger;
}): Promise<LackingKlines> {
  const { db, clock, log } = options;
  let ranges = new Map<string, Minutes[]>();
  let text = "";
  let revision = 0;

  async function read(): Promise<void> {
    const { rows } = await db.pool.query<Minutes & { ticker: string }>(ALL);
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
      const known = ranges.get(ticker) ?? [];
      const times = await feedMinutes(db, ticker, { from, to });
      return [...times].filter((time) => known.some((range) => time >= range.from && time < range.to));
    },
    stop,
  };
}
