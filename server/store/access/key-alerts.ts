import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import { KEY_EXPIRY_WARNINGS_S, KEY_REFUSAL_QUIET_S } from "#lib/contract/limits";
import { recipientsSql } from "./alert-recipients";

type Queries = Pick<Pool, "query">;

/** Keys whose alert is taken at once; the rest follow the next time. */
const TAKEN_MAX_COUNT = 500;

/** A key, and whom to tell about it. */
interface AlertedKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly account_id: string;
  readonly account: string;
  /** None for an account that nobody signs in to, or that switched the alert off. */
  readonly emails: readonly string[];
}

/** A key that expires soon. */
export interface ExpiringKey extends AlertedKey {
  readonly expires_at: Date;
}

/** A revoked or expired key that was used. */
export interface RefusedKey extends AlertedKey {
  readonly state: "revoked" | "expired";
  readonly refused_at: Date;
  /** Truncated to /24 (IPv4) or /48 (IPv6). */
  readonly refused_address: string | null;
}

const ALERTED = "k.id, k.name, k.prefix, k.last4, k.account_id, a.name AS account";

/**
 * Takes each alert once, however many nodes ask. A node waits for rows that another one holds and then finds them taken.
 * Skipping them would split the keys of one account between nodes, which would send two emails. All lock in the same order, so none deadlocks.
 */
const TAKE_EXPIRING = `
  WITH due AS (
    SELECT k.id FROM api_key k JOIN account a ON a.id = k.account_id
     WHERE k.expires_at > $1 AND k.revoked_at IS NULL AND k.grace_until IS NULL AND a.suspended_at IS NULL
       AND EXISTS (SELECT FROM unnest($2::int[]) AS ahead(s)
                    WHERE $1 >= k.expires_at - make_interval(secs => ahead.s)
                      AND COALESCE(k.expiry_told_at, k.created_at) < k.expires_at - make_interval(secs => ahead.s))
     ORDER BY k.expires_at, k.id LIMIT $3 FOR UPDATE OF k)
  UPDATE api_key k SET expiry_told_at = $1
    FROM due, account a
   WHERE k.id = due.id AND a.id = k.account_id
  RETURNING ${ALERTED}, k.expires_at, ${recipientsSql("key_expiring")} AS emails`;

// Each use is looked at, and told of only after a pause, so that a program that goes on with an old key sends one email.
const TAKE_REFUSED = `
  WITH due AS (
    SELECT k.id, k.refusal_seen_at AS before FROM api_key k JOIN account a ON a.id = k.account_id
     WHERE k.refused_at > COALESCE(k.refusal_seen_at, '-infinity') AND a.suspended_at IS NULL
     ORDER BY k.refused_at, k.id LIMIT $3 FOR UPDATE OF k
  ), seen AS (
    UPDATE api_key k SET refusal_seen_at = k.refused_at FROM due WHERE k.id = due.id RETURNING k.*, due.before)
  SELECT ${ALERTED}, k.refused_at, k.refused_address, ${recipientsSql("key_refused")} AS emails,
         CASE WHEN k.revoked_at IS NOT NULL OR k.grace_until <= $1 THEN 'revoked' ELSE 'expired' END AS state
    FROM seen k JOIN account a ON a.id = k.account_id
   WHERE COALESCE(k.before, '-infinity') <= k.refused_at - make_interval(secs => $2)
   ORDER BY k.refused_at, k.id`;

/**
 * The keys whose accounts are to be told of their expiry now, soonest first: 14 days and 1 day before it, once each. Keys that
 * were rotated, revoked or suspended are left out, and so is a warning whose time had passed when the expiry was chosen.
 */
export async function takeExpiringKeys(pool: Queries, clock: Clock, maxCount = TAKEN_MAX_COUNT): Promise<ExpiringKey[]> {
  const { rows } = await pool.query<ExpiringKey>(TAKE_EXPIRING, [new Date(clock.now()), KEY_EXPIRY_WARNINGS_S, maxCount]);
  return rows.sort((a, b) => a.expires_at.getTime() - b.expires_at.getTime());
}

/** The revoked and expired keys that were used for the first time in KEY_REFUSAL_QUIET_S, once each. Those of suspended accounts wait. */
export async function takeRefusedKeys(pool: Queries, clock: Clock, maxCount = TAKEN_MAX_COUNT): Promise<RefusedKey[]> {
  const { rows } = await pool.query<RefusedKey>(TAKE_REFUSED, [new Date(clock.now()), KEY_REFUSAL_QUIET_S, maxCount]);
  return rows;
}
