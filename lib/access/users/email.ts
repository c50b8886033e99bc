import type { z } from "zod";
import { audit } from "#lib/access/audit";
import type { EmailForm, PortalUser } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { alreadyMail, changeMail, changeRequestedMail, emailChangedMail, type MailMessage } from "#lib/mail/messages";
import type { UserContext, Visitor } from "./context";
import { issueToken, redeemToken, voidTokens } from "./one-time-tokens";
import { endSessions } from "./sessions";
import { requirePassword } from "./sign-in";
import { takeMailAttempt } from "./users";

/**
 * Sends a link to the new address; the change takes effect when the link is opened. An address with an account gets another
 * email, and the response does not reveal it. The old address gets a link that cancels the change.
 * @throws Fault invalid_parameter for a wrong password; rate_limited
 */
export async function requestEmailChange(
  context: UserContext,
  user: PortalUser,
  { current, email }: z.infer<typeof EmailForm>,
  visitor: Visitor,
): Promise<void> {
  const { db, clock, send } = context;
  await requirePassword(context, user, current, visitor);
  if (email === user.email) throw new Fault("invalid_parameter", { parameter: "email", detail: "This is already your address." });
  await takeMailAttempt(context, "change_email", email, visitor);
  const issue = (purpose: "change_email" | "cancel_email", to: string) =>
    issueToken(db.prisma, clock, { purpose, userId: user.id, email: to });
  const token = await issue("change_email", email);
  const taken = await db.prisma.user.findUnique({ where: { email }, select: { id: true } });
  send(taken === null ? changeMail(email, visitor.base, token) : alreadyMail(email, visitor.base));
  // Also when the new address is taken: otherwise the owner of the old one would learn it.
  send(changeRequestedMail(user.email, email, visitor.base, await issue("cancel_email", user.email)));
}

/**
 * Handles the link with which the old address cancels a change of email. Whoever requested the change knew the password, so
 * every session ends and no other link works any more. Resolves with the address that stays.
 * @throws Fault invalid_parameter for a used, expired or invalid link, and after the change took effect
 */
export async function cancelEmailChange({ db, clock }: UserContext, token: string, { address }: Visitor): Promise<string> {
  const email = await db.prisma.$transaction(async (tx) => {
    const { userId } = await redeemToken(tx, clock, token, ["cancel_email"]);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    await voidTokens(tx, userId);
    await endSessions(tx, clock.now(), userId);
    const change = { action: "account.cancel_email", target: user.email };
    await audit(tx, { actor: { id: userId, name: user.email }, accountId: user.accountId, ...change, address });
    return user.email;
  });
  await db.control.publish({ kind: "sessions" });
  return email;
}

/**
 * Gives a user the address of the opened link, inside a transaction. Links sent to the old address become invalid, and other
 * browsers are signed out. Resolves with the email that notifies the old address.
 * @throws Fault invalid_parameter when another user has taken the address
 */
async function confirmEmailChange(
  tx: Prisma.TransactionClient,
  { clock }: UserContext,
  { id, email: old, accountId }: User,
  email: string,
  address: string,
): Promise<MailMessage> {
  const taken = await tx.user.findUnique({ where: { email }, select: { id: true } });
  if (taken !== null)
    throw new Fault("invalid_parameter", {
      parameter: "token",
      detail: "This link was already used, has expired, or is incomplete.",
    });
  const nowMs = clock.now();
  await tx.user.update({ where: { id }, data: { email, emailVerifiedAt: new Date(nowMs) } });
  await voidTokens(tx, id);
  await endSessions(tx, nowMs, id);
  const change = { target: old, before: { email: old }, after: { email } };
  await audit(tx, { actor: { id, name: old }, accountId, action: "account.email", ...change, address });
  return emailChangedMail(old, email);
}

/**
 * Handles the link of a verification email or of an email change; resolves with the user's current address.
 * @throws Fault invalid_parameter for a used, expired or invalid link
 */
export async function verifyEmail(context: UserContext, token: string, visitor: Visitor): Promise<string> {
  const { db, clock } = context;
  const { address } = visitor;
  const { done, email } = await db.prisma.$transaction(async (tx) => {
    const redeemed = await redeemToken(tx, clock, token, ["verify", "change_email"]);
    const user = await tx.user.findUniqueOrThrow({ where: { id: redeemed.userId } });
    const { accountId } = user;
    if (redeemed.purpose === "change_email")
      return { done: await confirmEmailChange(tx, context, user, redeemed.email, address), email: redeemed.email };
    const emailVerifiedAt = new Date(clock.now());
    await tx.user.update({ where: { id: user.id }, data: { emailVerifiedAt } });
    const actor = { id: user.id, name: user.email };
    await audit(tx, { actor, accountId, action: "account.verify_email", target: user.email, address });
    return { done: undefined, email: user.email };
  });
  if (done !== undefined) context.send(done);
  await db.control.publish({ kind: "sessions" });
  return email;
}
