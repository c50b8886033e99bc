import { changePassword } from "#lib/access/users/password";
import { PasswordForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Changes the password; other browsers are signed out. */
export const POST = portalRoute({ input: PasswordForm, user: "required" }, async ({ input, user, running, visitor }) => {
  await changePassword(running.users, user, input, visitor);
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
