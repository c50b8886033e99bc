import { revokeSession } from "#lib/access/users/sessions";
import { portalRoute } from "#lib/portal/route";

/** Signs one browser out. */
export const DELETE = portalRoute({ user: "required" }, async ({ user, params, running, visitor }) => {
  await revokeSession(running.users, user, params.id ?? "", visitor);
  return {};
});
