import type pg from "pg";
import { Fault } from "#lib/fault";

type Queries = Pick<pg.ClientBase, "query">;

const WAITING = "SELECT bool_or(ticker = $1) AS waits FROM history_unconverted";

/** A conversion takes minutes. */
const RETRY_AFTER_S = 60;

/** The refusal of what needs layers of a ticker that is still rows. */
export function unconverted(ticker: string): Fault {
  return new Fault("service_unavailable", {
    detail: `The history of ${ticker} is still being converted for this release. Until then, only its klines of now can be read.`,
    retry_after: RETRY_AFTER_S,
  });
}

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
