import { verifyEmail } from "#lib/access/users/email";
import { VerifyForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Follows the link of an email: it verifies an address, or is one of the two that change it. */
export const POST = portalRoute({ input: VerifyForm, user: "none" }, ({ input, user, running, visitor }) =>
  verifyEmail(running.users, input, user, visitor),
);

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
