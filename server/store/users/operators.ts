import type { PortalUser } from "#lib/contract/portal";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { Fault } from "#lib/fault";
import { RAISED } from "#server/store/access/accounts";
import { audit, COMMAND_LINE } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import { changeAccount } from "./account-admin";
import { requireUser } from "./users";

/** Maximum number of operators listed. */
const OPERATORS_MAX_COUNT = 1_000;

/** A user who may open the operators' pages. */
interface Operator {
  readonly email: string;
  readonly verified: boolean;
}

/**
 * Grants a user access to the operators' pages, and with it live access, or revokes the former, from their next request on. An
 * operator could grant live access to themselves; whoever no longer is one keeps it until it is withdrawn, like anybody else.
 * @throws Fault invalid_parameter for an address without a user, and for granting access to an unverified address, because
 * anyone may have signed up with it
 */
export async function setOperator(context: KeyContext, email: string, operator: boolean): Promise<Operator> {
  const { db } = context;
  const user = await requireUser(context, email);
  const verified = user.emailVerifiedAt !== null;
  if (operator && !verified)
    throw new Fault("invalid_parameter", {
      parameter: "email",
      detail: `${user.email} is not verified yet: open the link in the verification email first.`,
    });
  await db.prisma.$transaction(async (tx) => {
    await tx.user.update({ where: { id: user.id }, data: { operator } });
    const without = { id: user.accountId, liveAccess: false };
    const granted = { liveAccess: true, liveAskedAt: null, liveDeclinedAt: null, ...RAISED };
    if (operator) await tx.account.updateMany({ where: without, data: granted });
    const change = { target: user.email, before: { operator: user.operator }, after: { operator } };
    const action = operator ? "operator.grant" : "operator.revoke";
    await audit(tx, { actor: { name: "command line" }, accountId: user.accountId, action, ...change, address: null });
  });
  await db.control.publish({ kind: "account", accountId: user.accountId });
  return { email: user.email, verified };
}

/**
 * Grants an account the live venue or withdraws it, whatever its plan says; keys and open connections follow within a second.
 * @param account its name, or the email address of its owner
 * @throws Fault invalid_parameter for one that there is not
 */
export async function setLiveAccess(context: KeyContext, account: string, liveAccess: boolean): Promise<PortalAccount> {
  const { id } = await requireAccount(context, account);
  return (await changeAccount(context, id, { liveAccess }, null, COMMAND_LINE)).after;
}

/**
 * The account with this name, or the only one whose owner has this address.
 * @throws Fault invalid_parameter
 */
async function requireAccount({ db }: KeyContext, account: string): Promise<{ readonly id: string; readonly name: string }> {
  const refuse = (detail: string) => new Fault("invalid_parameter", { parameter: "account", detail });
  const named = await db.prisma.account.findUnique({ where: { name: account } });
  if (named !== null) return named;
  const owner = { role: "owner", user: { email: account.trim().toLowerCase() } };
  const [owned, ...others] = await db.prisma.account.findMany({ where: { members: { some: owner } }, orderBy: { name: "asc" } });
  if (owned === undefined) throw refuse(`No account has this name or owner: ${account}`);
  if (others.length === 0) return owned;
  throw refuse(`${account} owns several accounts. Name one: ${[owned, ...others].map(({ name }) => name).join(", ")}`);
}

/**
 * Admits an operator to what only operators may see and do.
 * @throws Fault not_found for another user; second_factor_required for an operator without a second factor
 */
export function requireOperator({ operator, secondFactor }: PortalUser): void {
  if (!operator) throw new Fault("not_found");
  if (secondFactor) return;
  throw new Fault("second_factor_required", {
    detail: "Operators need a second factor. Add a passkey or an authenticator app under Account: /dashboard/account",
  });
}

/** All operators, sorted by address. */
export async function listOperators({ db }: KeyContext): Promise<Operator[]> {
  const users = await db.prisma.user.findMany({
    where: { operator: true },
    orderBy: { email: "asc" },
    take: OPERATORS_MAX_COUNT,
  });
  return users.map(({ email, emailVerifiedAt }) => ({ email, verified: emailVerifiedAt !== null }));
}
