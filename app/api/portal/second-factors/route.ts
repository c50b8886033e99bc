import { readSecondFactors } from "#lib/access/users/second-factor";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The passkeys of the reader, the authenticator app, and how many recovery codes are left. */
export const GET = portalRoute({ user: "required" }, ({ user, running }) => readSecondFactors(running, user.id));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
