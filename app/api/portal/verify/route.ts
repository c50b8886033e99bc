import { verifyEmail } from "#lib/access/users/email";
import { VerifyForm } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

/** Opens the link of a mail that verifies an address, the first one or a new one. */
export const POST = portalRoute({ input: VerifyForm, user: "none" }, async ({ input, running, visitor }) => ({
  email: await verifyEmail(running.users, input.token, visitor),
}));
