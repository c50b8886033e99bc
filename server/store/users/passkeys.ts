import { createHash } from "node:crypto";
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { z } from "zod";
import type { PortalUser } from "#lib/contract/portal";
import {
  type AddPasskeyForm,
  type NewRecoveryCodes,
  PASSKEY_CHALLENGE_LIFETIME_S,
  PASSKEYS_MAX_COUNT,
  type UsedPasskey,
} from "#lib/contract/second-factor";
import { Fault } from "#lib/fault";
import { secondFactorMail } from "#lib/mail/security-messages";
import { SECOND_MS } from "#lib/units";
import { audit } from "#server/store/access/audit";
import type { UserContext, Visitor } from "./context";
import { occasionOf } from "./notices";
import { afterAdding, afterRemoving, lockUser, requireVerified } from "./second-factor";
import { UNIQUE_VIOLATION } from "./users";

const TIMEOUT_MS = PASSKEY_CHALLENGE_LIFETIME_S * SECOND_MS;

/** The site that passkeys belong to. */
export interface PasskeySite {
  /** As browsers report it, for example https://spotwire.example. */
  readonly origin: string;
  /** Its host name. */
  readonly rpId: string;
}

/** A challenge that one browser was given, at a site. */
export interface Ceremony extends PasskeySite {
  readonly challenge: string;
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

/** Uses up a challenge; false when it was used before. Only challenges with a valid signature get here, and they expire. */
async function spendChallenge({ db, clock }: UserContext, challenge: string): Promise<boolean> {
  const nowMs = clock.now();
  const hash = new Uint8Array(createHash("sha256").update(challenge).digest());
  await db.prisma.spentChallenge.deleteMany({ where: { expiresAt: { lt: new Date(nowMs) } } });
  try {
    await db.prisma.spentChallenge.create({ data: { hash, expiresAt: new Date(nowMs + TIMEOUT_MS) } });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false;
    throw error;
  }
}

/**
 * What a browser needs to make a passkey for a user.
 * @throws Fault invalid_parameter for a user who has not verified the address
 */
export async function passkeyCreation({ db, brand }: UserContext, user: PortalUser, { rpId }: PasskeySite) {
  requireVerified(user);
  const { id, email, name } = user;
  const passkeys = await db.prisma.passkey.findMany({ where: { userId: id }, select: { credentialId: true, transports: true } });
  return generateRegistrationOptions({
    rpName: brand.name,
    rpID: rpId,
    userName: email,
    userDisplayName: name || email,
    userID: new Uint8Array(Buffer.from(id)),
    timeout: TIMEOUT_MS,
    attestationType: "none",
    excludeCredentials: passkeys.map(({ credentialId, transports }) => ({ id: textOf(credentialId), transports })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

/** What a browser needs to let its user choose a passkey of this site. */
export function passkeyRequest({ rpId }: PasskeySite) {
  return generateAuthenticationOptions({ rpID: rpId, userVerification: "required", timeout: TIMEOUT_MS });
}

const refusal = () =>
  new Fault("invalid_parameter", { parameter: "passkey", detail: "The passkey could not be verified. Try again." });

async function verifiedCredential({ name: _, passkey }: z.infer<typeof AddPasskeyForm>, { challenge, origin, rpId }: Ceremony) {
  const { transports, ...response } = passkey.response;
  try {
    const verified = await verifyRegistrationResponse({
      response: { ...passkey, response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    });
    if (verified.verified) return { ...verified.registrationInfo.credential, transports: transports ?? [] };
  } catch {
    // The library throws for everything that does not match; its texts are for developers.
  }
  throw refusal();
}

/**
 * Adds a passkey that a browser made for a challenge.
 * @throws Fault invalid_parameter naming `passkey` when it cannot be verified, is known already, or the user has too many
 */
export async function addPasskey(
  context: UserContext,
  user: PortalUser,
  form: z.infer<typeof AddPasskeyForm>,
  ceremony: Ceremony | undefined,
  visitor: Visitor,
): Promise<NewRecoveryCodes> {
  const { db, clock, send } = context;
  const { id: userId, accountId, email } = user;
  requireVerified(user);
  if (ceremony === undefined) throw refusal();
  const { id, publicKey, counter, transports } = await verifiedCredential(form, ceremony);
  if (!(await spendChallenge(context, ceremony.challenge))) throw refusal();
  const credentialId = bytesOf(id);
  const { name } = form;
  const made = await db.prisma.$transaction(async (tx) => {
    await lockUser(tx, userId);
    const detail = `You have ${PASSKEYS_MAX_COUNT} passkeys, which is the most. Remove one first.`;
    if ((await tx.passkey.count({ where: { userId } })) >= PASSKEYS_MAX_COUNT)
      throw new Fault("invalid_parameter", { parameter: "passkey", detail, max: PASSKEYS_MAX_COUNT });
    if ((await tx.passkey.count({ where: { credentialId } })) > 0) throw refusal();
    const createdAt = new Date(clock.now());
    await tx.passkey.create({ data: { userId, name, credentialId, publicKey, counter, transports, createdAt } });
    const { address } = visitor;
    await audit(tx, { actor: { id: userId, name: email }, accountId, action: "passkey.add", target: name, address });
    return afterAdding(tx, clock.now(), user);
  });
  await db.control.publish({ kind: "sessions" });
  send(secondFactorMail(email, `The passkey "${name}" was added to your account.`, occasionOf(context, visitor)));
  return made;
}

/**
 * Removes a passkey of a user.
 * @throws Fault not_found for an id that is not one of the user's
 */
export async function removePasskey(context: UserContext, user: PortalUser, id: string, visitor: Visitor): Promise<void> {
  const { db, send } = context;
  const { address } = visitor;
  const { id: userId, accountId, email } = user;
  const notFound = new Fault("not_found", { detail: "You have no passkey with this id." });
  if (!z.uuid().safeParse(id).success) throw notFound;
  const name = await db.prisma.$transaction(async (tx) => {
    await lockUser(tx, userId);
    const passkey = await tx.passkey.findFirst({ where: { id, userId } });
    if (passkey === null) throw notFound;
    await tx.passkey.delete({ where: { id } });
    await audit(tx, { actor: { id: userId, name: email }, accountId, action: "passkey.remove", target: passkey.name, address });
    await afterRemoving(tx, userId);
    return passkey.name;
  });
  send(secondFactorMail(email, `The passkey "${name}" was removed from your account.`, occasionOf(context, visitor)));
}

/**
 * The id of the user whose passkey signed the challenge; undefined for anything else. The challenge works once. The
 * authenticator has verified its user by a PIN or a biometric, so a passkey counts as both factors.
 */
export async function userOfPasskey(
  context: UserContext,
  used: UsedPasskey,
  ceremony: Ceremony | undefined,
): Promise<string | undefined> {
  const { db, clock } = context;
  const passkey = await db.prisma.passkey.findUnique({ where: { credentialId: bytesOf(used.id) } });
  if (passkey === null || ceremony === undefined) return undefined;
  const { id, userId, credentialId, publicKey, counter } = passkey;
  const { userHandle, ...signed } = used.response;
  if (userHandle !== undefined && Buffer.from(userHandle, "base64url").toString() !== userId) return undefined;
  const newCounter = await verifyAuthenticationResponse({
    response: { ...used, response: signed, clientExtensionResults: {} },
    expectedChallenge: ceremony.challenge,
    expectedOrigin: ceremony.origin,
    expectedRPID: ceremony.rpId,
    credential: { id: textOf(credentialId), publicKey, counter: Number(counter) },
    requireUserVerification: true,
  }).then(
    ({ verified, authenticationInfo }) => (verified ? authenticationInfo.newCounter : undefined),
    () => undefined,
  );
  if (newCounter === undefined || !(await spendChallenge(context, ceremony.challenge))) return undefined;
  const lastUsedAt = new Date(clock.now());
  // If the passkey has been removed in the meantime, this updates nothing.
  const { count } = await db.prisma.passkey.updateMany({ where: { id }, data: { counter: newCounter, lastUsedAt } });
  return count === 1 ? userId : undefined;
}
