import { revokeSession } from "#lib/access/users/sessions";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Signs one browser out. */
export const DELETE = portalRoute({ user: "required" }, async ({ user, params, running, visitor }) => {
  await revokeSession(running.users, user, params.id ?? "", visitor);
  return {};
});

export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = otherMethods({ DELETE });
