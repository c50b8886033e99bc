import { createHash } from "node:crypto";
import { clientBlock } from "#lib/access/address";
import type { PortalUser } from "#lib/contract/portal";
import { type NewRecoveryCodes, type SecondFactors, WRONG_CODES_PER_DAY_COUNT } from "#lib/contract/second-factor";
import { Fault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { recoveryCodeMail, secondFactorMail, wrongCodesMail } from "#lib/mail/security-messages";
import { audit, COMMAND_LINE } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import { countCode, uncountCode } from "./code-attempts";
import { isKnownTo, type UserContext, type Visitor } from "./context";
import { occasionOf } from "./notices";
import { countRecoveryCodes, issueRecoveryCodes, spendRecoveryCode } from "./recovery-codes";
import { endSessions, forgetBrowsers } from "./sessions";
import { noteFailure } from "./sign-in";
import { acceptTotp, isTotpCode } from "./totp-code";
import { requireUser } from "./users";

/** The second factors of a user, for its owner. */
export async function readSecondFactors({ db }: Pick<KeyContext, "db">, userId: string): Promise<SecondFactors> {
  const [user, recovery_codes] = await Promise.all([
    db.prisma.user.findUniqueOrThrow({
      where: { id: userId },
      select: { totpSince: true, passkeys: { orderBy: { createdAt: "asc" } } },
    }),
    countRecoveryCodes(db.prisma, userId),
  ]);
  return {
    totp_since: user.totpSince?.toISOString() ?? null,
    passkeys: user.passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      id,
      name,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt?.toISOString() ?? null,
    })),
    recovery_codes,
  };
}

/**
 * Counts a code that a visitor tries on an account. Browsers that signed in to it before have a count of their own, so that
 * somebody else who knows the password cannot lock its owner out; together, because a thief can sign in with many.
 * @throws Fault rate_limited
 */
export async function takeCodeAttempt({ attempts }: UserContext, user: User, { address, known }: Visitor): Promise<void> {
  if (isKnownTo(known, user)) return attempts.take("code_browser", user.id);
  await attempts.take("code_client", clientBlock(address));
  await attempts.take("code_account", user.id);
}

/** A sign-in whose password or provider was right, and which still needs the second factor. */
export interface SignInStep {
  readonly userId: string;
  /** Stands for the password at that moment: a new one voids the step. */
  readonly mark: string;
}

const markOf = (passwordHash: string | null) =>
  createHash("sha256")
    .update(passwordHash ?? "")
    .digest("base64url");

/** The step that signing in to this account still needs; undefined for a user without a second factor. */
export async function secondStepOf({ db }: UserContext, userId: string): Promise<SignInStep | undefined> {
  const { totpSince, passwordHash, _count } = await db.prisma.user.findUniqueOrThrow({
    where: { id: userId },
    select: { totpSince: true, passwordHash: true, _count: { select: { passkeys: true } } },
  });
  return totpSince === null && _count.passkeys === 0 ? undefined : { userId, mark: markOf(passwordHash) };
}

/** Uses up a recovery code, and says so to the owner. */
async function acceptRecoveryCode(context: UserContext, user: User, code: string, visitor: Visitor): Promise<boolean> {
  const { db, clock, send } = context;
  const { id, email, accountId } = user;
  const left = await db.prisma.$transaction(async (tx) => {
    if (!(await spendRecoveryCode(tx, clock, id, code))) return undefined;
    const recovery_codes = await countRecoveryCodes(tx, id);
    const change = { action: "recovery_code.use", target: email, after: { recovery_codes } };
    await audit(tx, { actor: { id, name: email }, accountId, ...change, address: visitor.address });
    return recovery_codes;
  });
  if (left === undefined) return false;
  send(recoveryCodeMail(email, left, occasionOf(context, visitor)));
  return true;
}

/** What came of a code; anything but `passed` names the refusal. */
type CodeOutcome = "passed" | "wrong_code" | "too_many_codes";

/** Checks a code of the app, unless too many were wrong within a day, of which the owner gets one email. */
async function passAppCode(
  context: UserContext,
  user: User,
  step: SignInStep,
  code: string,
  visitor: Visitor,
): Promise<CodeOutcome> {
  const count = await countCode(context, user, step.mark, visitor);
  if (count > WRONG_CODES_PER_DAY_COUNT) {
    if (count === WRONG_CODES_PER_DAY_COUNT + 1)
      context.send(wrongCodesMail(user.email, WRONG_CODES_PER_DAY_COUNT, occasionOf(context, visitor)));
    return "too_many_codes";
  }
  if (user.totpSince === null || (await acceptTotp(context, user, code)) === undefined) return "wrong_code";
  await uncountCode(context, user, visitor);
  return "passed";
}

/**
 * Finishes a sign-in with a code of the authenticator app or a recovery code. When the code is right, it is used up.
 * @throws Fault rate_limited
 */
