import { healthOf } from "#lib/portal/health";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** How the installation is, as the node that answers sees it. */
export const GET = portalRoute({ user: "operator" }, ({ running }) => healthOf(running));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
