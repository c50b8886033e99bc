import { changedBy } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { resumeWebhook } from "#lib/webhooks/webhooks";

/** Takes a paused webhook of the reader's account into use again. */
export const POST = portalRoute({ user: "required" }, async (call) => {
  await resumeWebhook(call.running, call.params.id ?? "", changedBy(call));
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
