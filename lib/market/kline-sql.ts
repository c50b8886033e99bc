import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { Venue } from "#lib/contract/primitives";
import { longQuery, promptQuery } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { COPY_COLUMNS, copyChunks, createRowReader, type RowRange } from "./kline-rows";
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
const READ = { oldest: "kline_oldest", newest: "kline_newest" };

/** A query whose rows go to a reader as they come, in PostgreSQL's binary COPY format. It takes no parameters. */
class CopyOut extends pg.Query {
  /** The first error of the reader. */
  problem: unknown;

  constructor(
    select: string,
    readonly read: (message: Uint8Array) => void,
  ) {
    super(`COPY (${select}) TO STDOUT (FORMAT binary)`);
  }

  /** Called by the driver, where an error would end the process. */
  handleCopyData({ chunk }: { readonly chunk: Uint8Array }): void {
    try {
      this.read(chunk);
    } catch (error) {
      this.problem ??= error;
    }
  }
}

/** Runs it. @throws pg's error, and the first of the reader */
function copyOut(pool: Pick<pg.Pool, "query"> | pg.ClientBase, copy: CopyOut): Promise<void> {
  // The types of the driver lack its own queries with a callback, without which a pool does not get its connection back.
  const query = pool.query as unknown as (copy: CopyOut, ended: (error?: Error | null) => void) => void;
  return new Promise((resolve, reject) => {
    query.call(pool, copy, (error) => {
      const problem = error ?? copy.problem;
      if (problem === undefined) resolve();
      else reject(problem);
    });
  });
}

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

/**
 * The stored klines that a query asks for, ascending. They come as binary numbers, which neither side prints or parses: the driver
 * makes a text of each column of an ordinary row.
 */
export async function readKlines(
  pool: Pick<pg.Pool, "query"> | pg.ClientBase,
  venue: Venue,
  query: KlineQuery,
): Promise<Kline[]> {
  const { ticker, timeframe, from, to, limit, end, prompt = false } = query;
  const { rows, read } = createRowReader(ticker, timeframe);
  const key = [venue, ticker, timeframe].map((text) => pg.escapeLiteral(text));
  const copy = new CopyOut(`SELECT * FROM ${READ[end]}(${[...key, from, to, limit].join(", ")})`, read);
  await copyOut(pool, prompt ? promptQuery(copy) : copy);
  return end === "newest" ? rows.reverse() : rows;
}
