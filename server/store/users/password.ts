import type { z } from "zod";
import { clientBlock } from "#lib/access/address";
import { toPortalKey } from "#lib/access/key-json";
import type { PasswordForm, PortalIdentity, PortalKey, PortalUser, ResetForm } from "#lib/contract/portal";
import { isFault } from "#lib/fault";
import { resetMail } from "#lib/mail/messages";
import { passwordChangedMail } from "#lib/mail/security-messages";
import { audit } from "#server/store/access/audit";
import { listKeys } from "#server/store/access/keys";
import { revokeKeysOf } from "#server/store/access/revoke-keys";
import { requireStrong } from "#server/threads/password-strength";
import type { UserContext, Visitor } from "./context";
import { listIdentities, unlink } from "./identities";
import { occasionOf } from "./notices";
import { issueToken, readToken, redeemToken, voidTokens } from "./one-time-tokens";
import { proveByPassword } from "./proof";
import { endSessions } from "./sessions";
import { takeMailAttempt } from "./users";

/**
 * Sends a link for a new password if the address has an account. The response and its time are the same either way.
 * @throws Fault rate_limited
 */
export async function requestReset(context: UserContext, email: string, visitor: Visitor): Promise<void> {
  const { db, clock, send } = context;
  await takeMailAttempt(context, "reset", email, visitor);
  const user = await db.prisma.user.findUnique({ where: { email }, select: { id: true } });
  if (user === null) return;
  // Off the request: writing the token takes time, which would tell that the address has an account.
  const grant = { purpose: "reset", userId: user.id, email } as const;
  send(async () => resetMail(email, visitor.base, await issueToken(db.prisma, clock, grant)));
}

/** What opens an account besides its password. */
interface OtherAccess {
  readonly keys: readonly PortalKey[];
  readonly providers: readonly PortalIdentity[];
}

/**
 * What else opens the account of a reset link, so that its owner can revoke it with the reset: keys that still work, and
 * linked providers. Nothing for a link that does not work.
 */
export async function accessBehindReset({ db, clock }: UserContext, token: string): Promise<OtherAccess> {
  try {
    const { userId } = await readToken(db.prisma, clock, token, ["reset"]);
    const keys = await listKeys({ db, clock }, { madeById: userId });
    return {
      keys: keys.filter(({ state }) => state !== "expired" && state !== "revoked").map(toPortalKey),
      providers: await listIdentities({ db }, userId),
    };
  } catch (error) {
    if (isFault(error)) return { keys: [], providers: [] };
    throw error;
  }
}

/**
 * Sets the password of the user who opened the link, which also verifies their address, and ends all their sessions. With
 * `revoke_keys` the keys that they made stop working too, with `unlink_providers` their linked providers: a thief may have made either. Resolves
 * with the id of the user.
 * @throws Fault invalid_parameter for a used, expired or invalid link, and for a password that is easy to guess; rate_limited
 */
export async function resetPassword(
  context: UserContext,
  { token, password, revoke_keys, unlink_providers }: z.infer<typeof ResetForm>,
  visitor: Visitor,
): Promise<string> {
  const { db, clock, passwords, send } = context;
  const { address } = visitor;
  // A guess of a token counts like a password attempt.
  await context.attempts.take("password_client", clientBlock(address));
  const link = await readToken(db.prisma, clock, token, ["reset"]);
  const owner = await db.prisma.user.findUniqueOrThrow({ where: { id: link.userId } });
  await requireStrong(context, password, owner, visitor);
  const passwordHash = await passwords.hash(password);
  const { user, revoked } = await db.prisma.$transaction(async (tx) => {
    const { userId } = await redeemToken(tx, clock, token, ["reset"]);
    const nowMs = clock.now();
    const old = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    const emailVerifiedAt = old.emailVerifiedAt ?? new Date(nowMs);
    await tx.user.update({ where: { id: userId }, data: { passwordHash, emailVerifiedAt } });
    await voidTokens(tx, userId);
    await endSessions(tx, nowMs, userId);
    const by = { actor: { id: userId, name: old.email }, accountId: old.accountId, address };
    await audit(tx, { ...by, action: "account.reset_password", target: old.email });
    const providers = unlink_providers ? (await unlink(tx, old, address)).length : 0;
    const keys = revoke_keys ? await revokeKeysOf(tx, { madeById: userId }, new Date(nowMs), by) : 0;
    return { user: old, revoked: { keys, providers } };
  });
  await db.control.publish({ kind: "sessions" });
  if (revoke_keys) await db.control.publish({ kind: "account" });
  send(passwordChangedMail(user.email, occasionOf(context, visitor), revoked));
  return user.id;
}

/**
 * Changes the password of a signed-in user, ends every other session and voids all links in emails: somebody who knew the old
 * password may have requested a change of email.
 * @throws Fault invalid_parameter for a wrong current password, and for a new one that is easy to guess; rate_limited
 */
export async function changePassword(
  context: UserContext,
  user: PortalUser,
  { current, password }: z.infer<typeof PasswordForm>,
  visitor: Visitor,
): Promise<void> {
  const { db, clock, passwords, send } = context;
  const { id, accountId, email, sessionId } = user;
  await proveByPassword(context, user, current, visitor);
  await requireStrong(context, password, user, visitor);
  const passwordHash = await passwords.hash(password);
  await db.prisma.$transaction(async (tx) => {
    await tx.user.update({ where: { id }, data: { passwordHash } });
    await voidTokens(tx, id);
    await endSessions(tx, clock.now(), id, sessionId);
    const { address } = visitor;
    await audit(tx, { actor: { id, name: email }, accountId, action: "account.password", target: email, address });
  });
  await db.control.publish({ kind: "sessions" });
  send(passwordChangedMail(email, occasionOf(context, visitor)));
}
