import { z } from "zod";
import type { PortalIdentity, PortalUser } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import type { Prisma } from "#lib/generated/prisma/client";
import { providerMail } from "#lib/mail/security-messages";
import { audit } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import type { UserContext, Visitor } from "./context";
import { notify } from "./notices";

/** The providers with which a user can sign in, the first linked first. */
export async function listIdentities({ db }: Pick<KeyContext, "db">, userId: string): Promise<PortalIdentity[]> {
  const rows = await db.prisma.identity.findMany({ where: { userId }, orderBy: { createdAt: "asc" } });
  return rows.map(({ id, provider, issuer, createdAt }) => ({ id, provider, issuer, created_at: createdAt.toISOString() }));
}

/** Removes linked providers inside a transaction, all of a user's or one by its id, and audits each; resolves with their names. */
export async function unlink(
  tx: Prisma.TransactionClient,
  { id: userId, accountId, email }: Pick<PortalUser, "id" | "accountId" | "email">,
  address: string,
  id?: string,
): Promise<string[]> {
  const rows = await tx.identity.findMany({ where: { userId, ...(id !== undefined && { id }) } });
  for (const { id: one, provider, issuer } of rows) {
    await tx.identity.deleteMany({ where: { id: one } });
    const change = { action: "account.unlink_provider", target: provider, before: { provider, issuer } };
    await audit(tx, { actor: { id: userId, name: email }, accountId, ...change, address });
  }
  return rows.map(({ provider }) => provider);
}

/**
 * Removes one linked provider: signing in with it no longer opens this account, unless it confirms the account's address.
 * @throws Fault not_found for an id that is not the user's; invalid_parameter for the last way to sign in
 */
export async function unlinkIdentity(context: UserContext, user: PortalUser, id: string, visitor: Visitor): Promise<void> {
  const { db } = context;
  const notFound = new Fault("not_found", { detail: "You have no provider with this id." });
  if (!z.uuid().safeParse(id).success) throw notFound;
  const provider = await db.prisma.$transaction(async (tx) => {
    const [unlinked] = await unlink(tx, user, visitor.address, id);
    if (unlinked === undefined) throw notFound;
    if (user.hasPassword || (await tx.identity.count({ where: { userId: user.id } })) > 0) return unlinked;
    throw new Fault("invalid_parameter", {
      parameter: "id",
      detail: "This is your only way to sign in. Set a password first: sign out, then Forgot password.",
    });
  });
  await notify(context, user, "provider", visitor, (to, occasion) => providerMail(to, provider, "unlinked", occasion));
}