export async function passSecondStep(
  context: UserContext,
  step: SignInStep,
  code: string,
  visitor: Visitor,
): Promise<CodeOutcome> {
  const { userId, mark } = step;
  const user = await context.db.prisma.user.findUnique({ where: { id: userId } });
  if (user === null || markOf(user.passwordHash) !== mark) return "wrong_code";
  try {
    await takeCodeAttempt(context, user, visitor);
  } catch (error) {
    noteFailure(context, user, "rate limit", visitor);
    throw error;
  }
  const outcome = isTotpCode(code)
    ? await passAppCode(context, user, step, code, visitor)
    : (await acceptRecoveryCode(context, user, code, visitor))
      ? "passed"
      : "wrong_code";
  if (outcome !== "passed") noteFailure(context, user, outcome === "wrong_code" ? "wrong code" : "too many codes", visitor);
  return outcome;
}

/**
 * Requires a verified address. Otherwise its real owner could later find somebody else's passkey in the account.
 * @throws Fault invalid_parameter
 */
export function requireVerified({ emailVerified }: PortalUser): void {
  if (!emailVerified) throw new Fault("invalid_parameter", { detail: "Verify your email address first." });
}

/** Locks a user, so that changes of their second factors follow one another; may run inside a transaction only. */
export async function lockUser(tx: Prisma.TransactionClient, userId: string): Promise<User> {
  await tx.$queryRaw`SELECT 1 FROM portal_user WHERE id = ${userId}::uuid FOR UPDATE`;
  return tx.user.findUniqueOrThrow({ where: { id: userId } });
}

/**
 * To be called when a second factor was added, inside its transaction: for the first one, makes recovery codes and ends all
 * other sessions, because they were opened with less. No browser stays known that signed in before.
 */
export async function afterAdding(
  tx: Prisma.TransactionClient,
  nowMs: number,
  { id, sessionId }: PortalUser,
): Promise<NewRecoveryCodes> {
  const { totpSince, _count } = await tx.user.findUniqueOrThrow({
    where: { id },
    select: { totpSince: true, _count: { select: { passkeys: true } } },
  });
  if (_count.passkeys + (totpSince === null ? 0 : 1) > 1) {
    await forgetBrowsers(tx, nowMs, id);
    return { recovery_codes: null };
  }
  await endSessions(tx, nowMs, id, sessionId);
  return { recovery_codes: await issueRecoveryCodes(tx, id) };
}

/** To be called when a second factor was removed, inside its transaction: recovery codes do not outlive the last one. */
export async function afterRemoving(tx: Prisma.TransactionClient, userId: string): Promise<void> {
  const { totpSince, _count } = await tx.user.findUniqueOrThrow({
    where: { id: userId },
    select: { totpSince: true, _count: { select: { passkeys: true } } },
  });
  if (totpSince === null && _count.passkeys === 0) await tx.recoveryCode.deleteMany({ where: { userId } });
}

/**
 * New recovery codes for a user with a second factor; the old ones stop working.
 * @throws Fault invalid_parameter for a user without one
 */
export async function renewRecoveryCodes(context: UserContext, user: PortalUser, visitor: Visitor): Promise<NewRecoveryCodes> {
  const { db, send } = context;
  const { address } = visitor;
  const { id, accountId, email } = user;
  if (!user.secondFactor)
    throw new Fault("invalid_parameter", { detail: "Recovery codes belong to a second factor. Add a passkey or an app first." });
  const recovery_codes = await db.prisma.$transaction(async (tx) => {
    await lockUser(tx, id);
    await audit(tx, { actor: { id, name: email }, accountId, action: "recovery_code.renew", target: email, address });
    return issueRecoveryCodes(tx, id);
  });
  send(
    secondFactorMail(
      email,
      "New recovery codes were made for your account. The old ones no longer work.",
      occasionOf(context, visitor),
    ),
  );
  return { recovery_codes };
}

/**
 * Takes away all second factors of a user who lost them, and ends their sessions. For operators at a terminal.
 * @throws Fault invalid_parameter for an address without a user, and for a user without a second factor
 */
export async function resetSecondFactors(context: KeyContext, address: string): Promise<Pick<User, "email">> {
  const { db, clock } = context;
  const { id: userId, accountId, email } = await requireUser(context, address);
  await db.prisma.$transaction(async (tx) => {
    const { totpSince } = await lockUser(tx, userId);
    const { count: passkeys } = await tx.passkey.deleteMany({ where: { userId } });
    if (totpSince === null && passkeys === 0)
      throw new Fault("invalid_parameter", {
        parameter: "email",
        detail: `${email} has no passkey and no authenticator app.`,
      });
    await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.user.update({ where: { id: userId }, data: { totpSecret: null, totpSince: null } });
    await endSessions(tx, clock.now(), userId);
    const before = { authenticator_app: totpSince !== null, passkeys };
    await audit(tx, { ...COMMAND_LINE, accountId, action: "second_factor.reset", target: email, before });
  });
  await db.control.publish({ kind: "sessions" });
  return { email };
}
