import { portalRoute } from "#lib/portal/route";

/** Reports the feeds of the node that answers. */
export const GET = portalRoute({ user: "operator" }, ({ running }) => running.reports.feeds());
