import type { ApiKey, Prisma } from "#lib/generated/prisma/client";
import { audit, type ChangedBy } from "./audit";

/** Revokes a key inside a transaction, unless it already is. Publish a `keys` or `account` message afterwards. */
export async function revokeRow(
  tx: Prisma.TransactionClient,
  { id, accountId, name }: Pick<ApiKey, "id" | "accountId" | "name">,
  revokedAt: Date,
  by: ChangedBy,
): Promise<void> {
  const { count } = await tx.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt } });
  if (count === 0) return;
  const before = { name, revoked_at: null };
  await audit(tx, { ...by, accountId, action: "key.revoke", target: id, before, after: { name, revoked_at: revokedAt } });
}

/**
 * Revokes the keys that a user made, in one account or in all, inside a transaction; resolves with their number. Publish an
 * `account` message afterwards.
 */
export async function revokeKeysOf(
  tx: Prisma.TransactionClient,
  made: { readonly madeById: string; readonly accountId?: string },
  revokedAt: Date,
  by: ChangedBy,
): Promise<number> {
  const keys = await tx.apiKey.findMany({ where: { ...made, revokedAt: null } });
  for (const key of keys) await revokeRow(tx, key, revokedAt, by);
  return keys.length;
}
