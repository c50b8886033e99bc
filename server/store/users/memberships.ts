import { type OwnOrganisation, ROLES, type Role } from "#lib/contract/roles";

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
