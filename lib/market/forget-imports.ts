import { BACKFILLS_MAX_COUNT } from "#lib/contract/portal-admin";
import type { Database } from "#lib/db";

const FORGET = `DELETE FROM backfill b WHERE number IN (SELECT number FROM backfill ORDER BY number DESC OFFSET $1)
  AND state <> 'running' AND NOT EXISTS (SELECT FROM history_layer l WHERE l.layer = b.number)
  AND NOT EXISTS (SELECT FROM history_unconverted)`;

/** Forgets all but the newest BACKFILLS_MAX_COUNT imports, of which nothing is stored. The others can be undone, whatever their age. */
export async function forgetImports({ pool }: Pick<Database, "pool">): Promise<void> {
  await pool.query(FORGET, [BACKFILLS_MAX_COUNT]);
}
