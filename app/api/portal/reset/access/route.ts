import { accessBehindReset } from "#lib/access/users/password";
import { MailLinkForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** What opens the account of a reset link besides its password; nothing for a link that does not work. */
export const POST = portalRoute({ input: MailLinkForm, user: "none" }, ({ input, running }) =>
  accessBehindReset(running.users, input.token),
);

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
