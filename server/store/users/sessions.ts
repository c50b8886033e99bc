import { z } from "zod";
import { coarseAddress } from "#lib/access/address";
import { browserName } from "#lib/browser-name";
import { PORTAL_SESSION_LIMITS_S, type PortalSessionInfo, type PortalUser } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import { newSignInMail } from "#lib/mail/security-messages";
import { SECOND_MS } from "#lib/units";
import { audit } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import type { Database } from "#server/store/database/db";
import { isKnownTo, type UserContext, type Visitor } from "./context";
import { MEMBERSHIP, ownOrganisations, roleOf } from "./memberships";
import { notify } from "./notices";

/** The use of a session is recorded at most this often. */
const TOUCH_INTERVAL_MS = 60_000;
/** Maximum number of valid sessions per user. One more ends the least recently used session. */
const SESSIONS_MAX_COUNT = 50;

type SessionStore = Pick<Database["prisma"], "portalSession" | "user">;

/** Filter of the sessions within the limits of users or of operators. The user's current role counts, not that at sign-in. */
function isWithin(nowMs: number, role: keyof typeof PORTAL_SESSION_LIMITS_S) {
  const { idle, longest } = PORTAL_SESSION_LIMITS_S[role];
  const ago = (seconds: number) => ({ gt: new Date(nowMs - seconds * SECOND_MS) });
  return { user: { operator: role === "operator" }, lastSeenAt: ago(idle), createdAt: ago(longest) };
}

/** Filter of the sessions valid at an instant: not revoked, used recently, not too old. */
const isGood = (nowMs: number) => ({
  revokedAt: null,
  expiresAt: { gt: new Date(nowMs) },
  OR: [isWithin(nowMs, "user"), isWithin(nowMs, "operator")],
});

const isId = (id: string) => z.uuid().safeParse(id).success;

/** How a user authenticated. */
interface Authentication {
  readonly method: string;
  /** When they did; just now unless given. */
  readonly provedAtMs?: number | undefined;
}

/**
 * Starts a session for a user who has authenticated; resolves with its id, which is always new. The owner
 * gets an email when this browser is not known to have signed in before.
 */
export async function startSession(
  context: UserContext,
  userId: string,
  visitor: Visitor,
  { method, provedAtMs }: Authentication,
): Promise<string> {
  const { db, clock } = context;
  const nowMs = clock.now();
  const now = new Date(nowMs);
  const { address, userAgent, known } = visitor;
  const { id, user, isFirst } = await db.prisma.$transaction(async (tx) => {
    const sessions = tx.portalSession;
    const isFirst = (await sessions.count({ where: { userId } })) === 0;
    // Users who signed up at a node of 0.2.0 during an upgrade have no membership yet.
    await tx.$executeRaw`
      INSERT INTO membership (account_id, user_id, role) SELECT u.account_id, u.id, 'owner' FROM portal_user u
       WHERE u.id = ${userId}::uuid AND NOT EXISTS (SELECT FROM membership m WHERE m.user_id = u.id)`;
    // These are never read again.
    await sessions.deleteMany({ where: { userId, NOT: isGood(nowMs) } });
    const surplus = await sessions.findMany({
      where: { userId },
      orderBy: { lastSeenAt: "desc" },
      skip: SESSIONS_MAX_COUNT - 1,
      select: { id: true },
    });
    await sessions.deleteMany({ where: { id: { in: surplus.map(({ id }) => id) } } });
    const { id, user } = await sessions.create({
      data: {
        userId,
        createdAt: now,
        lastSeenAt: now,
        provedAt: new Date(provedAtMs ?? nowMs),
        expiresAt: new Date(nowMs + PORTAL_SESSION_LIMITS_S.user.longest * SECOND_MS),
        address: coarseAddress(address),
        userAgent,
      },
      include: { user: true },
    });
    const { email, accountId } = user;
    const after = { method, browser: browserName(userAgent) ?? "unknown" };
    await audit(tx, { actor: { id: userId, name: email }, accountId, action: "access.sign_in", target: email, after, address });
    return { id, user, isFirst };
  });
  const owner = { id: userId, email: user.email, emailVerified: user.emailVerifiedAt !== null };
  if (!isFirst && !isKnownTo(known, user)) await notify(context, owner, "sign_in", visitor, newSignInMail);
  return id;
}

