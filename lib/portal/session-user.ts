import { decode } from "next-auth/jwt";
import { findSessionUser } from "#lib/access/users/sessions";
import type { PortalUser } from "#lib/contract/portal";
import { readCookies, sessionCookieName } from "./cookies";
import type { PortalRuntime } from "./runtime";

/**
 * The portal session a Cookie header claims, or undefined without a token of ours. Only the database knows whether the
 * session is still valid.
 */
export async function claimedSession(cookies: string | null, { env, secrets }: PortalRuntime): Promise<string | undefined> {
  const token = readCookies(cookies)[sessionCookieName(env)];
  if (token === undefined || token === "") return undefined;
  try {
    const claims = await decode({ token, secret: secrets.nextAuth });
    return typeof claims?.sid === "string" ? claims.sid : undefined;
  } catch {
    return undefined;
  }
}

/** The user of a request with these cookies, or undefined without a sign-in. Looks up the session each time. */
export async function sessionUser(cookies: string | null, running: PortalRuntime): Promise<PortalUser | undefined> {
  const sessionId = await claimedSession(cookies, running);
  return sessionId === undefined ? undefined : findSessionUser(running.users, sessionId);
}
