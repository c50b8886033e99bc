import { changedBy } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { removeWebhook } from "#lib/webhooks/webhooks";

/** Removes a webhook of the reader's account. */
export const DELETE = portalRoute({ user: "required" }, async (call) => {
  await removeWebhook(call.running, call.params.id ?? "", changedBy(call));
  return {};
});

export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = otherMethods({ DELETE });
