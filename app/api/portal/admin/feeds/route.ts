import { reportFeeds } from "#lib/market/feed-report";
import { portalRoute } from "#lib/portal/route";

/** How the feeds of the answering process are. */
export const GET = portalRoute({ user: "operator" }, ({ running }) => reportFeeds(running));
