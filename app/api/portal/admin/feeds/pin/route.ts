import { FeedPinForm } from "#lib/contract/portal-feeds";
import { putPin } from "#lib/market/feed-pin";
import { pinAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Prefers one of several providers of the live venue, or none. */
export const PUT = portalRoute({ input: FeedPinForm, user: "operator" }, async (call) => {
  await putPin(pinAdmin(call), call.running.env.LIVE_FEED, call.input.provider);
  return { provider: call.input.provider };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, POST } = otherMethods({ PUT });
