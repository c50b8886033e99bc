import type { Database } from "#server/store/database/db";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { type Series, say } from "./layers";
import { lockForChange } from "./lock";
import { TAIL_OF, type TailRow, tailStatements } from "./minutes";
import { withSides } from "./sides";
import { inTransaction } from "./transaction";

/** Rows that one transaction seals: more than those of a month of minutes. */
const SEALED_MAX_ROWS = 50_000;

const TAKE = `DELETE FROM kline_tail WHERE ticker = $1 AND time IN (
    SELECT time FROM kline_tail WHERE ticker = $1 AND time < $2 ORDER BY time LIMIT ${SEALED_MAX_ROWS}
  ) RETURNING time::float8 AS start, ${TAIL_OF} AS tail`;

/**
 * Moves the oldest minutes of a ticker's tail into the layer of the feed, with their ask and mid prices, in the caller's transaction, which must hold the lock of the
 * ticker. What shows does not change.
 * @param before open time that is not sealed any more, Unix seconds
 * @returns how many rows were sealed; as long as there are any, there may be more
 */
export async function sealTail(client: Queries, segments: Segments, series: Series, before: number): Promise<number> {
  const { rows } = await client.query<TailRow>(TAKE, [series.ticker, before]);
  const ascending = rows.toSorted((a, b) => a.start - b.start);
  if (rows.length > 0)
    await say(client, segments, series, await withSides(client, segments, series.ticker, tailStatements(ascending)));
  return rows.length;
}

const WAITING = "SELECT DISTINCT ticker FROM kline_tail WHERE time < $1 ORDER BY ticker";

/**
 * Moves all minutes before an instant (Unix seconds) into layers, one ticker after the other, each part in a transaction: a kill leaves a
 * minute in the tail or in its layer, never in both. Several nodes may do it at once; a ticker whose history is being changed is left
 * for later.
 * @returns how many rows were sealed
 */
export async function sealTails({ pool, segments }: Pick<Database, "pool" | "segments">, before: number): Promise<number> {
  const { rows } = await pool.query<{ ticker: string }>(WAITING, [before]);
  let sealed = 0;
  for (const { ticker } of rows)
    for (let count = 1; count > 0; sealed += count)
      count = await inTransaction(pool, async (client) => {
        if ((await lockForChange(client, ticker, "transaction")) !== null) return 0;
        return sealTail(client, segments, { ticker, timeframe: "M1" }, before);
      });
  return sealed;
}
