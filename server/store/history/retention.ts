import { FEED_LAYER } from "#lib/domain/fold";
import type { Database } from "#server/store/database/db";
import { saidBy } from "#server/store/segments/segments";
import { say } from "./layers";
import { lockForChange } from "./lock";
import { createReader } from "./reader";
import { inTransaction } from "./transaction";

/** Klines that stay when a year is dropped: a few hundred per series and year, enough for charts of decades. */
const KEPT = ["D1", "W1", "MN1"] as const;

const SHORT = `start < $1 AND timeframe NOT IN (${KEPT.map((timeframe) => `'${timeframe}'`)})`;
const EXPIRED = `SELECT DISTINCT ticker FROM history_layer WHERE ${SHORT} ORDER BY ticker`;
const STILL = `SELECT FROM history_layer WHERE ${SHORT} AND ticker = $2 LIMIT 1`;
const DROP = ["history_layer", "history_visible", "history_derived"].map(
  (table) => `DELETE FROM ${table} WHERE ${SHORT} AND ticker = $2`,
);

/** The start of the first year that is kept, Unix seconds; null when all are. The year in which the retention begins is kept entirely. */
function firstKept(nowMs: number, keepYears: number): number | null {
  return keepYears === 0 ? null : Date.UTC(new Date(nowMs).getUTCFullYear() - keepYears, 0) / 1_000;
}

/**
 * Drops klines shorter than a day of years that ended more than `keepYears` ago; 0 keeps all. Days, weeks and months stay: those that
 * were computed from dropped minutes are stored in their place.
 * @returns the tickers of which something was dropped
 */
export async function dropExpired(
  { pool, segments }: Pick<Database, "pool" | "segments">,
  nowMs: number,
  keepYears: number,
): Promise<string[]> {
  const end = firstKept(nowMs, keepYears);
  if (end === null) return [];
  const { rows } = await pool.query<{ ticker: string }>(EXPIRED, [end]);
  const reader = createReader(segments);
  const dropped: string[] = [];
  for (const { ticker } of rows)
    await inTransaction(pool, async (client) => {
      // A ticker that is busy is dropped later.
      if ((await lockForChange(client, ticker, "transaction")) !== null) return;
      // Another node may have dropped them since.
      if ((await client.query(STILL, [end, ticker])).rowCount === 0) return;
      for (const timeframe of KEPT) {
        const query = { ticker, timeframe, from: 0, to: end, limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
        const { columns } = await reader.read(client, query);
        if (columns.time.length > 0) await say(client, segments, query, saidBy(columns, FEED_LAYER, Number.NaN));
      }
      for (const text of DROP) await client.query(text, [end, ticker]);
      dropped.push(ticker);
    });
  return dropped;
}
