import { z } from "zod";
import { acceptedTerms } from "#lib/access/sign-up-rules";
import {
  INVITATIONS_MAX_COUNT,
  type InvitationOffer,
  type InvitedSignUpForm,
  type InviteForm,
  MEMBERS_MAX_COUNT,
  MEMBERSHIPS_MAX_COUNT,
  type PortalInvitation,
} from "#lib/contract/organisation";
import type { PortalUser } from "#lib/contract/portal";
import { INVITATION_LIFETIME_S } from "#lib/contract/roles";
import { Fault } from "#lib/fault";
import type { Invitation, Prisma, User } from "#lib/generated/prisma/client";
import { invitationMail, pageLink, verifyMail } from "#lib/mail/messages";
import { SECOND_MS } from "#lib/units";
import { audit, type ChangedBy, COMMAND_LINE, NOT_SIGNED_IN } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import { requireStrong } from "#server/threads/password-strength";
import type { UserContext, Visitor } from "./context";
import { type Entry, entryOf } from "./entry";
import { addMember, hasRoom, roleOf, workIn } from "./memberships";
import { hashOf, issueToken, mintSecret, voidTokens } from "./one-time-tokens";
import { endSessions } from "./sessions";
import { createUser, retryOnConflict, takeMailAttempt, termsColumns } from "./users";

type Tx = Prisma.TransactionClient;
/** An invitation with what its link shows. */
type Open = Invitation & { readonly account: { readonly name: string } };

/** One answer for every link that does not work, so that guessing teaches nothing. */
const invalid = () =>
  new Fault("invalid_parameter", {
    parameter: "token",
    detail: "This invitation was already used, was withdrawn, has expired, or its link is incomplete.",
  });

const FULL = `An organisation has at most ${MEMBERS_MAX_COUNT} members.`;

const isOpen = (nowMs: number) => ({ usedAt: null, expiresAt: { gt: new Date(nowMs) } });

