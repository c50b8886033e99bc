import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import { KEY_EXPIRY_WARNINGS_S } from "#lib/contract/limits";

/** Keys whose warning is taken at once; the rest follow the next time. */
const TAKEN_MAX_COUNT = 500;

/** A key that expires soon, and whom to warn. */
export interface ExpiringKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly account: string;
  readonly expires_at: Date;
  /** Address of the owner; null for an account that nobody signs in to. */
  readonly email: string | null;
}

/**
 * Takes each warning once, however many nodes ask. A node waits for rows that another one holds and then finds them taken.
 * Skipping them would split the keys of one owner between nodes, which would send two emails. All lock in the same order, so none deadlocks.
 */
const TAKE = `
  WITH due AS (
    SELECT k.id FROM api_key k JOIN account a ON a.id = k.account_id
     WHERE k.expires_at > $1 AND k.revoked_at IS NULL AND k.grace_until IS NULL AND a.suspended_at IS NULL
       AND EXISTS (SELECT FROM unnest($2::int[]) AS ahead(s)
                    WHERE $1 >= k.expires_at - make_interval(secs => ahead.s)
                      AND COALESCE(k.expiry_told_at, k.created_at) < k.expires_at - make_interval(secs => ahead.s))
     ORDER BY k.expires_at, k.id LIMIT $3 FOR UPDATE OF k)
  UPDATE api_key k SET expiry_told_at = $1
    FROM due, account a LEFT JOIN portal_user u ON u.account_id = a.id AND u.email_verified_at IS NOT NULL
   WHERE k.id = due.id AND a.id = k.account_id
  RETURNING k.id, k.name, k.prefix, k.last4, a.name AS account, k.expires_at, u.email`;

/**
 * The keys whose owners are to be warned now, soonest expiry first: 14 days and 1 day before the expiry, once each. Keys that
 * were rotated, revoked or suspended are left out, and so is a warning whose time had passed when the expiry was chosen.
 */
export async function takeExpiryWarnings(
  pool: Pick<Pool, "query">,
  clock: Clock,
  maxCount = TAKEN_MAX_COUNT,
): Promise<ExpiringKey[]> {
  const { rows } = await pool.query<ExpiringKey>(TAKE, [new Date(clock.now()), KEY_EXPIRY_WARNINGS_S, maxCount]);
  return rows.sort((a, b) => a.expires_at.getTime() - b.expires_at.getTime());
}
