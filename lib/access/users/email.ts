import type { z } from "zod";
import { audit } from "#lib/access/audit";
import type { EmailForm, PortalUser, VerifyForm } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { alreadyMail, changeMail, changeRequestedMail, emailChangedMail, type MailMessage } from "#lib/mail/messages";
import type { UserContext, Visitor } from "./context";
import { isFromBrowser, issueToken, mintSecret, readToken, redeemToken, voidTokens } from "./one-time-tokens";
import { endSessions } from "./sessions";
import { requirePassword, takePasswordAttempt } from "./sign-in";
import { takeMailAttempt } from "./users";

/**
 * Sends a link to the new address; the change takes effect when the link is opened. An address with an account gets another
 * email, and the response does not reveal it. The old address gets a link that cancels the change. Resolves
 * with the secret that shows that the link is opened in this browser.
 * @throws Fault invalid_parameter for a wrong password; rate_limited
 */
export async function requestEmailChange(
  context: UserContext,
  user: PortalUser,
  { current, email }: z.infer<typeof EmailForm>,
  visitor: Visitor,
): Promise<string> {
  const { db, clock, send } = context;
  await requirePassword(context, user, current, visitor);
  if (email === user.email) throw new Fault("invalid_parameter", { parameter: "email", detail: "This is already your address." });
  await takeMailAttempt(context, "change_email", email, visitor);
  const browserSecret = mintSecret();
  const userId = user.id;
  const token = await issueToken(db.prisma, clock, { purpose: "change_email", userId, email }, { browserSecret });
  const taken = await db.prisma.user.findUnique({ where: { email }, select: { id: true } });
  send(taken === null ? changeMail(email, visitor.base, token) : alreadyMail(email, visitor.base));
  // Also when the new address is taken: otherwise the owner of the old one would learn it.
  const canceling = await issueToken(db.prisma, clock, { purpose: "cancel_email", userId, email: user.email });
  send(changeRequestedMail(user.email, email, visitor.base, canceling));
  return browserSecret;
}

/**
 * Handles the link with which the old address cancels a change of email. The person who requested the change knew the password, so
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

const VERIFYING = ["verify", "change_email"] as const;

/**
 * Requires that a link is opened by who asked for it: in the same browser, or with the password. Otherwise a stranger could
 * sign up with somebody's address and a password of their own, and have the owner of the mailbox verify it.
 * @throws Fault missing_parameter or invalid_parameter naming `password`; rate_limited; like redeemToken for the token
 */
async function requireProof(context: UserContext, { token, password }: z.infer<typeof VerifyForm>, visitor: Visitor) {
  const { db, clock, passwords } = context;
  const link = await readToken(db.prisma, clock, token, VERIFYING);
  if (isFromBrowser(link, visitor.browserSecret)) return;
  if (password === undefined)
    throw new Fault("missing_parameter", {
      parameter: "password",
      detail: "This link was requested in another browser. Enter the password of the account.",
    });
  const user = await db.prisma.user.findUniqueOrThrow({ where: { id: link.userId } });
  await takePasswordAttempt(context, user.email, user.id, visitor);
  if (await passwords.matches(link.passwordHash ?? user.passwordHash, password)) return;
  throw new Fault("invalid_parameter", {
    parameter: "password",
    detail: "This is not the password this link was requested with. If you did not request it, sign up again.",
  });
}

/** Marks the address of a user as verified, with the password of the sign-up whose link was opened, inside a transaction. */
async function confirmSignUp(
  tx: Prisma.TransactionClient,
  { clock }: UserContext,
  { id, email, accountId, passwordHash: latest }: User,
  passwordHash: string | null,
  { address, sessionId }: { readonly address: string; readonly sessionId: string | undefined },
): Promise<void> {
  const nowMs = clock.now();
  const data = { emailVerifiedAt: new Date(nowMs), passwordHash: passwordHash ?? latest };
  await tx.user.update({ where: { id }, data });
  await voidTokens(tx, id);
  await endSessions(tx, nowMs, id, sessionId);
  await audit(tx, { actor: { id, name: email }, accountId, action: "account.verify_email", target: email, address });
}

/**
 * Handles the link of a verification email or of an email change; resolves with the user's current address. Every session
 * ends except that of `reader`, the user signed in to this browser.
 * @throws Fault invalid_parameter for a used, expired or invalid link; missing_parameter or invalid_parameter naming
 * `password` when the link was requested in another browser; rate_limited
 */
export async function verifyEmail(
  context: UserContext,
  form: z.infer<typeof VerifyForm>,
  reader: PortalUser | undefined,
  visitor: Visitor,
): Promise<string> {
  const { db, clock } = context;
  const { address } = visitor;
  await requireProof(context, form, visitor);
  const { done, email } = await db.prisma.$transaction(async (tx) => {
    const redeemed = await redeemToken(tx, clock, form.token, VERIFYING);
    const user = await tx.user.findUniqueOrThrow({ where: { id: redeemed.userId } });
    if (redeemed.purpose === "change_email")
      return { done: await confirmEmailChange(tx, context, user, redeemed.email, address), email: redeemed.email };
    const sessionId = reader?.id === user.id ? reader.sessionId : undefined;
    await confirmSignUp(tx, context, user, redeemed.passwordHash, { address, sessionId });
    return { done: undefined, email: user.email };
  });
  if (done !== undefined) context.send(done);
  await db.control.publish({ kind: "sessions" });
  return email;
}
