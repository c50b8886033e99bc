import { redirect } from "next/navigation";
import { cache } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { isFault } from "#lib/fault";
import { currentUser } from "#lib/portal/user";

/** The signed-in user, looked up once per request; undefined without a sign-in, or before the service is up. */
export const signedInUser = cache(async (): Promise<PortalUser | undefined> => {
  try {
    return await currentUser();
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
 * The signed-in user; sends signed-out readers to the sign-in page, which leads back to `path`, and operators without a second
 * factor to the page where they set one up.
 */
export async function requireUser(path: string): Promise<PortalUser> {
  const user = await requireSignIn(path);
  if (user.operator && !user.secondFactor && path !== ACCOUNT) redirect(ACCOUNT);
  return user;
}
