import { renewRecoveryCodes } from "#lib/access/users/second-factor";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Makes new recovery codes; only this answer contains them. */
export const POST = portalRoute({ user: "required", proof: true }, ({ user, running, visitor }) =>
  renewRecoveryCodes(running.users, user, visitor),
);

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
