import { findLinkInfo } from "#lib/access/links/links";
import { linkAddress } from "#lib/portal/link-address";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The address of a link of the reader's account, once more. It needs a proof, as creating the link did. */
export const POST = portalRoute({ user: "required", proof: true }, async (call) => {
  const { id } = await findLinkInfo(call.running, call.params.id ?? "", call.user.accountId);
  return { address: linkAddress(call, id) };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
