import { revokeLink } from "#lib/access/links/links";
import { changedBy } from "#lib/portal/changed-by";
import { notifyOfLink } from "#lib/portal/link-notice";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Revokes a link of the reader's account for good. */
export const DELETE = portalRoute({ user: "required" }, async (call) => {
  const name = await revokeLink(call.running, call.params.id ?? "", changedBy(call));
  await notifyOfLink(call, name, "revoked");
  return {};
});

export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = otherMethods({ DELETE });
