import { unlinkIdentity } from "#lib/access/users/identities";
import { portalRoute } from "#lib/portal/route";

/** Unlinks one provider. */
export const DELETE = portalRoute({ user: "required" }, async ({ user, params, running, visitor }) => {
  await unlinkIdentity(running.users, user, params.id ?? "", visitor);
  return {};
});
