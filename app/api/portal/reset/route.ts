import { resetPassword } from "#lib/access/users/password";
import { ResetForm } from "#lib/contract/portal";
import { knownBrowserCookie } from "#lib/portal/known-browser";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Sets a new password with the link of a mail. */
export const POST = portalRoute({ input: ResetForm, user: "none" }, async ({ input, running, visitor, keepCookie }) => {
  // Whoever reads the owner's mail is no stranger: their wrong passwords do not refuse this browser.
  keepCookie(knownBrowserCookie(running, await resetPassword(running.users, input, visitor)));
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
