import type { z } from "zod";
import { Email, type EmailForm, type PendingEmail, type PortalUser, type VerifyForm } from "#lib/contract/portal";
import { Fault, isFault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { alreadyMail, changeMail } from "#lib/mail/messages";
import { changeCanceledMail, changeRequestedMail, emailChangedMail } from "#lib/mail/security-messages";
import { audit, type ChangedBy, COMMAND_LINE } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import type { UserContext, Visitor } from "./context";
import { type Entry, entryOf } from "./entry";
import { isOpenInvitation, join } from "./invitations";
import { occasionOf } from "./notices";
import { isFromBrowser, issueToken, mintSecret, readToken, redeemToken, voidTokens } from "./one-time-tokens";
import { endSessions } from "./sessions";
import { takePasswordAttempt } from "./sign-in";
import { requireUser, takeMailAttempt } from "./users";

/**
 * Sends a link to the new address, and to the old one, if it is verified, a link that approves the change; the change takes
 * effect when both are opened, so that the password alone moves no account. An address with an account gets another email, and
 * the response does not reveal it. The old address also gets a link that cancels the change. Resolves with the secret that
 * shows that a link is opened in this browser.
 * @throws Fault invalid_parameter naming `email` for the current address; rate_limited
 */
export async function requestEmailChange(
  context: UserContext,
  user: PortalUser,
  { email }: z.infer<typeof EmailForm>,
  visitor: Visitor,
): Promise<string> {
  const { db, clock, send } = context;
  if (email === user.email) throw new Fault("invalid_parameter", { parameter: "email", detail: "This is already your address." });
  await takeMailAttempt(context, "change_email", email, visitor);
  const browserSecret = mintSecret();
  const { id: userId, email: old } = user;
  const { token, approve, cancel } = await db.prisma.$transaction(async (tx) => ({
    token: await issueToken(tx, clock, { purpose: "change_email", userId, email }, { browserSecret }),
    approve: user.emailVerified
      ? await issueToken(tx, clock, { purpose: "approve_email", userId, email: old }, { browserSecret })
      : undefined,
    cancel: await issueToken(tx, clock, { purpose: "cancel_email", userId, email: old }),
  }));
  const taken = await db.prisma.user.findUnique({ where: { email }, select: { id: true } });
  send(taken === null ? changeMail(email, visitor.base, token) : alreadyMail(email, visitor.base));
  // Also when the new address is taken: otherwise the owner of the old one would learn it.
  send(changeRequestedMail(old, email, occasionOf(context, visitor), { cancel, approve }));
  return browserSecret;
}

/**
 * Handles the link with which the old address cancels a change of email. The person who requested the change
 * had a session with a fresh proof, so every session ends and no other link works any more. Resolves with the address that stays.
 * @throws Fault invalid_parameter for a used, expired or invalid link, and after the change took effect
 */
export async function cancelEmailChange(context: UserContext, token: string, visitor: Visitor): Promise<string> {
  const { db, clock, send } = context;
  const email = await db.prisma.$transaction(async (tx) => {
    const { userId } = await redeemToken(tx, clock, token, ["cancel_email"]);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    await voidTokens(tx, userId);
    await endSessions(tx, clock.now(), userId);
    const change = { action: "account.cancel_email", target: user.email };
    await audit(tx, { actor: { id: userId, name: user.email }, accountId: user.accountId, ...change, address: visitor.address });
    return user.email;
  });
  await db.control.publish({ kind: "sessions" });
  send(changeCanceledMail(email, occasionOf(context, visitor)));
  return email;
}

const HALVES = ["change_email", "approve_email"] as const;

/** The links of a user's change of address: that of the new address, and that with which the old one approves. */
async function halvesOf(store: Pick<Prisma.TransactionClient, "oneTimeToken">, userId: string) {
  const halves = await store.oneTimeToken.findMany({ where: { userId, purpose: { in: [...HALVES] } } });
  const half = (wanted: (typeof HALVES)[number]) => halves.find(({ purpose }) => purpose === wanted);
  return { change: half("change_email"), approval: half("approve_email") };
}

/** The change of address that a user has requested and that is not complete; null without one. */
export async function pendingEmailChange({ db, clock }: UserContext, userId: string): Promise<PendingEmail | null> {
  const { change, approval } = await halvesOf(db.prisma, userId);
  const unopened = [change, approval].filter((half) => half?.usedAt === null);
  const lost = unopened.some((half) => half !== undefined && half.expiresAt.getTime() <= clock.now());
  if (change === undefined || unopened.length === 0 || lost) return null;
  return { email: change.email, new_address: change.usedAt === null, old_address: approval?.usedAt === null };
}

/** Withdraws the change of address that a user has requested: its links no longer work. Without one nothing happens. */
export async function withdrawEmailChange({ db }: UserContext, user: PortalUser, { address }: Visitor): Promise<void> {
  const { id: userId, email, accountId } = user;
  await db.prisma.$transaction(async (tx) => {
    const { count } = await tx.oneTimeToken.deleteMany({ where: { userId, purpose: { in: [...HALVES, "cancel_email"] } } });
    if (count === 0) return;
    const actor = { id: userId, name: email };
    await audit(tx, { actor, accountId, action: "account.cancel_email", target: email, address });
  });
}

/** A change of address that both sides agreed to, or that an operator makes. */
interface Move {
  readonly email: string;
  readonly by: ChangedBy;
  /** Why it cannot be made when another user has the address. */
  readonly taken: Fault;
}

/**
 * Gives a user another address, inside a transaction. Links sent to the old address become invalid, and all browsers are signed
 * out.
 * @throws Fault the given one when another user has taken the address
 */
async function moveTo(
  tx: Prisma.TransactionClient,
  { clock }: Pick<KeyContext, "clock">,
  { id, email: old, accountId }: User,
  { email, by, taken }: Move,
): Promise<void> {
  if ((await tx.user.findUnique({ where: { email }, select: { id: true } })) !== null) throw taken;
  const nowMs = clock.now();
  await tx.user.update({ where: { id }, data: { email, emailVerifiedAt: new Date(nowMs) } });
  await voidTokens(tx, id);
  await endSessions(tx, nowMs, id);
  const change = { target: old, before: { email: old }, after: { email } };
  await audit(tx, { ...by, accountId, action: "account.email", ...change });
}

/**
 * Gives a user who lost the mailbox another address, which counts as verified. For operators at a terminal, who make sure that
 * it is the user's. Resolves with both addresses.
 * @throws Fault invalid_parameter for an address without a user, and for a new one that is invalid or taken
 */
export async function moveUser(context: KeyContext, from: string, to: string): Promise<{ old: string; now: string }> {
  const { db } = context;
  const refused = (detail: string) => new Fault("invalid_parameter", { parameter: "email", detail });
  const user = await requireUser(context, from);
  const parsed = Email.safeParse(to);
  if (!parsed.success) throw refused(`${to} is not an email address.`);
  const { data: email } = parsed;
  const move = { email, by: COMMAND_LINE, taken: refused(`${email} has an account already.`) };
  await db.prisma.$transaction((tx) => moveTo(tx, context, user, move));
  await db.control.publish({ kind: "sessions" });
  return { old: user.email, now: email };
}

/**
 * Follows the opened link of a change of email, inside a transaction. Resolves with the address that has yet to agree;
 * undefined when the change took effect.
 */
async function followChange(
  tx: Prisma.TransactionClient,
  context: UserContext,
  user: User,
  purpose: "change_email" | "approve_email",
  address: string,
): Promise<WaitingFor | undefined> {
  const { id: userId, email: old, accountId } = user;
  // Of two links opened at once, the second finds the first used.
  await tx.$queryRaw`SELECT 1 FROM portal_user WHERE id = ${userId}::uuid FOR NO KEY UPDATE`;
  const { change, approval } = await halvesOf(tx, userId);
  if (purpose === "approve_email")
    await audit(tx, { actor: { id: userId, name: old }, accountId, action: "account.approve_email", target: old, address });
  if (change?.usedAt == null) return "new_address";
  if (user.emailVerifiedAt !== null && approval?.usedAt == null) return "old_address";
  const taken = new Fault("invalid_parameter", {
    parameter: "token",
    detail: "This link was already used, has expired, or is incomplete.",
  });
  await moveTo(tx, context, user, { email: change.email, by: { actor: { id: userId, name: old }, address }, taken });
  return undefined;
}

const VERIFYING = ["verify", "change_email", "approve_email"] as const;

/** Which of the two addresses of a change has not agreed yet. */
type WaitingFor = "old_address" | "new_address";

/** What a link does when it is opened; undefined for one that does not work. */
export async function purposeOfLink({ db, clock }: UserContext, token: string): Promise<(typeof VERIFYING)[number] | undefined> {
  try {
    const { purpose } = await readToken(db.prisma, clock, token, VERIFYING);
    return VERIFYING.find((known) => known === purpose);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/**
 * Requires that a link is opened by who asked for it: in the same browser, in one that is signed in with the password of that
 * sign-up, or with the password. Otherwise a stranger could sign up with somebody's address and a password of their own, and
 * have the owner of the mailbox verify it.
 * @throws Fault missing_parameter or invalid_parameter naming `password`; rate_limited; like redeemToken for the token
 */
async function requireProof(
  context: UserContext,
  { token, password }: z.infer<typeof VerifyForm>,
  reader: PortalUser | undefined,
  visitor: Visitor,
): Promise<void> {
  const { db, clock, passwords } = context;
  const link = await readToken(db.prisma, clock, token, VERIFYING);
  if (isFromBrowser(link, visitor.browserSecret)) return;
  const user = await db.prisma.user.findUniqueOrThrow({ where: { id: link.userId } });
  const passwordHash = link.passwordHash ?? user.passwordHash;
  // The link of an earlier sign-up, perhaps a stranger's, would make its password the user's.
  if (link.purpose === "verify" && reader?.id === user.id && passwordHash === user.passwordHash) return;
  if (password === undefined)
    throw new Fault("missing_parameter", {
      parameter: "password",
      detail: "This link was requested in another browser. Enter the password of the account.",
    });
  await takePasswordAttempt(context, user.email, user, visitor);
  if (await passwords.matches(passwordHash, password)) return;
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

/** What came of an opened link. */
interface Verified {
  /** The user's current address. */
  readonly email: string;
  /** The address that has yet to agree to a change; null when all is done. */
  readonly waiting_for: WaitingFor | null;
  /** How the browser that opened it goes on. */
  readonly entry: Entry;
}

/**
 * Handles the link of a verification email, or one of the two of an email change. When it is done, every session ends; after a
 * sign-up, except that of `reader`, the user signed in to this browser. A sign-up lets this browser in; a change of email never.
 * @throws Fault invalid_parameter for a used, expired or invalid link; missing_parameter or invalid_parameter naming
 * `password` when the link was requested in another browser, unless that is signed in; rate_limited
 */
export async function verifyEmail(
  context: UserContext,
  form: z.infer<typeof VerifyForm>,
  reader: PortalUser | undefined,
  visitor: Visitor,
): Promise<Verified> {
  const { db, clock, send } = context;
  const { address } = visitor;
  await requireProof(context, form, reader, visitor);
  const { userId, old, now, waitingFor, isSignUp } = await db.prisma.$transaction(async (tx) => {
    const { userId, purpose, passwordHash, invitationId } = await redeemToken(tx, clock, form.token, VERIFYING);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    if (purpose === "change_email" || purpose === "approve_email") {
      const waitingFor = await followChange(tx, context, user, purpose, address);
      const { email: now } = await tx.user.findUniqueOrThrow({ where: { id: userId } });
      return { userId, old: user.email, now, waitingFor, isSignUp: false };
    }
    const sessionId = reader?.id === userId ? reader.sessionId : undefined;
    await confirmSignUp(tx, context, user, passwordHash, { address, sessionId });
    if (invitationId !== null && (await isOpenInvitation(tx, clock.now(), invitationId)))
      await join(tx, clock.now(), user, { id: invitationId }, address);
    return { userId, old: user.email, now: user.email, isSignUp: true };
  });
  if (waitingFor !== undefined) return { email: now, waiting_for: waitingFor, entry: { kind: "none" } };
  if (old !== now) send(emailChangedMail(old, now, occasionOf(context, visitor)));
  await db.control.publish({ kind: "sessions" });
  const entry: Entry = isSignUp ? await entryOf(context, { userId, email: now }, reader) : { kind: "none" };
  return { email: now, waiting_for: null, entry };
}
