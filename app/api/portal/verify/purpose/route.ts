import { purposeOfLink } from "#lib/access/users/email";
import { MailLinkForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** What the link of an email would do, without following it; null for one that does not work. */
export const POST = portalRoute({ input: MailLinkForm, user: "none" }, async ({ input, running }) => ({
  purpose: (await purposeOfLink(running.users, input.token)) ?? null,
}));

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
