import { redirect } from "next/navigation";
import { cache } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { isFault } from "#lib/fault";
import { currentUser } from "#lib/portal/user";

/** Who is signed in, looked up once for all parts of a page; undefined when nobody is, or nothing runs yet. */
export const signedInUser = cache(async (): Promise<PortalUser | undefined> => {
  try {
    return await currentUser();
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
});

/** Who is signed in; leads to the sign-in page, and back to `path` from there, when nobody is. */
export async function requireUser(path: string): Promise<PortalUser> {
  const user = await signedInUser();
  if (user === undefined) redirect(`/signin?next=${encodeURIComponent(path)}`);
  return user;
}
