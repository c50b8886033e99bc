import type { Clock } from "#lib/clock";
import { BACKFILLS_MAX_COUNT, UNDO_KEPT_DAYS, UNDO_KEPT_MAX_KLINES } from "#lib/contract/portal-admin";
import type { Database } from "#lib/db";
import { DAY_MS } from "#lib/units";
import { inTransaction } from "./partitions";
import { sealImports } from "./seal-imports";

/** A run that is still marked as running after this long has ended without a word. */
const RUNNING_MAX_MS = DAY_MS;

/** Imports whose replaced klines are kept no longer. The newest one is never among them. */
const EXPIRED = `SELECT number FROM (
    SELECT b.*, sum(coalesce(s.kept, 0)) OVER (ORDER BY b.number DESC) AS kept, row_number() OVER (ORDER BY b.number DESC) AS place
    FROM backfill b LEFT JOIN (
      SELECT batch, sum(already_there + overwritten) AS kept FROM (
        SELECT batch, already_there, overwritten FROM backfill_series
        UNION ALL SELECT batch, already_there, overwritten FROM imported_series
      ) series GROUP BY batch
    ) s ON s.batch = b.number AND b.undone_at IS NULL
  ) ranked
  WHERE place > 1 AND (state <> 'running' OR updated_at < $4) AND (started_at < $1 OR kept > $2 OR place > $3)`;
const FORGET = `DELETE FROM backfill WHERE number IN (SELECT number FROM backfill ORDER BY number DESC OFFSET $1)
  AND (sealed_at IS NOT NULL OR undone_at IS NOT NULL)`;

/**
 * Seals imports that are older than UNDO_KEPT_DAYS, or older than the newest that replaced UNDO_KEPT_MAX_KLINES klines
 * together, and forgets all but the newest BACKFILLS_MAX_COUNT.
 * @returns the numbers of the imports that can no longer be undone
 */
export async function sealOldImports({ pool }: Pick<Database, "pool">, clock: Clock): Promise<number[]> {
  const nowMs = clock.now();
  const since = new Date(nowMs - UNDO_KEPT_DAYS * DAY_MS);
  const silentSince = new Date(nowMs - RUNNING_MAX_MS);
  return inTransaction(pool, async (client) => {
    const limits = [since, UNDO_KEPT_MAX_KLINES, BACKFILLS_MAX_COUNT, silentSince];
    const sealed = await sealImports(client, EXPIRED, limits);
    await client.query(FORGET, [BACKFILLS_MAX_COUNT]);
    return sealed;
  });
}
