import { decode } from "next-auth/jwt";
import { findSessionUser } from "#lib/access/users/sessions";
import type { PortalUser } from "#lib/contract/portal";
import type { Runtime } from "#lib/runtime";
import { readCookies, sessionCookieName } from "./cookies";

/**
 * The portal session a Cookie header claims: undefined without one, and for a token that is not ours. Whether the session is
 * still good is the database's to say.
 */
export async function claimedSession(cookies: string | null, { env, secrets }: Runtime): Promise<string | undefined> {
  const token = readCookies(cookies)[sessionCookieName(env)];
  if (token === undefined || token === "") return undefined;
  try {
    const claims = await decode({ token, secret: secrets.nextAuth });
    return typeof claims?.sid === "string" ? claims.sid : undefined;
  } catch {
    return undefined;
  }
}

/** Who sent a request with these cookies; undefined for who is not signed in. The session is looked up each time. */
export async function sessionUser(cookies: string | null, running: Runtime): Promise<PortalUser | undefined> {
  const sessionId = await claimedSession(cookies, running);
  return sessionId === undefined ? undefined : findSessionUser(running.users, sessionId);
}
