import type { Pool } from "pg";
import type { LinkPrincipal } from "#lib/access/principal";
import type { Clock } from "#lib/clock";
import { LINKED_IDS } from "#lib/contract/linked-ids";
import { splitAddress } from "#lib/contract/operation";
import { operations } from "#lib/operations/declarations";
import { findKeyById } from "./find-key";

interface LinkRow {
  key_id: string;
  operation: string;
  query: string;
  expires_at: Date;
}

const BY_ID = "SELECT key_id, operation, query, expires_at FROM data_link WHERE id = $1";

/**
 * The principal of a link as the database has it now: that of its key, for one call. Undefined when there is no such link, when
 * it has expired, or when its key is not valid.
 */
export async function findLink(pool: Pick<Pool, "query">, clock: Clock, id: string): Promise<LinkPrincipal | undefined> {
  const { rows } = await pool.query<LinkRow>(BY_ID, [id]);
  const [row] = rows;
  const operation = LINKED_IDS.find((name) => name === row?.operation);
  if (row === undefined || operation === undefined) return undefined;
  const untilMs = row.expires_at.getTime();
  if (untilMs <= clock.now()) return undefined;
  const principal = await findKeyById(pool, clock, row.key_id);
  if (principal === undefined) return undefined;
  const validUntil = Math.min(untilMs, principal.validUntil ?? untilMs);
  const { path, query } = splitAddress(operations[operation], Object.fromEntries(new URLSearchParams(row.query)));
  const queryText = new URLSearchParams(query.map((pair) => [...pair])).toString();
  return { ...principal, validUntil, link: { id, operation, path, queryText } };
}
