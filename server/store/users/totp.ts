import { Secret } from "otpauth";
import { renderSVG } from "uqr";
import type { PortalUser } from "#lib/contract/portal";
import type { NewRecoveryCodes, TotpSetup } from "#lib/contract/second-factor";
import { Fault } from "#lib/fault";
import { secondFactorMail } from "#lib/mail/security-messages";
import { audit } from "#server/store/access/audit";
import type { UserContext, Visitor } from "./context";
import { occasionOf } from "./notices";
import { afterAdding, afterRemoving, lockUser, requireVerified, takeCodeAttempt } from "./second-factor";
import { acceptTotp, totpOf } from "./totp-code";

/** RFC 4226 recommends 160 bits. */
const SECRET_BYTES = 20;
/** Modules of white around a QR code; readers need four (ISO/IEC 18004). */
const QR_BORDER_MODULES = 4;

/**
 * Makes a secret for an authenticator app. It does not count before a code confirms it; starting again replaces it.
 * @throws Fault invalid_parameter for a user who has an app already, or has not verified the address
 */
export async function startTotp({ db, sealer, brand }: UserContext, user: PortalUser): Promise<TotpSetup> {
  requireVerified(user);
  const { id, email } = user;
  const secret = new Secret({ size: SECRET_BYTES }).base32;
  const where = { id, totpSince: null };
  const { count } = await db.prisma.user.updateMany({ where, data: { totpSecret: sealer.seal(secret, id) } });
  if (count === 0) throw new Fault("invalid_parameter", { detail: "You already use an authenticator app. Turn it off first." });
  const uri = totpOf(secret, email, brand.name).toString();
  return { secret, uri, qr: renderSVG(uri, { border: QR_BORDER_MODULES }) };
}

/**
 * Turns the authenticator app on, given a code that it shows.
 * @throws Fault invalid_parameter naming `code` for a wrong one, or before startTotp; rate_limited
 */
export async function confirmTotp(
  context: UserContext,
  user: PortalUser,
  code: string,
  visitor: Visitor,
): Promise<NewRecoveryCodes> {
  const { db, clock, send } = context;
  const { id, accountId, email } = user;
  const waiting = await db.prisma.user.findUniqueOrThrow({ where: { id } });
  await takeCodeAttempt(context, waiting, visitor);
  const refusal = new Fault("invalid_parameter", {
    parameter: "code",
    detail: "This code is wrong or was used before. Enter the one the app shows now.",
  });
  if (waiting.totpSince !== null || (await acceptTotp(context, waiting, code)) === undefined) throw refusal;
  const made = await db.prisma.$transaction(async (tx) => {
    const { totpSince, totpSecret } = await lockUser(tx, id);
    // Another request turned it on, or started again with another secret.
    if (totpSince !== null || !totpSecret || Buffer.compare(totpSecret, waiting.totpSecret ?? new Uint8Array()) !== 0)
      throw refusal;
    await tx.user.update({ where: { id }, data: { totpSince: new Date(clock.now()) } });
    const { address } = visitor;
    await audit(tx, { actor: { id, name: email }, accountId, action: "second_factor.add_app", target: email, address });
    return afterAdding(tx, clock.now(), user);
  });
  await db.control.publish({ kind: "sessions" });
  send(secondFactorMail(email, "An authenticator app was added to your account.", occasionOf(context, visitor)));
  return made;
}

/**
 * Turns the authenticator app off.
 * @throws Fault not_found for a user without one
 */
export async function removeTotp(context: UserContext, user: PortalUser, visitor: Visitor): Promise<void> {
  const { db, send } = context;
  const { id, accountId, email } = user;
  const { address } = visitor;
  await db.prisma.$transaction(async (tx) => {
    const { totpSince } = await lockUser(tx, id);
    if (totpSince === null) throw new Fault("not_found", { detail: "You do not use an authenticator app." });
    await tx.user.update({ where: { id }, data: { totpSecret: null, totpSince: null } });
    await audit(tx, { actor: { id, name: email }, accountId, action: "second_factor.remove_app", target: email, address });
    await afterRemoving(tx, id);
  });
  send(secondFactorMail(email, "The authenticator app was removed from your account.", occasionOf(context, visitor)));
}
