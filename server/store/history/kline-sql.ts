import type pg from "pg";
import type { Kline } from "#lib/domain/kline";
import type { KlinesQuery } from "./reader";

/** The columns of a kline that a writer gives. */
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

/** The largest limit that the functions take. */
const INT_MAX = 2_147_483_647;
/** Database functions: their settings keep the planner on the key, whatever its statistics say. */
const READ = { oldest: "kline_oldest", newest: "kline_newest" };

/** Klines of the live venue that an earlier release stored as rows and that are not in layers yet, ascending. */
export async function readRows(client: Pick<pg.ClientBase, "query">, query: KlinesQuery): Promise<Kline[]> {
  const { ticker, timeframe, from, to, limit, end } = query;
  const text = `SELECT time::float8 AS time, ${VALUES.join(", ")} FROM ${READ[end]}('live', $1, $2, $3, $4, $5)`;
  const values = [ticker, timeframe, from, to, Math.min(limit, INT_MAX)];
  const { rows } = await client.query<Omit<Kline, "type" | "ticker" | "timeframe">>(text, values);
  const klines = rows.map((row): Kline => ({ type: "kline", ticker, timeframe, ...row }));
  return end === "newest" ? klines.reverse() : klines;
}
