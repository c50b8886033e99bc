import { changeName } from "#lib/access/users/account";
import { ProfileForm } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

/** Changes what the user is called. */
export const PATCH = portalRoute({ input: ProfileForm, user: "required" }, async ({ input, user, running, visitor }) => {
  await changeName(running.users, user, input.name, visitor);
  return {};
});
