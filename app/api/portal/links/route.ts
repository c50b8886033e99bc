import { createLink, listLinks } from "#lib/access/links/links";
import { LinkForm } from "#lib/contract/portal-links";
import { changedBy } from "#lib/portal/changed-by";
import { linkAddress } from "#lib/portal/link-address";
import { linkOfForm } from "#lib/portal/link-input";
import { notifyOfLink } from "#lib/portal/link-notice";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The links of the reader's account, newest first, without their addresses. */
export const GET = portalRoute({ user: "required" }, async ({ user, running }) => ({
  items: await listLinks(running, user.accountId),
}));

/** Creates a link, and answers with its address. */
export const POST = portalRoute({ input: LinkForm, user: "required", proof: true }, async (call) => {
  const { input, running, user } = call;
  await running.users.attempts.take("link_add", user.accountId);
  const link = await createLink(running, linkOfForm(input), changedBy(call));
  await notifyOfLink(call, link.name, "created");
  return { link, address: linkAddress(call, link.id) };
});

export const { DELETE, OPTIONS, PATCH, PUT } = otherMethods({ GET, POST });
