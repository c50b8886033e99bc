import type { z } from "zod";
import { clientBlock, coarseAddress } from "#lib/access/address";
import { acceptedTerms, mustWait, type SignUpRules } from "#lib/access/sign-up-rules";
import type { PortalUser, SignInForm } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { providerMail } from "#lib/mail/security-messages";
import { audit, NOT_SIGNED_IN } from "#server/store/access/audit";
import { isKnownTo, type UserContext, type Visitor } from "./context";
import { notify } from "./notices";
import { endSessions } from "./sessions";
import { HOME_ROLE, homeOf, joinHome } from "./sign-in-domain";
import { createUser, retryOnConflict, termsColumns } from "./users";

/**
 * Counts a password that a visitor tries on an account, by its address; `user` is null for an unknown one.
 * @throws Fault rate_limited
 */
export async function takePasswordAttempt(
  { attempts }: UserContext,
  email: string,
  user: Pick<User, "id" | "browsersForgottenAt"> | null,
  { address, known }: Visitor,
): Promise<void> {
  if (isKnownTo(known, user)) return attempts.take("password_browser", known.id);
  const client = clientBlock(address);
  await attempts.take("password_client", client);
  await attempts.take("password_both", `${client} ${email}`);
  await attempts.take("password_network", `${coarseAddress(address) ?? address} ${email}`);
  await attempts.take("password_account", email);
}

/** Records a failed sign-in. An address without an account is not kept: people type passwords there. */
export function noteFailure({ events }: UserContext, user: User | null, reason: string, { address }: Visitor): void {
  const whose = { accountId: user?.accountId ?? null, target: user?.email ?? "unknown address" };
  events.noteStranger({ actor: NOT_SIGNED_IN, ...whose, action: "access.sign_in_failed", after: { reason }, address });
}

/**
 * The id of the user with this address and password; undefined when there is none. An unknown address and a wrong password
 * give the same result in the same time.
 * @throws Fault rate_limited, for unknown and known addresses alike
 */
export async function checkSignIn(
  context: UserContext,
  { email, password }: z.infer<typeof SignInForm>,
  visitor: Visitor,
): Promise<string | undefined> {
  const user = await context.db.prisma.user.findUnique({ where: { email } });
  try {
    await takePasswordAttempt(context, email, user, visitor);
  } catch (error) {
    noteFailure(context, user, "rate limit", visitor);
    throw error;
  }
  if (await context.passwords.matches(user?.passwordHash ?? null, password)) return user?.id;
  noteFailure(context, user, "wrong password", visitor);
  return undefined;
}

/**
 * Checks the password of a signed-in user again, before a change that someone else in the same browser must not make.
 * @throws Fault invalid_parameter naming the field `current`; rate_limited
 */
export async function requirePassword(context: UserContext, user: PortalUser, password: string, visitor: Visitor): Promise<void> {
  const { db, passwords } = context;
  const refuse = (detail: string) => new Fault("invalid_parameter", { parameter: "current", detail });
  if (!user.hasPassword) throw refuse("You sign in without a password. Set one first: sign out, then Forgot password.");
  const row = await db.prisma.user.findUnique({ where: { id: user.id } });
  await takePasswordAttempt(context, user.email, row, visitor);
  if (!(await passwords.matches(row?.passwordHash ?? null, password))) throw refuse("This is not your password.");
}

/** A person's identity at an OpenID or OAuth provider. */
export interface ProviderIdentity {
  readonly provider: string;
  /** URL of the service that vouches for the person. */
  readonly issuer: string;
  /** The issuer's id of the person; never changes. */
  readonly subject: string;
  readonly email: string | undefined;
  /** True only when the provider confirms it. */
  readonly emailVerified: boolean;
  readonly name: string;
}

/**
 * The id of the user of a provider's identity: the linked user, else the user with its address, else a new user. Undefined,
 * without linking, when the provider does not confirm the address. A user whose address was never verified here loses the
 * password, which someone else may have chosen, and every session. With a confirmed address the user also joins the organisation
 * that has its domain.
 * @throws Fault sign_up_closed for a new user where accounts are created only by invitation
 */
export async function signInWithProvider(
  context: UserContext,
  identity: ProviderIdentity,
  visitor: Visitor,
): Promise<string | undefined> {
  const { db, clock, rules } = context;
  const { provider, issuer, subject, email, emailVerified } = identity;
  const { userId, linked } = await retryOnConflict(async () => {
    const where = { issuer_subject: { issuer, subject } };
    const known = await db.prisma.identity.findUnique({ where, include: { user: true } });
    if (known !== null) {
      // Here the user may have another address by now, for which the provider does not speak.
      if (emailVerified && email === known.user.email)
        await db.prisma.$transaction((tx) => joinHome(tx, clock.now(), known.user, visitor.address));
      return { userId: known.userId };
    }
    if (email === undefined || !emailVerified) return { userId: undefined };
    const link = (tx: Prisma.TransactionClient) => linkIdentity(tx, rules, clock.now(), { ...identity, email }, visitor.address);
    const linked = await db.prisma.$transaction(link);
    return { userId: linked.user.id, linked };
  });
  if (linked === undefined) return userId;
  await db.control.publish({ kind: "sessions" });
  const { id, email: to, emailVerifiedAt } = linked.user;
  // A new user has just signed up with this provider, and needs no email about it.
  const owner = { id, email: to, emailVerified: emailVerifiedAt !== null };
  if (!linked.isNew)
    await notify(context, owner, "provider", visitor, (to, occasion) => providerMail(to, provider, "linked", occasion));
  return userId;
}

/** The sign-in page says that whoever continues accepts the terms. */
const termsOfProvider = (rules: SignUpRules) => acceptedTerms(rules, true);

/** A new user becomes a member of the organisation that has the domain of the address, if they may, else the owner of one. */
async function createFromProvider(
  tx: Prisma.TransactionClient,
  rules: SignUpRules,
  nowMs: number,
  { email, name }: { readonly email: string; readonly name: string },
  address: string,
): Promise<User> {
  const home = await homeOf(tx, email);
  const first = home === undefined ? { waits: mustWait(rules, email) } : ({ joins: home, role: HOME_ROLE } as const);
  const terms = termsOfProvider(rules);
  return createUser(tx, nowMs, { email, name, passwordHash: null, verified: true, terms }, first, address);
}

async function linkIdentity(
  tx: Prisma.TransactionClient,
  rules: SignUpRules,
  nowMs: number,
  { provider, issuer, subject, email, name }: ProviderIdentity & { readonly email: string },
  address: string,
): Promise<{ user: User; isNew: boolean }> {
  const found = await tx.user.findUnique({ where: { email } });
  const user = found ?? (await createFromProvider(tx, rules, nowMs, { email, name }, address));
  const { id, accountId } = user;
  if (user.emailVerifiedAt === null) {
    await endSessions(tx, nowMs, id);
    await tx.oneTimeToken.deleteMany({ where: { userId: id } });
    const now = new Date(nowMs);
    const data = { passwordHash: null, emailVerifiedAt: now, ...termsColumns(termsOfProvider(rules), now) };
    await tx.user.update({ where: { id }, data });
  }
  await tx.identity.create({ data: { provider, issuer, subject, userId: id, createdAt: new Date(nowMs) } });
  const change = { action: "account.link_provider", target: provider, after: { provider, issuer } };
  await audit(tx, { actor: { id, name: email }, accountId, ...change, address });
  if (found !== null) await joinHome(tx, nowMs, found, address);
  return { user, isNew: found === null };
}
