import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { Venue } from "#lib/contract/primitives";
import { longQuery, promptQuery } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { COPY_COLUMNS, copyChunks, type KlineRow, NUMBERS, type RowRange, toKline } from "./kline-rows";
import type { KlineQuery } from "./ports";

/** The columns of a kline that a writer gives; the batch is null unless an import sets it. */
export const COLUMNS = "ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread";
/** The columns that two versions of a kline can differ in. */
export const VALUES = ["open", "high", "low", "close", "tick_volume", "real_volume", "spread"];
const WRITTEN = [...VALUES, "batch"];
/** Columns of a table or alias, as a list. */
export const listOf = (prefix: string, columns: readonly string[]) => columns.map((column) => `${prefix}.${column}`).join(", ");

/** Rows that would not change are left alone: a repeated write of the same batch writes nothing. */
export const LAST_WRITE_WINS = `ON CONFLICT (venue, ticker, timeframe, time)
  DO UPDATE SET (${WRITTEN.join(", ")}) = (${listOf("excluded", WRITTEN)})
  WHERE (${listOf("kept", WRITTEN)}) IS DISTINCT FROM (${listOf("excluded", WRITTEN)})`;

/** Moves the rows of the temporary table "incoming" into a table with the columns and the key of klines. */
export const mergeIncoming = (table: "kline" | "planned") => `INSERT INTO ${table} AS kept (venue, ${COLUMNS}, batch)
  SELECT venue, ${COLUMNS}, batch FROM incoming ${LAST_WRITE_WINS}`;

/** Database functions: their settings keep the planner on the key, whatever its statistics say. */
const READ = {
  oldest: "SELECT * FROM kline_oldest($1, $2, $3, $4, $5, $6)",
  newest: "SELECT * FROM kline_newest($1, $2, $3, $4, $5, $6)",
};

const ANY_STORED = `SELECT EXISTS (
    SELECT FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS asked (ticker, timeframe, first, last),
    LATERAL (SELECT FROM kline WHERE venue = $1 AND kline.ticker = asked.ticker AND kline.timeframe = asked.timeframe
      AND time BETWEEN asked.first AND asked.last LIMIT 1) AS stored
  ) AS stored`;

/** Whether any row is stored in the ranges of a batch. */
export async function anyStored(client: pg.ClientBase, venue: Venue, ranges: readonly RowRange[]): Promise<boolean> {
  const { rows } = await client.query<{ stored: boolean }>(ANY_STORED, [
    venue,
    ranges.map(({ ticker }) => ticker),
    ranges.map(({ timeframe }) => timeframe),
    ranges.map(({ first }) => first),
    ranges.map(({ last }) => last),
  ]);
  return rows[0]?.stored ?? false;
}

/** Copies klines into a table with the columns of klines. */
export async function copyInto(
  client: pg.ClientBase,
  table: string,
  venue: Venue,
  klines: readonly Kline[],
  batch: number | null,
): Promise<void> {
  const sink = client.query(longQuery(copyFrom(`COPY ${table} (${COPY_COLUMNS}) FROM STDIN (FORMAT binary)`)));
  await pipeline(Readable.from(copyChunks(venue, klines, batch), { objectMode: true }), sink);
}

/** The stored klines that a query asks for, ascending. */
export async function readKlines(
  pool: Pick<pg.Pool, "query"> | pg.ClientBase,
  venue: Venue,
  query: KlineQuery,
): Promise<Kline[]> {
  const { ticker, timeframe, from, to, limit, end, prompt = false } = query;
  const values = [venue, ticker, timeframe, from, to, limit];
  const read = { text: READ[end], values, rowMode: "array" as const, types: NUMBERS };
  const { rows } = await pool.query<KlineRow>(prompt ? promptQuery(read) : read);
  if (end === "newest") rows.reverse();
  return rows.map((row) => toKline(ticker, timeframe, row));
}
