import type { z } from "zod";
import type { DeleteAccountForm, PortalUser } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import { audit } from "#server/store/access/audit";
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
 * Deletes a user, and each organisation in which they are alone, with its keys and their usage. The audit log stays, and what the
 * organisation used in months that are not closed, under its name: it is still billed.
 * @throws Fault invalid_parameter when `confirm` is not the user's address, and for the last owner of an organisation with others
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
    const memberships = await tx.membership.findMany({ where: { userId: id }, include: { account: { select: { name: true } } } });
    const ids = memberships.map(({ accountId }) => accountId).sort();
    await tx.$queryRaw`SELECT 1 FROM account WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR UPDATE`;
    const others = await tx.membership.findMany({ where: { accountId: { in: ids }, userId: { not: id } } });
    const shared = memberships.filter(({ accountId }) => others.some((other) => other.accountId === accountId));
    const orphaned = shared.find(
      ({ accountId }) => !others.some((other) => other.accountId === accountId && other.role === "owner"),
    );
    if (orphaned !== undefined)
      throw new Fault("invalid_parameter", {
        parameter: "confirm",
        detail: `You are the only owner of ${orphaned.account.name}. Make another member an owner, or remove the others, first.`,
      });
    const alone = ids.filter((accountId) => !shared.some((membership) => membership.accountId === accountId));
    const where = { accountId: { in: alone } };
    const keys = await tx.apiKey.count({ where });
    await tx.$executeRaw`
      UPDATE month_usage u SET account = a.name FROM account a WHERE a.id = u.account_id AND a.id = ANY (${alone}::uuid[])`;
    await tx.usageBucket.deleteMany({ where });
    await tx.streamUsageBucket.deleteMany({ where });
    await tx.requestLog.deleteMany({ where });
    await tx.user.delete({ where: { id } });
    await tx.account.deleteMany({ where: { id: { in: alone } } });
    const change = { action: "account.delete", target: email, before: { email, keys } };
    await audit(tx, { actor: { id, name: email }, accountId, ...change, address });
  });
  await db.control.publish({ kind: "account" });
}
