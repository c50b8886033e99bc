import type pg from "pg";
import type { Kline } from "#lib/domain/kline";
import type { Minutes } from "./coverage";
import { type KlineRow, NUMBERS, toKline } from "./kline-rows";
import { listOf, VALUES } from "./kline-sql";

const M1 = "k.venue = 'live' AND k.timeframe = 'M1'";

const KEEP = `INSERT INTO kline_previous (batch, ticker, time, ${VALUES.join(", ")}, owner)
  SELECT $1, k.ticker, k.time, ${listOf("k", VALUES)}, k.batch FROM kline k
  WHERE ${M1} AND k.ticker = $2 AND k.time = ANY($3::bigint[])`;
const DELETE = `DELETE FROM kline k WHERE ${M1} AND k.ticker = $1 AND k.time = ANY($2::bigint[])`;
const STRIKE = "INSERT INTO struck_minute (batch, ticker, time) SELECT batch, ticker, time FROM kline_previous WHERE batch = $1";

/** A row that the batch wrote over a minute without a kline, although it had one before it was struck out. */
const LINK = `INSERT INTO kline_previous (batch, ticker, time, owner)
  SELECT $1, k.ticker, k.time, max(s.batch) FROM struck_minute s JOIN kline k ON k.ticker = s.ticker AND k.time = s.time
  WHERE s.ticker = $2 AND s.time BETWEEN $3 AND $4 AND ${M1} AND k.ticker = $2 AND k.time BETWEEN $3 AND $4 AND k.batch = $1
    AND NOT EXISTS (SELECT FROM kline_previous p WHERE p.batch = $1 AND p.ticker = k.ticker AND p.time = k.time)
  GROUP BY k.ticker, k.time`;

const ANY_STRUCK = "SELECT FROM struck_minute WHERE ticker = $1 AND time BETWEEN $2 AND $3 LIMIT 1";

/** What was written since stays, and what a later correction struck out stays so. */
const REINSERT = `INSERT INTO kline (venue, ticker, timeframe, time, ${VALUES.join(", ")}, batch)
  SELECT 'live', mine.ticker, 'M1', mine.time, ${listOf("mine", VALUES)}, mine.owner
  FROM struck_minute s JOIN kline_previous mine ON mine.batch = s.batch AND mine.ticker = s.ticker AND mine.time = s.time
  WHERE s.batch = $1 AND mine.batch = $1 AND mine.open IS NOT NULL
    AND NOT EXISTS (SELECT FROM struck_minute l WHERE l.ticker = s.ticker AND l.time = s.time AND l.batch > s.batch)
  ON CONFLICT (venue, ticker, timeframe, time) DO NOTHING`;

const STRUCK = `SELECT DISTINCT s.time FROM struck_minute s WHERE s.ticker = $1 AND s.time >= $2 AND s.time < $3 AND NOT EXISTS (
    SELECT FROM kline k WHERE ${M1} AND k.ticker = s.ticker AND k.time = s.time
  ) ORDER BY s.time`;
const STRUCK_BY = `SELECT p.time, ${listOf("p", VALUES)}
  FROM struck_minute s JOIN kline_previous p ON p.batch = s.batch AND p.ticker = s.ticker AND p.time = s.time
  WHERE s.batch = $1 AND p.batch = $1 AND s.ticker = $2 AND p.open IS NOT NULL ORDER BY p.time`;

/**
 * Takes stored M1 klines of the live venue out, in the caller's transaction, as a part of batch `batch`. They are kept as
 * versions, so that an undo of the batch brings them back.
 */
export async function strike(client: pg.ClientBase, batch: number, ticker: string, times: readonly number[]): Promise<void> {
  await client.query(KEEP, [batch, ticker, times]);
  await client.query(DELETE, [ticker, times]);
  await client.query(STRIKE, [batch]);
}

/** Notes which M1 klines that a batch has just written follow a strike: without the batch, their minutes are struck out. */
export async function linkToStruck(
  client: pg.ClientBase,
  batch: number,
  { ticker, first, last }: { readonly ticker: string; readonly first: number; readonly last: number },
): Promise<void> {
  // Nearly always none: then the written rows are not read again.
  const { rowCount } = await client.query(ANY_STRUCK, [ticker, first, last]);
  if (rowCount !== 0) await client.query(LINK, [batch, ticker, first, last]);
}

/** Undoes the strikes of a batch. Later versions of its minutes must have been given its predecessors before. */
export async function restoreStruck(client: pg.ClientBase, batch: number): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM struck_minute WHERE batch = $1 LIMIT 1", [batch]);
  if (rowCount === 0) return;
  await client.query(REINSERT, [batch]);
  await client.query("DELETE FROM struck_minute WHERE batch = $1", [batch]);
}

/** The minutes of a ticker with from <= time < to (Unix seconds) that are struck out and were not written since. */
export async function struckMinutes(
  client: Pick<pg.ClientBase, "query">,
  ticker: string,
  { from, to }: Minutes,
): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<[number]>({
    text: STRUCK,
    values: [ticker, from, to],
    rowMode: "array",
    types: NUMBERS,
  });
  return new Set(rows.map(([time]) => time));
}

/** The M1 klines of a ticker that a batch struck out, as they were, ascending. */
export async function struckBy(client: Pick<pg.Pool, "query">, batch: number, ticker: string): Promise<Kline[]> {
  const { rows } = await client.query<KlineRow>({ text: STRUCK_BY, values: [batch, ticker], rowMode: "array", types: NUMBERS });
  return rows.map((row) => toKline(ticker, "M1", row));
}
