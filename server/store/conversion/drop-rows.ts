import type { Database } from "#server/store/database/db";
import { inTransaction } from "#server/store/history/transaction";

/** What earlier releases stored klines in. */
const TABLES = "kline, kline_previous, kline_imported, struck_minute";
const WAITING = "SELECT ticker FROM history_unconverted ORDER BY ticker";
/** Partitions count, too. */
const SIZE = `SELECT sum(pg_total_relation_size(relid))::float8 AS bytes FROM (
    SELECT relid FROM pg_partition_tree('kline')
    UNION ALL SELECT unnest(ARRAY['kline_previous', 'kline_imported', 'struck_minute']::regclass[])
  ) AS tables`;

/** What became of the rows of an earlier release: those that wait to be converted keep all of them. */
interface DroppedRows {
  readonly waiting: readonly string[];
  /** Freed on the disk of the database; 0 while any wait. */
  readonly bytes: number;
}

/**
 * Deletes the klines that earlier releases stored as rows, once all are converted. Nothing reads them any more; without them, going
 * back to an earlier release needs a backup made before. One transaction: all of them, or none.
 */
export function dropRows({ pool }: Pick<Database, "pool">): Promise<DroppedRows> {
  return inTransaction(pool, async (client) => {
    const { rows: waiting } = await client.query<{ ticker: string }>(WAITING);
    if (waiting.length > 0) return { waiting: waiting.map(({ ticker }) => ticker), bytes: 0 };
    const before = await client.query<{ bytes: number }>(SIZE);
    await client.query(`TRUNCATE ${TABLES}`);
    const after = await client.query<{ bytes: number }>(SIZE);
    return { waiting: [], bytes: (before.rows[0]?.bytes ?? 0) - (after.rows[0]?.bytes ?? 0) };
  });
}
