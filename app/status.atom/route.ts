import { readerAddress } from "#app/reader-address";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { statusFeed } from "#lib/portal/status-feed";

/** Incidents and notes of operators, for feed readers. */
export const GET = portalRoute({ user: "none" }, async ({ running }) => {
  const feed = statusFeed(await readerAddress(), await running.uptime());
  // It contains the requested host, so shared caches must not keep it.
  return new Response(feed, {
    headers: { "content-type": "application/atom+xml; charset=utf-8", "cache-control": "private, no-cache" },
  });
});

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
