import { changePassword } from "#lib/access/users/password";
import { PasswordForm } from "#lib/contract/portal";
import { knownBrowserCookie } from "#lib/portal/known-browser";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Changes the password; other browsers are signed out. */
export const POST = portalRoute({ input: PasswordForm, user: "required" }, async (call) => {
  const { input, user, running, visitor, keepCookie } = call;
  await changePassword(running.users, user, input, visitor);
  keepCookie(knownBrowserCookie(running, user.id));
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
