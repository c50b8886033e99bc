import { cancelEmailChange } from "#lib/access/users/email";
import { MailLinkForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Cancels a change of email with the link that the old address got. */
export const POST = portalRoute({ input: MailLinkForm, user: "none" }, async ({ input, running, visitor }) => ({
  email: await cancelEmailChange(running.users, input.token, visitor),
}));

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
