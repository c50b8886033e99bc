import { createLru } from "#lib/access/lru";
import type { PortalUser } from "#lib/contract/portal";
import type { PortalRuntime } from "#server/pages/runtime";
import { findSessionUser } from "#server/store/users/sessions";
import { readCookies, sessionCookieName } from "./cookies";

/** Tokens whose signature is known to be right. */
const KNOWN_TOKENS_MAX_COUNT = 1_000;

/** The session in a token of ours; undefined for any other text. */
async function sessionIn(token: string, secret: string): Promise<string | undefined> {
  try {
    // Loaded on the first use: the market process only needs it once somebody shows a cookie.
    const { decode } = await import("next-auth/jwt");
    const claims = await decode({ token, secret });
    return typeof claims?.sid === "string" ? claims.sid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes the check whether a Cookie header carries a session that this service has signed. It does not ask the database whether the
 * session has ended: it decides who waits where, not who may do what.
 */
export function createSessionCheck(env: Parameters<typeof sessionCookieName>[0], secret: string) {
  const known = createLru<true>(KNOWN_TOKENS_MAX_COUNT);
  return (cookies: string | undefined): boolean | Promise<boolean> => {
    if (cookies === undefined) return false;
    const token = readCookies(cookies)[sessionCookieName(env)];
    if (token === undefined || token === "") return false;
    if (known.has(token)) return true;
    return sessionIn(token, secret).then((session) => {
      if (session !== undefined) known.set(token, true);
      return session !== undefined;
    });
  };
}

/**
 * The portal session a Cookie header claims, or undefined without a token of ours. Only the database knows whether the
 * session is still valid.
 */
export async function claimedSession(cookies: string | null, { env, secrets }: PortalRuntime): Promise<string | undefined> {
  const token = readCookies(cookies)[sessionCookieName(env)];
  return token === undefined || token === "" ? undefined : sessionIn(token, secrets.nextAuth);
}

/** The user of a request with these cookies, or undefined without a sign-in. Looks up the session each time. */
export async function sessionUser(cookies: string | null, running: PortalRuntime): Promise<PortalUser | undefined> {
  const sessionId = await claimedSession(cookies, running);
  return sessionId === undefined ? undefined : findSessionUser(running.users, sessionId);
}
