import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "#lib/clock";
import { RESET_LINK_LIFETIME_S, VERIFY_LINK_LIFETIME_S } from "#lib/contract/portal";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";

const TOKEN_BYTES = 32;
const LIFETIME_S = {
  verify: VERIFY_LINK_LIFETIME_S,
  change_email: VERIFY_LINK_LIFETIME_S,
  cancel_email: VERIFY_LINK_LIFETIME_S,
  reset: RESET_LINK_LIFETIME_S,
} as const;

/** Purpose of the link in an email. */
type TokenPurpose = keyof typeof LIFETIME_S;

/** The database or a transaction. */
type TokenStore = Pick<Database["prisma"], "oneTimeToken">;

/** The data of a token. */
interface RedeemedToken {
  readonly purpose: TokenPurpose;
  readonly userId: string;
  /** The address the email was sent to. */
  readonly email: string;
}

const hashOf = (text: string) => new Uint8Array(createHash("sha256").update(text).digest());

/** Creates a token for a link; its text is only in the email. Invalidates an older token of the same user and purpose. */
export async function issueToken(store: TokenStore, clock: Clock, { purpose, userId, email }: RedeemedToken): Promise<string> {
  const text = randomBytes(TOKEN_BYTES).toString("base64url");
  const nowMs = clock.now();
  await store.oneTimeToken.deleteMany({ where: { userId, purpose } });
  const expiresAt = new Date(nowMs + LIFETIME_S[purpose] * 1000);
  await store.oneTimeToken.create({
    data: { hash: hashOf(text), purpose, userId, email, createdAt: new Date(nowMs), expiresAt },
  });
  return text;
}

/** Voids every link a user was sent and has not opened, whatever it is for; may run inside a transaction. */
export async function voidTokens(store: TokenStore, userId: string): Promise<void> {
  await store.oneTimeToken.deleteMany({ where: { userId, usedAt: null } });
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
): Promise<RedeemedToken> {
  const hash = hashOf(text);
  const now = new Date(clock.now());
  const { count } = await store.oneTimeToken.updateMany({
    where: { hash, usedAt: null, expiresAt: { gt: now }, purpose: { in: [...purposes] } },
    data: { usedAt: now },
  });
  const row = count === 1 ? await store.oneTimeToken.findUnique({ where: { hash } }) : null;
  const purpose = purposes.find((name) => name === row?.purpose);
  if (row === null || purpose === undefined)
    throw new Fault("invalid_parameter", {
      parameter: "token",
      detail: "This link was already used, has expired, or is incomplete.",
    });
  return { purpose, userId: row.userId, email: row.email };
}
