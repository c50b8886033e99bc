import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "#lib/clock";
import { RESET_LINK_LIFETIME_S, VERIFY_LINK_LIFETIME_S } from "#lib/contract/portal";
import { ENTRY_LIFETIME_S } from "#lib/contract/second-factor";
import { Fault } from "#lib/fault";
import type { OneTimeToken } from "#lib/generated/prisma/client";
import type { Database } from "#server/store/database/db";

const SECRET_BYTES = 32;
const LIFETIME_S = {
  verify: VERIFY_LINK_LIFETIME_S,
  change_email: VERIFY_LINK_LIFETIME_S,
  approve_email: VERIFY_LINK_LIFETIME_S,
  cancel_email: VERIFY_LINK_LIFETIME_S,
  reset: RESET_LINK_LIFETIME_S,
  entry: ENTRY_LIFETIME_S,
} as const;

/** Purpose of the link in an email, or of the cookie that signs in a browser once. */
type TokenPurpose = keyof typeof LIFETIME_S;

/** The database or a transaction. */
type TokenStore = Pick<Database["prisma"], "oneTimeToken">;

/** What proves that the reader of a link is who asked for it, where the mailbox alone is not enough. */
interface LinkProof {
  /** The secret of the browser that asked for it. */
  readonly browserSecret?: string | undefined;
  /** Hash of the password chosen with it; opening the link makes it the user's. */
  readonly passwordHash?: string | null;
  /** The invitation that opening it accepts. */
  readonly invitationId?: string;
}

/** The data of a token. */
interface TokenGrant {
  readonly purpose: TokenPurpose;
  readonly userId: string;
  /** The address the email was sent to. */
  readonly email: string;
}

/** A valid token as stored. */
interface StoredToken extends TokenGrant {
  readonly passwordHash: string | null;
  readonly invitationId: string | null;
  /** SHA-256 of the browser's secret. */
  readonly browser: Uint8Array | null;
}

/** What is kept of a secret text. */
export const hashOf = (text: string) => new Uint8Array(createHash("sha256").update(text).digest());

/** A random text that nobody guesses: of a link, or of a browser. */
export function mintSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/**
 * Creates a token for a link; its text is only in the email. Invalidates an older token of the same user and purpose. Sign-ups
 * in different browsers wait side by side, because a stranger who signs up with an address must not void its owner's link.
 */
export async function issueToken(
  store: TokenStore,
  clock: Clock,
  { purpose, userId, email }: TokenGrant,
  { browserSecret, passwordHash = null, invitationId }: LinkProof = {},
): Promise<string> {
  const text = mintSecret();
  const nowMs = clock.now();
  const browser = browserSecret === undefined ? null : hashOf(browserSecret);
  await store.oneTimeToken.deleteMany({ where: { userId, purpose, ...(purpose === "verify" && { browser }) } });
  const expiresAt = new Date(nowMs + LIFETIME_S[purpose] * 1000);
  await store.oneTimeToken.create({
    data: {
      hash: hashOf(text),
      purpose,
      userId,
      email,
      browser,
      passwordHash,
      invitationId: invitationId ?? null,
      createdAt: new Date(nowMs),
      expiresAt,
    },
  });
  return text;
}

/** Voids every link a user was sent and has not opened, whatever it is for; may run inside a transaction. */
export async function voidTokens(store: TokenStore, userId: string): Promise<void> {
  await store.oneTimeToken.deleteMany({ where: { userId, usedAt: null } });
}

/** The password chosen in a sign-up that this browser started and that still waits to be verified; undefined without one. */
export async function pendingPassword(store: TokenStore, userId: string, browserSecret: string): Promise<string | undefined> {
  const where = { userId, purpose: "verify", usedAt: null, browser: hashOf(browserSecret) };
  return (await store.oneTimeToken.findFirst({ where }))?.passwordHash ?? undefined;
}

/** True when this secret is that of the browser that asked for the link. */
export function isFromBrowser({ browser }: StoredToken, browserSecret: string | undefined): boolean {
  return browser !== null && browserSecret !== undefined && Buffer.from(browser).equals(hashOf(browserSecret));
}

function requireToken(row: OneTimeToken | null, purposes: readonly TokenPurpose[]): StoredToken {
  const purpose = purposes.find((name) => name === row?.purpose);
  if (row !== null && purpose !== undefined) return { ...row, purpose };
  throw new Fault("invalid_parameter", {
    parameter: "token",
    detail: "This link was already used, has expired, or is incomplete.",
  });
}

/** Filter of the token with this text while it is valid. */
const isValid = (clock: Clock, text: string) => ({
  hash: hashOf(text),
  usedAt: null,
  expiresAt: { gt: new Date(clock.now()) },
});

/**
 * Reads a token without consuming it.
 * @throws Fault invalid_parameter like redeemToken
 */
export async function readToken(
  store: TokenStore,
  clock: Clock,
  text: string,
  purposes: readonly TokenPurpose[],
): Promise<StoredToken> {
  return requireToken(await store.oneTimeToken.findFirst({ where: isValid(clock, text) }), purposes);
}

/**
 * Consumes a token: of two concurrent uses only one succeeds.
 * @throws Fault invalid_parameter, the same for unknown, used and expired tokens and those with another purpose
 */
export async function redeemToken(
  store: TokenStore,
  clock: Clock,
  text: string,
  purposes: readonly TokenPurpose[],
): Promise<StoredToken> {
  const { count } = await store.oneTimeToken.updateMany({
    where: { ...isValid(clock, text), purpose: { in: [...purposes] } },
    data: { usedAt: new Date(clock.now()) },
  });
  const row = count === 1 ? await store.oneTimeToken.findUnique({ where: { hash: hashOf(text) } }) : null;
  return requireToken(row, purposes);
}
