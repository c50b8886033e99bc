import { z } from "zod";
import { mustWait, type SignUpRules } from "#lib/access/sign-up-rules";
import { ALERT_SWITCHES } from "#lib/contract/alerts";
import type { OrganisationForm, PortalMember, PortalOrganisation, RoleForm } from "#lib/contract/organisation";
import type { PortalUser } from "#lib/contract/portal";
import type { Role } from "#lib/contract/roles";
import { may, RIGHTS, type Right, ROLES } from "#lib/contract/roles";
import { Fault, isFault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { type AuditedChange, audit } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import { revokeKeysOf } from "#server/store/access/revoke-keys";
import type { UserContext, Visitor } from "./context";
import { listInvitations } from "./invitations";
import { lockAccount, roleOf } from "./memberships";
import { createOwn, UNIQUE_VIOLATION } from "./users";

type Tx = Prisma.TransactionClient;

const notFound = () => new Fault("not_found", { detail: "Your organisation has no such member." });

/** What a change by a member is audited with. */
function entryOf({ id, email, accountId }: PortalUser, { address }: Pick<Visitor, "address">) {
  return { actor: { id, name: email }, accountId, address } satisfies Partial<AuditedChange>;
}

/**
 * Requires that a user may do something in the organisation they work in.
 * @throws Fault second_factor_required where the organisation requires one; role_required
 */
export function requireRight({ organisation, role, lacksFactor }: PortalUser, right: Right): void {
  if (lacksFactor)
    throw new Fault("second_factor_required", {
      detail: `${organisation} requires a second factor. Add a passkey or an authenticator app under Account: /dashboard/account`,
    });
  if (may(role, right)) return;
  const allowed = [...RIGHTS[right]];
  throw new Fault("role_required", {
    detail: `Your role in ${organisation} is ${role}. This needs: ${allowed.join(", ")}.`,
    allowed,
  });
}

/** What a user accepted of the terms. */
const termsOf = ({ termsVersion: version, termsAt: at }: User) =>
  version === null || at === null ? null : { version, at: at.toISOString() };

/** The members of an organisation as operators see them, owners first, then by address. */
export async function listMembers({ db, clock }: KeyContext, accountId: string): Promise<PortalMember[]> {
  const works = { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(clock.now()) } }] };
  const madeKeys = { where: { accountId, revokedAt: null, ...works } };
  const rows = await db.prisma.membership.findMany({
    where: { accountId },
    include: { user: { include: { _count: { select: { passkeys: true, madeKeys } } } } },
  });
  const members = rows.map(({ user, role, createdAt }): PortalMember => {
    return {
      id: user.id,
      email: user.email,
      name: user.name,
      role: roleOf(role),
      second_factor: user.totpSince !== null || user._count.passkeys > 0,
      joined_at: createdAt.toISOString(),
      active_keys: user._count.madeKeys,
      terms: termsOf(user),
    };
  });
  const rank = ({ role }: PortalMember) => ROLES.indexOf(role);
  return members.sort((a, b) => rank(a) - rank(b) || a.email.localeCompare(b.email));
}

/** The organisation that a user works in, with its members. */
export async function readOrganisation(context: UserContext, user: PortalUser): Promise<PortalOrganisation> {
  const { id, name, requireSecondFactor, alertsOff } = await context.db.prisma.account.findUniqueOrThrow({
    where: { id: user.accountId },
  });
  return {
    id,
    name,
    require_second_factor: requireSecondFactor,
    alerts_off: ALERT_SWITCHES.filter((one) => alertsOff.includes(one)),
    members: (await listMembers(context, id)).map(({ terms, ...member }) => member),
    invitations: may(user.role, "manage") ? await listInvitations(context, id) : [],
  };
}

/** Lets a user work in another of their organisations. @throws Fault not_found for one they are no member of */
export async function switchOrganisation({ db }: UserContext, user: PortalUser, id: string): Promise<void> {
  const { count } = await db.prisma.user.updateMany({
    where: { id: user.id, memberships: { some: { accountId: id } } },
    data: { accountId: id },
  });
  if (count === 0) throw new Fault("not_found", { detail: "You are not a member of this organisation." });
}

/**
 * Renames an organisation, or changes whether its members need a second factor.
 * @throws Fault invalid_parameter for a name that is taken; second_factor_required for an owner who would lock themselves out
 */
