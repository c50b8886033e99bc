import type pg from "pg";

type Queries = Pick<pg.ClientBase, "query">;

const WAITING = "SELECT bool_or(ticker = $1) AS waits FROM history_unconverted";

/**
 * Whether the klines of a ticker are still rows of an earlier release. Once none are, the database is not asked any more: no release
 * that shares this one's database makes any.
 */
export function awaitsConversion(): (client: Queries, ticker: string) => Promise<boolean> {
  let isOver = false;
  return async (client, ticker) => {
    if (isOver) return false;
    const { rows } = await client.query<{ waits: boolean | null }>(WAITING, [ticker]);
    // Null without any row.
    isOver = rows[0]?.waits === null;
    return rows[0]?.waits ?? false;
  };
}
