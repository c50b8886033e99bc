import { removePasskey } from "#lib/access/users/passkeys";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Removes a passkey. */
export const DELETE = portalRoute({ user: "required", proof: true }, async ({ user, params, running, visitor }) => {
  await removePasskey(running.users, user, params.id ?? "", visitor);
  return {};
});

export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = otherMethods({ DELETE });