export async function changeOrganisation(
  { db }: UserContext,
  user: PortalUser,
  { name, require_second_factor, alerts_off }: z.output<typeof OrganisationForm>,
  visitor: Visitor,
): Promise<void> {
  if (require_second_factor === true && !user.secondFactor)
    throw new Fault("second_factor_required", { detail: "Add a passkey or an authenticator app to your own account first." });
  const data = {
    ...(name !== undefined && { name }),
    ...(require_second_factor !== undefined && { requireSecondFactor: require_second_factor }),
    ...(alerts_off !== undefined && { alertsOff: [...new Set(alerts_off)] }),
  };
  try {
    await db.prisma.$transaction(async (tx) => {
      const before = await tx.account.findUniqueOrThrow({ where: { id: user.accountId } });
      const after = await tx.account.update({ where: { id: user.accountId }, data });
      const shown = ({ name, requireSecondFactor, alertsOff }: typeof after) => {
        return { name, require_second_factor: requireSecondFactor, alerts_off: alertsOff };
      };
      const change = { action: "organisation.change", target: after.name, before: shown(before), after: shown(after) };
      await audit(tx, { ...entryOf(user, visitor), ...change });
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    throw new Fault("invalid_parameter", { parameter: "name", detail: "Another organisation has this name." });
  }
}

/** @throws Fault not_found; invalid_parameter when the organisation would be left without an owner */
async function requireOther(tx: Tx, accountId: string, userId: string, parameter: string): Promise<Role> {
  await lockAccount(tx, accountId);
  const members = await tx.membership.findMany({ where: { accountId } });
  const held = members.find((member) => member.userId === userId);
  if (held === undefined) throw notFound();
  const owners = members.filter(({ role }) => role === "owner");
  if (owners.length > 1 || owners[0]?.userId !== userId) return roleOf(held.role);
  throw new Fault("invalid_parameter", {
    parameter,
    detail: "An organisation needs an owner. Make another member an owner first.",
  });
}

/** Withdraws the invitations of a member who may not invite any more. */
const withdrawInvitations = (tx: Tx, accountId: string, invitedById: string) =>
  tx.invitation.deleteMany({ where: { accountId, invitedById, usedAt: null } });

/** Requires an id that PostgreSQL can compare. */
function requireId(id: string): void {
  if (!z.uuid().safeParse(id).success) throw notFound();
}

/**
 * Gives a member another role, which counts from their next request, and within a second for streams of their playground.
 * @throws Fault not_found; invalid_parameter for the last owner
 */
export async function changeRole(
  { db }: UserContext,
  user: PortalUser,
  memberId: string,
  { role }: z.output<typeof RoleForm>,
  visitor: Visitor,
): Promise<void> {
  const { accountId } = user;
  requireId(memberId);
  await db.prisma.$transaction(async (tx) => {
    const before =
      role === "owner" ? await heldRole(tx, accountId, memberId) : await requireOther(tx, accountId, memberId, "role");
    const where = { accountId_userId: { accountId, userId: memberId } };
    const { user: member } = await tx.membership.update({ where, data: { role }, include: { user: true } });
    if (!may(role, "manage")) await withdrawInvitations(tx, accountId, memberId);
    const change = { action: "member.role", target: member.email, before: { role: before }, after: { role } };
    await audit(tx, { ...entryOf(user, visitor), ...change });
  });
  await db.control.publish({ kind: "sessions" });
}

async function heldRole(tx: Tx, accountId: string, userId: string): Promise<Role> {
  const held = await tx.membership.findUnique({ where: { accountId_userId: { accountId, userId } } });
  if (held === null) throw notFound();
  return roleOf(held.role);
}

/** Lets a user who left an organisation work in another: the first they joined, else a new one of their own. */
async function moveOn(tx: Tx, rules: SignUpRules, now: Date, userId: string, email: string): Promise<void> {
  const next = await tx.membership.findFirst({ where: { userId }, orderBy: { createdAt: "asc" } });
  const accountId = next?.accountId ?? (await createOwn(tx, now, email, waitsLater(rules, email)));
  if (next === null) await tx.membership.create({ data: { accountId, userId, role: "owner", createdAt: now } });
  await tx.user.update({ where: { id: userId }, data: { accountId } });
}

/** Whether an organisation of somebody who is known already waits for approval, where strangers could not sign up. */
function waitsLater(rules: SignUpRules, email: string): boolean {
  try {
    return mustWait(rules, email);
  } catch (error) {
    if (isFault(error)) return true;
    throw error;
  }
}

/**
 * Removes a member, who may be the user: their next request works in another organisation, and streams of their playground end
 * within a second. Keys stay unless `revokeKeys`, which revokes those that the member made.
 * @throws Fault not_found; invalid_parameter for the last owner
 */
export async function removeMember(
  { db, clock, rules }: UserContext,
  user: PortalUser,
  memberId: string,
  { revokeKeys }: { readonly revokeKeys: boolean },
  visitor: Visitor,
): Promise<void> {
  const { accountId } = user;
  requireId(memberId);
  const now = new Date(clock.now());
  await db.prisma.$transaction(async (tx) => {
    const role = await requireOther(tx, accountId, memberId, "id");
    const { user: member } = await tx.membership.delete({
      where: { accountId_userId: { accountId, userId: memberId } },
      include: { user: true },
    });
    await withdrawInvitations(tx, accountId, memberId);
    if (member.accountId === accountId) await moveOn(tx, rules, now, memberId, member.email);
    const keys = revokeKeys ? await revokeKeysOf(tx, { madeById: memberId, accountId }, now, entryOf(user, visitor)) : 0;
    const action = memberId === user.id ? "member.leave" : "member.remove";
    const before = { role, ...(revokeKeys && { keys_revoked: keys }) };
    await audit(tx, { ...entryOf(user, visitor), action, target: member.email, before });
  });
  await db.control.publish({ kind: "account", accountId });
  await db.control.publish({ kind: "sessions" });
}
