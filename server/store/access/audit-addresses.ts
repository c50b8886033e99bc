import type { Pool } from "pg";
import { coarseAddress } from "#lib/access/address";
import type { Clock } from "#lib/clock";
import { ADDRESS_RETENTION_S } from "#lib/contract/portal";

/** Entries cut per statement, so that a large backlog does not hold locks for long. */
const BATCH_ROWS = 1_000;

/** Addresses that are still whole: a cut one is written as a network, with its bits after a slash. */
const WHOLE = `SELECT id, address FROM audit_entry WHERE at < $1 AND strpos(address, '/') = 0 ORDER BY id LIMIT ${BATCH_ROWS}`;
/** Another node may have been faster. */
const CUT = `
  UPDATE audit_entry SET address = cut.address
    FROM unnest($1::uuid[], $2::text[]) AS cut(id, address)
   WHERE audit_entry.id = cut.id AND strpos(audit_entry.address, '/') = 0`;

/**
 * Cuts the addresses in audit entries older than ADDRESS_RETENTION_S to /24 (IPv4) or /48 (IPv6). Text that is no address goes.
 * @throws the error of pg; completed batches are kept
 */
export async function cutAuditAddresses(pool: Pick<Pool, "query">, clock: Clock): Promise<void> {
  const before = new Date(clock.now() - ADDRESS_RETENTION_S * 1_000);
  for (;;) {
    const { rows } = await pool.query<{ id: string; address: string }>(WHOLE, [before]);
    if (rows.length > 0) await pool.query(CUT, [rows.map(({ id }) => id), rows.map(({ address }) => coarseAddress(address))]);
    if (rows.length < BATCH_ROWS) return;
  }
}