/** The current user of a session; undefined when the session is not valid. Records the use. */
export async function findSessionUser({ db, clock }: KeyContext, sessionId: string): Promise<PortalUser | undefined> {
  if (!isId(sessionId)) return undefined;
  const nowMs = clock.now();
  // Prisma reads the user, the memberships and the organisations one after the other. In one snapshot they match, also while the user
  // changes organisation.
  const row = await db.prisma.$transaction(
    (tx) =>
      tx.portalSession.findFirst({
        where: { id: sessionId, ...isGood(nowMs) },
        include: {
          user: { include: { memberships: { include: MEMBERSHIP }, _count: { select: { passkeys: true } } } },
        },
      }),
    { isolationLevel: "RepeatableRead" },
  );
  if (row === null) return undefined;
  const { user, lastSeenAt, provedAt } = row;
  const current = user.memberships.find(({ accountId }) => accountId === user.accountId);
  if (current === undefined) return undefined;
  const { account } = current;
  const hasPasskey = user._count.passkeys > 0;
  const secondFactor = hasPasskey || user.totpSince !== null;
  const noted = new Date(nowMs - TOUCH_INTERVAL_MS);
  if (lastSeenAt <= noted)
    await db.prisma.portalSession.updateMany({
      where: { id: sessionId, revokedAt: null, lastSeenAt: { lte: noted } },
      data: { lastSeenAt: new Date(nowMs) },
    });
  return {
    id: user.id,
    accountId: user.accountId,
    organisation: account.name,
    role: roleOf(current.role),
    organisations: ownOrganisations(user.memberships),
    waiting: account.waitingSince !== null,
    lacksFactor: account.requireSecondFactor && !secondFactor,
    email: user.email,
    emailVerified: user.emailVerifiedAt !== null,
    name: user.name,
    operator: user.operator,
    hasPassword: user.passwordHash !== null,
    secondFactor,
    hasPasskey,
    sessionId,
    provedAtMs: provedAt.getTime(),
  };
}

/** A user's signed-in browsers, the most recently used first. */
export async function listSessions({ db, clock }: KeyContext, user: PortalUser): Promise<PortalSessionInfo[]> {
  const rows = await db.prisma.portalSession.findMany({
    where: { userId: user.id, ...isGood(clock.now()) },
    orderBy: { lastSeenAt: "desc" },
    take: SESSIONS_MAX_COUNT,
  });
  return rows.map(({ id, createdAt, lastSeenAt, address, userAgent }) => ({
    id,
    current: id === user.sessionId,
    created_at: createdAt.toISOString(),
    last_seen_at: lastSeenAt.toISOString(),
    address,
    user_agent: userAgent,
  }));
}

/**
 * Ends one session of a user, and within a second the tokens created in it.
 * @throws Fault not_found for an id that is not a valid session of the user
 */
export async function revokeSession(
  { db, clock }: KeyContext,
  user: PortalUser,
  sessionId: string,
  { address }: Pick<Visitor, "address">,
): Promise<void> {
  const nowMs = clock.now();
  const where = { id: sessionId, userId: user.id, ...isGood(nowMs) };
  const notFound = new Fault("not_found", { detail: "You have no session with this id." });
  if (!isId(sessionId)) throw notFound;
  await db.prisma.$transaction(async (tx) => {
    const { count } = await tx.portalSession.updateMany({ where, data: { revokedAt: new Date(nowMs) } });
    if (count === 0) throw notFound;
    const { id, email, accountId } = user;
    const action = sessionId === user.sessionId ? "access.sign_out" : "access.revoke_session";
    await audit(tx, { actor: { id, name: email }, accountId, action, target: email, address });
  });
  await db.control.publish({ kind: "sessions", sessionId });
}

/** Ends the session of this browser; does nothing when it is no longer valid. */
export async function endSession(context: KeyContext, sessionId: string, visitor: Pick<Visitor, "address">): Promise<void> {
  const user = await findSessionUser(context, sessionId);
  if (user !== undefined) await revokeSession(context, user, sessionId, visitor);
}

/** Makes browsers strangers that signed in before, because whoever signed in there may know too much. */
export async function forgetBrowsers(store: Pick<SessionStore, "user">, nowMs: number, userId: string): Promise<void> {
  await store.user.updateMany({ where: { id: userId }, data: { browsersForgottenAt: new Date(nowMs) } });
}

/**
 * Ends every session of a user, except the one to keep, if any; may run inside a transaction. Publish `sessions` afterwards,
 * so that the tokens created in them end too.
 */
export async function revokeSessions(
  store: Pick<SessionStore, "portalSession">,
  nowMs: number,
  userId: string,
  keep?: string,
): Promise<void> {
  const where = { userId, revokedAt: null, ...(keep !== undefined && { id: { not: keep } }) };
  await store.portalSession.updateMany({ where, data: { revokedAt: new Date(nowMs) } });
}

/** The same; no browser stays known that signed in before. */
export async function endSessions(store: SessionStore, nowMs: number, userId: string, keep?: string): Promise<void> {
  await revokeSessions(store, nowMs, userId, keep);
  await forgetBrowsers(store, nowMs, userId);
}
