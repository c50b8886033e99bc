import { reportFeeds } from "#lib/market/feed-report";
import { portalRoute } from "#lib/portal/route";

/** Reports the feeds of the answering process. */
export const GET = portalRoute({ user: "operator" }, ({ running }) => reportFeeds(running));
