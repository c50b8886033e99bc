import type { z } from "zod";
import type { SignUpForm } from "#lib/contract/portal";
import type { Prisma } from "#lib/generated/prisma/client";
import { alreadyMail, verifyMail } from "#lib/mail/messages";
import type { UserContext, Visitor } from "./context";
import { issueToken } from "./one-time-tokens";
import { endSessions } from "./sessions";
import { createUser, retryOnConflict, takeMailAttempt } from "./users";

/**
 * Signs a user up. The response and its time are the same whether or not the address has an account; only the email differs.
 * If the address of an existing account was never verified, its password is replaced and its browsers are signed out.
 * @throws Fault rate_limited
 */
export async function signUp(context: UserContext, form: z.infer<typeof SignUpForm>, visitor: Visitor): Promise<void> {
  const { db, clock, passwords, send } = context;
  const { email, password, name = "" } = form;
  await takeMailAttempt(context, "sign_up", email, visitor);
  const passwordHash = await passwords.hash(password);
  const record = async (tx: Prisma.TransactionClient) => {
    const known = await tx.user.findUnique({ where: { email } });
    if (known !== null && known.emailVerifiedAt !== null) return alreadyMail(email, visitor.base);
    const nowMs = clock.now();
    const user = known ?? (await createUser(tx, nowMs, { email, name, passwordHash, verified: false }, visitor.address));
    if (known !== null) {
      await endSessions(tx, nowMs, known.id);
      await tx.user.update({ where: { id: known.id }, data: { name, passwordHash } });
    }
    return verifyMail(email, visitor.base, await issueToken(tx, clock, { purpose: "verify", userId: user.id, email }));
  };
  const message = await retryOnConflict(() => db.prisma.$transaction(record));
  send(message);
}

/**
 * Sends the verification email again if the address has an unverified account. The response is the same either way.
 * @throws Fault rate_limited
 */
export async function resendVerification(context: UserContext, email: string, visitor: Visitor): Promise<void> {
  const { db, clock, send } = context;
  await takeMailAttempt(context, "verify", email, visitor);
  const user = await db.prisma.user.findUnique({ where: { email } });
  if (user === null || user.emailVerifiedAt !== null) return;
  const token = await issueToken(db.prisma, clock, { purpose: "verify", userId: user.id, email });
  send(verifyMail(email, visitor.base, token));
}
