import { verifyEmail } from "#lib/access/users/email";
import { VerifyForm } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

/** Verifies an address, the first one or a new one, with the link of a mail. */
export const POST = portalRoute({ input: VerifyForm, user: "none" }, async ({ input, user, running, visitor }) => ({
  email: await verifyEmail(running.users, input, user, visitor),
}));
