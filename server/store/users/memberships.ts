import { MEMBERS_MAX_COUNT } from "#lib/contract/organisation";
import { type OwnOrganisation, ROLES, type Role } from "#lib/contract/roles";
import type { Prisma } from "#lib/generated/prisma/client";

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

/** Makes other changes of an organisation's members wait, so that two owners cannot demote each other together. */
export const lockMembers = (tx: Tx, accountId: string) =>
  tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR UPDATE`;

/** Whether an organisation may have one more member, who then joins in this transaction. */
export async function hasRoom(tx: Tx, accountId: string): Promise<boolean> {
  await lockMembers(tx, accountId);
  return (await tx.membership.count({ where: { accountId } })) < MEMBERS_MAX_COUNT;
}
