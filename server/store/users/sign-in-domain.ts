import { domainOf } from "#lib/access/sign-up-rules";
import { MEMBERSHIPS_MAX_COUNT } from "#lib/contract/organisation";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { addMember, hasRoom, workIn } from "./memberships";

type Tx = Prisma.TransactionClient;

/** What members become who join by the domain of their address; an owner gives them another role. */
export const HOME_ROLE = "reader";

/**
 * The organisation that has the domain of an address, inside a transaction, if somebody with this address may join it: it is neither
 * suspended nor waits for approval, has room, and the address did not leave it and was not removed from it.
 * @param email one that a provider confirms
 */
export async function homeOf(tx: Tx, email: string): Promise<string | undefined> {
  const home = await tx.account.findFirst({
    where: { signInDomain: domainOf(email), suspendedAt: null, waitingSince: null },
    select: { id: true },
  });
  if (home === null || !(await hasRoom(tx, home.id))) return undefined;
  const left = { accountId: home.id, target: email, action: { in: ["member.leave", "member.remove"] } };
  return (await tx.auditEntry.count({ where: left })) > 0 ? undefined : home.id;
}

/**
 * Makes a user a member of the organisation that has the domain of their address, inside a transaction, beside those they have, and
 * lets them work there. A member, and who may not join, stays as they are.
 */
export async function joinHome(tx: Tx, nowMs: number, user: User, address: string): Promise<void> {
  const memberships = await tx.membership.findMany({ where: { userId: user.id }, include: { account: true } });
  if (memberships.length >= MEMBERSHIPS_MAX_COUNT) return;
  if (memberships.some(({ account }) => account.signInDomain === domainOf(user.email))) return;
  const accountId = await homeOf(tx, user.email);
  if (accountId === undefined) return;
  await addMember(tx, nowMs, user, { accountId, role: HOME_ROLE, address });
  await workIn(tx, user, accountId);
}
