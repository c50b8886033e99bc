import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Reports the feeds of the node that answers. */
export const GET = portalRoute({ user: "operator" }, ({ running }) => running.reports.feeds());

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
