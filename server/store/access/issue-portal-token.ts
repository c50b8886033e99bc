import { randomUUID } from "node:crypto";
import type { Access } from "#lib/access/access";
import { type Principal, requireAccount } from "#lib/access/principal";
import type { PortalUser } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import type { Database } from "#server/store/database/db";
import { unverified } from "./key-owner";

/** A token, and when it ends. */
interface IssuedToken {
  readonly token: string;
  readonly expires_at: string;
}

const issued = ({ token, expiresAtMs }: ReturnType<Access["mintPortalToken"]>): IssuedToken => ({
  token,
  expires_at: new Date(expiresAtMs).toISOString(),
});

interface TokenContext {
  readonly access: Pick<Access, "mintPortalToken" | "refresh">;
  readonly db: Pick<Database, "prisma">;
}

type TokenUser = Pick<PortalUser, "accountId" | "sessionId" | "emailVerified">;

/**
 * The principal of a key of the user's account.
 * @throws Fault as the functions below say
 */
async function requireOwnKey(
  { access, db }: TokenContext,
  { accountId, emailVerified }: TokenUser,
  keyId: string,
): Promise<Principal> {
  if (!emailVerified) throw unverified({ accountId });
  const own = await db.prisma.apiKey.count({ where: { id: keyId, accountId } });
  const principal = own > 0 ? await access.refresh({ keyId }) : undefined;
  if (principal === undefined) throw new Fault("not_found", { detail: "No active key of yours has this id." });
  requireAccount(principal);
  return principal;
}

/**
 * Issues a token that can be used instead of a key of the user's account, from this origin, in this session.
 * @throws Fault not_found for a key of another account, or one that is no longer valid; invalid_parameter for a user who has
 * not verified the address; account_suspended, live_access_required
 */
export async function issuePortalToken(
  context: TokenContext,
  user: TokenUser,
  keyId: string,
  origin: string,
): Promise<IssuedToken> {
  await requireOwnKey(context, user, keyId);
  return issued(context.access.mintPortalToken({ key: keyId, session: user.sessionId, origin }));
}

/**
 * Issues a token with which pages show what a live key of the user's account may read, and which uses nothing of that key.
 * @throws Fault like issuePortalToken; not_found also for a key of the sandbox
 */
export async function issueLivePageToken(
  context: TokenContext,
  user: TokenUser,
  keyId: string,
  origin: string,
): Promise<IssuedToken> {
  const { venue, accountId } = await requireOwnKey(context, user, keyId);
  if (venue !== "live") throw new Fault("not_found", { detail: "No active live key of yours has this id." });
  return issued(context.access.mintPortalToken({ shows: keyId, account: accountId, session: user.sessionId, origin }));
}

/** Issues a token with which pages of the sandbox call for a reader, who has no key, from this origin. */
export const issuePageToken = ({ access }: Pick<TokenContext, "access">, origin: string): IssuedToken =>
  issued(access.mintPortalToken({ reader: randomUUID(), origin }));
