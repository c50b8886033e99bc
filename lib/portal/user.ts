import { headers } from "next/headers";
import type { PortalUser } from "#lib/contract/portal";
import { runtime } from "#lib/runtime";
import { sessionUser } from "./session-user";

/**
 * Who is signed in, for pages and server components; undefined when nobody is. The session is looked up with every call, so
 * one that was revoked is gone at once.
 * @throws Fault service_unavailable before the service is up
 */
export async function currentUser(): Promise<PortalUser | undefined> {
  return sessionUser((await headers()).get("cookie"), runtime());
}
