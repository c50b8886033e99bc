import { PORTAL_SCOPES } from "#lib/contract/portal-scopes";
import { Fault } from "#lib/fault";
import type { Prisma } from "#lib/generated/prisma/client";
import type { ChangedBy } from "./audit";

/** Keys of one account that work or will work: neither revoked, expired nor past their grace. */
const LIVE_KEYS_MAX_COUNT = 200;

/** Refuses keys to a user who has not verified the address, or to an account without one who has: anyone may have signed up with it. */
export function unverified({ accountId }: Pick<ChangedBy, "accountId">): Fault {
  return accountId === undefined
    ? new Fault("invalid_parameter", {
        parameter: "account",
        detail: "The owner of this account has not verified their email address yet.",
      })
    : new Fault("invalid_parameter", { parameter: "email", detail: "Verify your email first." });
}

/**
 * Makes other changes of an account's keys wait until this transaction ends, so that they cannot pass its limit together.
 * @throws Fault invalid_parameter for a member without a verified address, and for an account that waits for approval
 */
export async function lockOwner(tx: Prisma.TransactionClient, accountId: string, by: ChangedBy): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
  const { waitingSince, members } = await tx.account.findUniqueOrThrow({
    where: { id: accountId },
    select: { waitingSince: true, members: { select: { userId: true, user: { select: { emailVerifiedAt: true } } } } },
  });
  const concerned = by.accountId === undefined ? members : members.filter(({ userId }) => userId === by.actor.id);
  if (concerned.length > 0 && concerned.every(({ user }) => user.emailVerifiedAt === null)) throw unverified(by);
  if (waitingSince === null) return;
  throw new Fault("invalid_parameter", {
    parameter: "account",
    detail: by.accountId === undefined ? "This account waits for approval." : "Your account waits for an operator's approval.",
  });
}

/** Whether an account is one of operators: all its members are, or nobody signs in to it. */
export async function isOperators(
  { membership }: Pick<Prisma.TransactionClient, "membership">,
  accountId: string,
): Promise<boolean> {
  return (await membership.count({ where: { accountId, user: { operator: false } } })) === 0;
}

/**
 * Requires that a key that reads the usage of all accounts is made for one of operators.
 * @throws Fault invalid_parameter
 */
export async function requireBillingOwner(
  tx: Prisma.TransactionClient,
  accountId: string,
  scopes: readonly string[],
): Promise<void> {
  if (!scopes.includes("billing:read") || (await isOperators(tx, accountId))) return;
  throw new Fault("invalid_parameter", {
    parameter: "scopes",
    detail: "Only accounts of operators have keys with the scope billing:read.",
  });
}

/** Filter of accounts that may use the live venue. */
export const HAS_LIVE_ACCESS: Prisma.AccountWhereInput = { OR: [{ liveAccess: true }, { plan: { liveAccess: true } }] };

/** Filter of accounts that ask for live access. */
export const ASKS_FOR_LIVE: Prisma.AccountWhereInput = { liveAskedAt: { not: null }, NOT: HAS_LIVE_ACCESS };

/**
 * Requires that an account may use a venue.
 * @throws Fault live_access_required
 */
export async function requireVenue(
  tx: Prisma.TransactionClient,
  id: string,
  venue: string,
  { accountId }: ChangedBy,
): Promise<void> {
  if (venue !== "live" || (await tx.account.count({ where: { id, ...HAS_LIVE_ACCESS } })) > 0) return;
  const detail =
    accountId === undefined
      ? "This account has no live access. Grant it first: npm run admin -- grant-live ACCOUNT"
      : "Your account has no live access. Ask the operators for it first.";
  throw new Fault("live_access_required", { detail });
}

/**
 * Requires that a locked account may have one more key.
 * @throws Fault invalid_parameter
 */
export async function requireRoom(tx: Prisma.TransactionClient, accountId: string, now: Date): Promise<void> {
  const later = { gt: now };
  const works = [{ OR: [{ expiresAt: null }, { expiresAt: later }] }, { OR: [{ graceUntil: null }, { graceUntil: later }] }];
  if ((await tx.apiKey.count({ where: { accountId, revokedAt: null, AND: works } })) < LIVE_KEYS_MAX_COUNT) return;
  throw new Fault("invalid_parameter", {
    parameter: "account",
    detail: `An account has at most ${LIVE_KEYS_MAX_COUNT} active keys.`,
  });
}

/**
 * Requires that the person who changes a key may also grant its scopes. Only operators grant the others, so the owner of such a
 * key can use and revoke it, but not replace or widen it.
 * @throws Fault invalid_parameter
 */
export function requireOwnScopes(scopes: readonly string[], { accountId }: ChangedBy): void {
  const foreign = scopes.filter((scope) => !PORTAL_SCOPES.some((own) => own === scope));
  if (accountId === undefined || foreign.length === 0) return;
  throw new Fault("invalid_parameter", {
    parameter: "id",
    detail: `Only an operator can change a key with the scope ${foreign.join(", ")}.`,
  });
}
