import { changeName } from "#lib/access/users/account";
import { ProfileForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Changes the user's name. */
export const PATCH = portalRoute({ input: ProfileForm, user: "required" }, async ({ input, user, running, visitor }) => {
  await changeName(running.users, user, input.name, visitor);
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, POST, PUT } = otherMethods({ PATCH });
