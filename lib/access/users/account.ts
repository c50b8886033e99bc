import type { z } from "zod";
import { audit } from "#lib/access/audit";
import type { DeleteAccountForm, PortalUser } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import type { UserContext, Visitor } from "./context";
import { voidTokens } from "./one-time-tokens";
import { endSessions } from "./sessions";

/** Changes a user's name. */
export async function changeName({ db }: UserContext, user: PortalUser, name: string, { address }: Visitor): Promise<void> {
  const { id, accountId, email } = user;
  await db.prisma.$transaction(async (tx) => {
    await tx.user.update({ where: { id }, data: { name } });
    const change = { action: "account.profile", target: email, before: { name: user.name }, after: { name } };
    await audit(tx, { actor: { id, name: email }, accountId, ...change, address });
  });
}

/** Ends every session of a user, including this one, and voids all links in emails. */
export async function signOutEverywhere({ db, clock }: UserContext, user: PortalUser, { address }: Visitor): Promise<void> {
  const { id, accountId, email } = user;
  await db.prisma.$transaction(async (tx) => {
    await endSessions(tx, clock.now(), id);
    await voidTokens(tx, id);
    await audit(tx, { actor: { id, name: email }, accountId, action: "account.sign_out_everywhere", target: email, address });
  });
  await db.control.publish({ kind: "sessions" });
}

/**
 * Deletes a user with the account, its keys and their usage. The audit log stays.
 * @throws Fault invalid_parameter when `confirm` is not the user's address
 */
export async function deleteAccount(
  { db }: UserContext,
  user: PortalUser,
  { confirm }: z.infer<typeof DeleteAccountForm>,
  { address }: Visitor,
): Promise<void> {
  const { id, accountId, email } = user;
  if (confirm !== email) throw new Fault("invalid_parameter", { parameter: "confirm", detail: "Type your email address." });
  await db.prisma.$transaction(async (tx) => {
    const where = { accountId };
    const keys = await tx.apiKey.count({ where });
    await tx.usageBucket.deleteMany({ where });
    await tx.streamUsageBucket.deleteMany({ where });
    await tx.requestLog.deleteMany({ where });
    await tx.account.delete({ where: { id: accountId } });
    const change = { action: "account.delete", target: email, before: { email, keys } };
    await audit(tx, { actor: { id, name: email }, accountId, ...change, address });
  });
  await db.control.publish({ kind: "account", accountId });
}
