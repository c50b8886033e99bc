import { unlinkIdentity } from "#lib/access/users/identities";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Unlinks one provider. */
export const DELETE = portalRoute({ user: "required", proof: true }, async ({ user, params, running, visitor }) => {
  await unlinkIdentity(running.users, user, params.id ?? "", visitor);
  return {};
});

export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = otherMethods({ DELETE });
