import { MEMBERS_MAX_COUNT } from "#lib/contract/organisation";
import { type OwnOrganisation, ROLES, type Role } from "#lib/contract/roles";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { audit } from "#server/store/access/audit";

type Tx = Prisma.TransactionClient;

/** What a session reads of each organisation of its user. */
export const MEMBERSHIP = { account: { select: { name: true, waitingSince: true, requireSecondFactor: true } } } as const;

interface Membership {
  readonly accountId: string;
  readonly role: string;
  readonly account: { readonly name: string };
}

/** A role as it is stored; the database has no others. */
export function roleOf(text: string): Role {
  return ROLES.find((role) => role === text) ?? "reader";
}

/** A user's organisations, by name. */
export function ownOrganisations(memberships: readonly Membership[]): OwnOrganisation[] {
  return memberships
    .map(({ accountId, role, account }) => ({ id: accountId, name: account.name, role: roleOf(role) }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Makes other changes of an account and its members wait, so that two owners cannot demote each other together. */
export const lockAccount = (tx: Tx, accountId: string) =>
  tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR UPDATE`;

/** Whether an organisation may have one more member, who then joins in this transaction. */
export async function hasRoom(tx: Tx, accountId: string): Promise<boolean> {
  await lockAccount(tx, accountId);
  return (await tx.membership.count({ where: { accountId } })) < MEMBERS_MAX_COUNT;
}

/** An organisation of one that nothing was done with: no keys, webhooks or grants. */
const UNUSED = { keys: { none: {} }, webhooks: { none: {} }, planName: "free", liveAccess: false, suspendedAt: null } as const;

/**
 * Lets a member work in an organisation, inside a transaction. The one that they had of their own is deleted if nothing was done with
 * it, so that nobody has to choose between it and the new one.
 */
export async function workIn(tx: Tx, { id, accountId: own }: User, accountId: string): Promise<void> {
  await tx.user.update({ where: { id }, data: { accountId } });
  const alone = { members: { every: { userId: id } }, current: { none: {} } };
  await tx.account.deleteMany({ where: { id: own, NOT: { id: accountId }, ...UNUSED, ...alone } });
}

/** What makes somebody a member. */
interface Joining {
  readonly accountId: string;
  readonly role: string;
  /** Address of the client. */
  readonly address: string;
}

/** Makes a user who is none yet a member of an organisation that has room, inside a transaction. */
export async function addMember(tx: Tx, nowMs: number, user: User, { accountId, role, address }: Joining): Promise<void> {
  await tx.membership.create({ data: { accountId, userId: user.id, role, createdAt: new Date(nowMs) } });
  const actor = { id: user.id, name: user.email };
  await audit(tx, { actor, accountId, action: "member.join", target: user.email, after: { role }, address });
}
