import type { z } from "zod";
import { acceptedTerms, mustWait } from "#lib/access/sign-up-rules";
import type { Clock } from "#lib/clock";
import type { SignUpForm } from "#lib/contract/portal";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { alreadyMail, verifyMail } from "#lib/mail/messages";
import { audit, NOT_SIGNED_IN } from "#server/store/access/audit";
import { requireStrong } from "#server/threads/password-strength";
import type { UserContext, Visitor } from "./context";
import { issueToken, mintSecret, pendingPassword } from "./one-time-tokens";
import { revokeSessions } from "./sessions";
import { createUser, retryOnConflict, takeMailAttempt, termsColumns } from "./users";

type Tx = Prisma.TransactionClient;

/** A sign-up as it is recorded. */
interface SignUp extends Pick<User, "name" | "passwordHash"> {
  readonly email: string;
  /** The version of the terms that it accepts; null where there are none. */
  readonly terms: string | null;
  readonly nowMs: number;
  readonly address: string;
}

/** A user found by the address, with what is rewritten unchanged. */
type Known = User & { readonly account: { readonly createdAt: Date } };

const auditOf = ({ email, address }: SignUp, { accountId }: User, action: string) =>
  ({ actor: NOT_SIGNED_IN, accountId, action, target: email, address }) as const;

/** Writes a membership as it is, where a sign-up with a free address makes one. */
const rewriteMembership = (tx: Tx, { id: userId, accountId }: User) =>
  tx.membership.updateMany({ where: { accountId, userId }, data: { accountId } });

/** Lets a new sign-up use an address that nobody has verified; false when it was verified at this moment. */
async function takeOver(tx: Tx, user: Known, signUp: SignUp): Promise<boolean> {
  const { name, passwordHash, terms, nowMs } = signUp;
  const where = { id: user.id, emailVerifiedAt: null };
  // In one statement: a sign-up runs as many for any address.
  const now = new Date(nowMs);
  const data = { name, passwordHash, browsersForgottenAt: now, ...termsColumns(terms, now) };
  const { count } = await tx.user.updateMany({ where, data });
  if (count === 0) return false;
  await revokeSessions(tx, nowMs, user.id);
  await rewriteMembership(tx, user);
  await audit(tx, { ...auditOf(signUp, user, "account.sign_up_again"), ...(terms !== null && { after: { terms } }) });
  return true;
}

/**
 * Writes as much for a taken address as a sign-up with a free one does, so that the time of the answer does not tell them apart:
 * three rows as they were, an entry in the audit log, and a link that nobody is sent.
 */
async function writeAsMuch(tx: Tx, clock: Clock, user: Known, signUp: SignUp): Promise<void> {
  const { id, email, accountId, createdAt, account } = user;
  await tx.account.updateMany({ where: { id: accountId }, data: { createdAt: account.createdAt } });
  await tx.user.updateMany({ where: { id }, data: { createdAt } });
  await rewriteMembership(tx, user);
  await audit(tx, auditOf(signUp, user, "account.sign_up_taken"));
  await issueToken(tx, clock, { purpose: "verify", userId: id, email });
}

/**
 * Signs a user up. The response and its time are the same whether or not the address has an account; only the email differs.
 * If the address of an existing account was never verified, its password is replaced and its browsers are signed out. Each
 * sign-up has a link of its own, which makes the password of that sign-up the user's. Resolves with the secret that shows
 * that the link is opened in this browser.
 * @throws Fault sign_up_closed; rate_limited; missing_parameter for terms that are not accepted; invalid_parameter for a password
 * that is easy to guess
 */
export async function signUp(context: UserContext, form: z.infer<typeof SignUpForm>, visitor: Visitor): Promise<string> {
  const { db, clock, passwords, rules, send } = context;
  const { email, password, name = "" } = form;
  const { address, base } = visitor;
  const waits = mustWait(rules, email);
  const terms = acceptedTerms(rules, form.terms);
  // First, because a refused password sends no email.
  await requireStrong(context, password, form, visitor);
  await takeMailAttempt(context, "sign_up", email, visitor);
  const passwordHash = await passwords.hash(password);
  const browserSecret = mintSecret();
  const record = async (tx: Tx) => {
    const nowMs = clock.now();
    const asked = { email, name, passwordHash, terms, nowMs, address };
    const known = await tx.user.findUnique({ where: { email }, include: { account: { select: { createdAt: true } } } });
    if (known !== null && (known.emailVerifiedAt !== null || !(await takeOver(tx, known, asked)))) {
      await writeAsMuch(tx, clock, known, asked);
      return alreadyMail(email, base);
    }
    const user =
      known ?? (await createUser(tx, nowMs, { email, name, passwordHash, verified: false, terms }, { waits }, address));
    const grant = { purpose: "verify", userId: user.id, email } as const;
    return verifyMail(email, base, await issueToken(tx, clock, grant, { browserSecret, passwordHash }));
  };
  const message = await retryOnConflict(() => db.prisma.$transaction(record));
  send(message);
  return browserSecret;
}

/**
 * Sends the verification email again if the address has an unverified account. The response and its time are the same either
 * way. The link belongs to the sign-up of this browser, if it waits; any other needs the password of the latest sign-up.
 * @throws Fault rate_limited
 */
export async function resendVerification(context: UserContext, email: string, visitor: Visitor): Promise<void> {
  const { db, clock, send } = context;
  const { base, browserSecret } = visitor;
  await takeMailAttempt(context, "verify", email, visitor);
  const user = await db.prisma.user.findUnique({ where: { email } });
  if (user === null || user.emailVerifiedAt !== null) return;
  const grant = { purpose: "verify", userId: user.id, email } as const;
  // Off the request, like the link for a new password.
  send(async () => {
    const passwordHash = browserSecret === undefined ? undefined : await pendingPassword(db.prisma, user.id, browserSecret);
    const proof = passwordHash === undefined ? {} : { browserSecret, passwordHash };
    return verifyMail(email, base, await issueToken(db.prisma, clock, grant, proof));
  });
}
