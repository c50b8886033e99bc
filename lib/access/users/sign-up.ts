import type { z } from "zod";
import type { SignUpForm } from "#lib/contract/portal";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { alreadyMail, verifyMail } from "#lib/mail/messages";
import type { UserContext, Visitor } from "./context";
import { issueToken, mintSecret, pendingPassword } from "./one-time-tokens";
import { requireStrong } from "./password-strength";
import { endSessions } from "./sessions";
import { createUser, retryOnConflict, takeMailAttempt } from "./users";

/** Lets a new sign-up use an address that nobody has verified; false when it was verified at this moment. */
async function takeOver(tx: Prisma.TransactionClient, nowMs: number, { id }: User, data: Pick<User, "name" | "passwordHash">) {
  const { count } = await tx.user.updateMany({ where: { id, emailVerifiedAt: null }, data });
  if (count > 0) await endSessions(tx, nowMs, id);
  return count > 0;
}

/**
 * Signs a user up. The response and its time are the same whether or not the address has an account; only the email differs.
 * If the address of an existing account was never verified, its password is replaced and its browsers are signed out. Each
 * sign-up has a link of its own, which makes the password of that sign-up the user's. Resolves with the secret that shows
 * that the link is opened in this browser.
 * @throws Fault rate_limited; invalid_parameter for a password that is easy to guess
 */
export async function signUp(context: UserContext, form: z.infer<typeof SignUpForm>, visitor: Visitor): Promise<string> {
  const { db, clock, passwords, send } = context;
  const { email, password, name = "" } = form;
  // First, because a refused password sends no email.
  await requireStrong(context, password, form, visitor);
  await takeMailAttempt(context, "sign_up", email, visitor);
  const passwordHash = await passwords.hash(password);
  const browserSecret = mintSecret();
  const record = async (tx: Prisma.TransactionClient) => {
    const nowMs = clock.now();
    const known = await tx.user.findUnique({ where: { email } });
    const verified =
      known !== null && (known.emailVerifiedAt !== null || !(await takeOver(tx, nowMs, known, { name, passwordHash })));
    if (verified) return alreadyMail(email, visitor.base);
    const user = known ?? (await createUser(tx, nowMs, { email, name, passwordHash, verified: false }, visitor.address));
    const grant = { purpose: "verify", userId: user.id, email } as const;
    return verifyMail(email, visitor.base, await issueToken(tx, clock, grant, { browserSecret, passwordHash }));
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