function shown({ id, email, role, mailed, inviter, createdAt, expiresAt }: Invitation): PortalInvitation {
  return {
    id,
    email,
    role: roleOf(role),
    mailed,
    inviter,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}

/** The invitations to an organisation that can still be accepted, newest first. */
export async function listInvitations({ db, clock }: KeyContext, accountId: string): Promise<PortalInvitation[]> {
  const where = { accountId, ...isOpen(clock.now()) };
  return (await db.prisma.invitation.findMany({ where, orderBy: { createdAt: "desc" } })).map(shown);
}

/** An invitation that was just made. */
interface MadeInvitation {
  readonly invitation: PortalInvitation;
  readonly organisation: string;
  /** The text of its link, which is kept nowhere. */
  readonly token: string;
}

/**
 * Invites an address to an organisation, in place of an earlier invitation of that address. With `mail` the caller mails the link
 * and shows it to nobody.
 * @param by a member, or an operator
 * @throws Fault not_found; invalid_parameter for a member, and past a limit
 */
export async function createInvitation(
  { db, clock }: KeyContext,
  accountId: string,
  { email, role, mail }: z.output<typeof InviteForm>,
  by: ChangedBy,
): Promise<MadeInvitation> {
  const nowMs = clock.now();
  const token = mintSecret();
  const refuse = (detail: string) => new Fault("invalid_parameter", { parameter: "email", detail });
  return db.prisma.$transaction(async (tx) => {
    const account = z.uuid().safeParse(accountId).success ? await tx.account.findUnique({ where: { id: accountId } }) : null;
    if (account === null) throw new Fault("not_found", { detail: "This account does not exist." });
    const room = await hasRoom(tx, accountId);
    if ((await tx.membership.count({ where: { accountId, user: { email } } })) > 0)
      throw refuse("This address is a member already.");
    // Expired ones too: nobody can accept them any more.
    await tx.invitation.deleteMany({
      where: { accountId, usedAt: null, OR: [{ email }, { expiresAt: { lte: new Date(nowMs) } }] },
    });
    if ((await tx.invitation.count({ where: { accountId, usedAt: null } })) >= INVITATIONS_MAX_COUNT)
      throw refuse(`At most ${INVITATIONS_MAX_COUNT} invitations can wait. Withdraw one first.`);
    if (!room) throw refuse(FULL);
    const row = await tx.invitation.create({
      data: {
        accountId,
        email,
        role,
        hash: hashOf(token),
        mailed: mail,
        invitedById: by.accountId === undefined ? null : (by.actor.id ?? null),
        inviter: by.actor.name,
        createdAt: new Date(nowMs),
        expiresAt: new Date(nowMs + INVITATION_LIFETIME_S * SECOND_MS),
      },
    });
    await audit(tx, { ...by, accountId, action: "member.invite", target: email, after: { role, mailed: mail } });
    return { invitation: shown(row), organisation: account.name, token };
  });
}

/**
 * The same on a page: sends the link, or returns it.
 * @returns the link where it is not mailed
 */
export async function invite(
  context: UserContext,
  accountId: string,
  form: z.output<typeof InviteForm>,
  by: ChangedBy,
  visitor: Visitor,
): Promise<{ readonly invitation: PortalInvitation; readonly link: string | null }> {
  if (form.mail) await takeMailAttempt(context, "invite", form.email, visitor);
  const { invitation, organisation, token } = await createInvitation(context, accountId, form, by);
  if (form.mail) context.send(invitationMail(form.email, visitor.base, organisation, invitation.inviter, token));
  return { invitation, link: form.mail ? null : pageLink(visitor.base, "invitation", token) };
}

/** Withdraws an invitation that was not accepted. @throws Fault not_found */
export async function withdrawInvitation({ db }: KeyContext, accountId: string, id: string, by: ChangedBy): Promise<void> {
  const notFound = new Fault("not_found", { detail: "There is no such invitation." });
  if (!z.uuid().safeParse(id).success) throw notFound;
  await db.prisma.$transaction(async (tx) => {
    const row = await tx.invitation.findFirst({ where: { id, accountId, usedAt: null } });
    if (row === null) throw notFound;
    await tx.invitation.delete({ where: { id } });
    const { email, role } = row;
    await audit(tx, { ...by, accountId, action: "member.withdraw_invitation", target: email, before: { role } });
  });
}

/** @throws Fault invalid_parameter naming `token` */
async function readOpen(tx: Pick<Tx, "invitation">, nowMs: number, where: Prisma.InvitationWhereInput): Promise<Open> {
  const row = await tx.invitation.findFirst({
    where: { ...where, ...isOpen(nowMs) },
    include: { account: { select: { name: true } } },
  });
  if (row === null) throw invalid();
  return row;
}

/** What the link of an invitation leads to. @throws Fault invalid_parameter for one that does not work */
export async function readInvitation({ db, clock }: UserContext, token: string): Promise<InvitationOffer> {
  const { account, email, role, inviter, expiresAt } = await readOpen(db.prisma, clock.now(), { hash: hashOf(token) });
  return {
    organisation: account.name,
    email,
    role: roleOf(role),
    inviter: inviter === COMMAND_LINE.actor.name ? null : inviter,
    expires_at: expiresAt.toISOString(),
    has_account: (await db.prisma.user.count({ where: { email, emailVerifiedAt: { not: null } } })) > 0,
  };
}

/** Whether an invitation can still be accepted, by somebody who then does. */
export async function isOpenInvitation(tx: Tx, nowMs: number, id: string): Promise<boolean> {
  const row = await tx.invitation.findFirst({ where: { id, ...isOpen(nowMs) }, select: { accountId: true } });
  return row !== null && (await hasRoom(tx, row.accountId));
}

/** Uses an invitation once: of two at the same time only one succeeds. @throws Fault invalid_parameter */
async function spend(tx: Tx, nowMs: number, id: string): Promise<void> {
  const where = { id, ...isOpen(nowMs) };
  const { count } = await tx.invitation.updateMany({ where, data: { usedAt: new Date(nowMs) } });
  if (count === 0) throw invalid();
}

/**
 * Accepts an invitation for a user with a verified address, inside a transaction, and lets them work in that organisation. Who is a
 * member already keeps the role, of which an older invitation knows nothing.
 * @throws Fault invalid_parameter
 */
export async function join(
  tx: Tx,
  nowMs: number,
  user: User,
  invitation: { readonly id: string } | { readonly hash: Uint8Array<ArrayBuffer> },
  address: string,
): Promise<void> {
  const { id, accountId, role, email } = await readOpen(tx, nowMs, invitation);
  const refuse = (detail: string) => new Fault("invalid_parameter", { parameter: "token", detail });
  if (email !== user.email) throw refuse(`This invitation is for another address than ${user.email}.`);
  const room = await hasRoom(tx, accountId);
  await spend(tx, nowMs, id);
  if ((await tx.membership.count({ where: { accountId, userId: user.id } })) === 0) {
    if (!room) throw refuse(FULL);
    if ((await tx.membership.count({ where: { userId: user.id } })) >= MEMBERSHIPS_MAX_COUNT)
      throw refuse(`You can be a member of at most ${MEMBERSHIPS_MAX_COUNT} organisations.`);
    await addMember(tx, nowMs, user, { accountId, role, address });
  }
  await workIn(tx, user, accountId);
}

/** Accepts an invitation as the signed-in user. @throws Fault invalid_parameter */
export async function acceptInvitation(context: UserContext, user: PortalUser, token: string, visitor: Visitor): Promise<void> {
  const { db, clock } = context;
  if (!user.emailVerified) throw new Fault("invalid_parameter", { parameter: "email", detail: "Verify your email first." });
  await db.prisma.$transaction(async (tx) => {
    const joining = await tx.user.findUniqueOrThrow({ where: { id: user.id } });
    await join(tx, clock.now(), joining, { hash: hashOf(token) }, visitor.address);
  });
  // Tokens made while working in another organisation are looked up again.
  await db.control.publish({ kind: "sessions" });
}

/** How a sign-up with an invitation goes on. */
interface InvitedEntry {
  /** `none`: the address is verified first, by the link of an email. */
  readonly entry: Entry;
  /** The secret that shows that the link of that email is opened in this browser. */
  readonly browserSecret: string | undefined;
}

/**
 * Creates the account of somebody who was invited, whoever else may sign up. A mailed link proves the address: the user is a
 * member at once. A link that was passed on proves nothing, so the address is verified first, which then accepts the invitation.
 * @throws Fault invalid_parameter for a link that does not work, an address that has an account, and a password that is easy to
 * guess; missing_parameter for terms that are not accepted; rate_limited
 */
export async function signUpInvited(
  context: UserContext,
  { token, password, name = "", terms: accepted }: z.output<typeof InvitedSignUpForm>,
  visitor: Visitor,
): Promise<InvitedEntry> {
  const { db, clock, passwords, rules, send } = context;
  const { address, base } = visitor;
  const terms = acceptedTerms(rules, accepted);
  const { email } = await readOpen(db.prisma, clock.now(), { hash: hashOf(token) });
  await requireStrong(context, password, { email, name }, visitor);
  await takeMailAttempt(context, "sign_up", email, visitor);
  const passwordHash = await passwords.hash(password);
  const signedUp = await retryOnConflict(() =>
    db.prisma.$transaction(async (tx) => {
      const nowMs = clock.now();
      const { id, accountId, role, mailed } = await readOpen(tx, nowMs, { hash: hashOf(token) });
      const known = await tx.user.findUnique({ where: { email } });
      if (known !== null && known.emailVerifiedAt !== null)
        throw new Fault("invalid_parameter", { parameter: "email", detail: "This address has an account. Sign in to accept." });
      const data = { email, name, passwordHash, verified: mailed, terms };
      if (known !== null) {
        // Whoever never verified the address may be somebody else.
        await endSessions(tx, nowMs, known.id);
        await tx.user.update({ where: { id: known.id }, data: termsColumns(terms, new Date(nowMs)) });
      }
      if (mailed && known === null) {
        if (!(await hasRoom(tx, accountId))) throw new Fault("invalid_parameter", { parameter: "token", detail: FULL });
        await spend(tx, nowMs, id);
        const { id: userId } = await createUser(tx, nowMs, data, { joins: accountId, role: roleOf(role) }, address);
        return { userId };
      }
      const user = known ?? (await createUser(tx, nowMs, data, { waits: true }, address));
      if (mailed) {
        await voidTokens(tx, user.id);
        const verified = { name, passwordHash, emailVerifiedAt: new Date(nowMs) };
        await join(tx, nowMs, await tx.user.update({ where: { id: user.id }, data: verified }), { id }, address);
        return { userId: user.id };
      }
      await audit(tx, {
        actor: NOT_SIGNED_IN,
        accountId: user.accountId,
        action: "account.sign_up_again",
        target: email,
        ...(terms !== null && { after: { terms } }),
        address,
      });
      const browserSecret = mintSecret();
      const grant = { purpose: "verify", userId: user.id, email } as const;
      const proof = { browserSecret, passwordHash, invitationId: id };
      return { userId: user.id, browserSecret, message: verifyMail(email, base, await issueToken(tx, clock, grant, proof)) };
    }),
  );
  if (signedUp.message !== undefined) {
    send(signedUp.message);
    return { entry: { kind: "none" }, browserSecret: signedUp.browserSecret };
  }
  await db.control.publish({ kind: "sessions" });
  const entry = await entryOf(context, { userId: signedUp.userId, email }, undefined);
  return { entry, browserSecret: undefined };
}
