import { headers } from "next/headers";
import type { PortalUser } from "#lib/contract/portal";
import { portal } from "./runtime";
import { sessionUser } from "./session-user";

/**
 * The signed-in user, for pages and server components; undefined without a sign-in. Looks up the session with every call, so
 * that revoking it takes effect at once.
 * @throws Fault service_unavailable before the service is up
 */
export async function currentUser(): Promise<PortalUser | undefined> {
  return sessionUser((await headers()).get("cookie"), portal());
}
