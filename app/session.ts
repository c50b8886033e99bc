import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { isFault } from "#lib/fault";
import { portal } from "#server/pages/runtime";
import { sessionUser } from "#server/pages/sign-in/session-user";

/**
 * The signed-in user, looked up once per request, so that revoking the session takes effect with the next one; undefined without
 * a sign-in, or before the service is up.
 */
export const signedInUser = cache(async (): Promise<PortalUser | undefined> => {
  try {
    return await sessionUser((await headers()).get("cookie"), portal());
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
});

/** The page where a second factor is set up. */
const ACCOUNT = "/dashboard/account";

/** The signed-in user, with or without the second factor that operators need. */
export async function requireSignIn(path: string): Promise<PortalUser> {
  const user = await signedInUser();
  if (user === undefined) redirect(`/signin?next=${encodeURIComponent(path)}`);
  return user;
}

/**
 * The signed-in user; sends signed-out readers to the sign-in page, which leads back to `path`, and users without a second
 * factor who need one to the page where they set it up.
 */
export async function requireUser(path: string): Promise<PortalUser> {
  const user = await requireSignIn(path);
  const lacksFactor = user.lacksFactor || (user.operator && !user.secondFactor);
  if (lacksFactor && path !== ACCOUNT) redirect(ACCOUNT);
  return user;
}
