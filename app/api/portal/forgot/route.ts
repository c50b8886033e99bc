import { requestReset } from "#lib/access/users/password";
import { ForgotForm } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

/** Mails a link for a new password to an address that has an account. */
export const POST = portalRoute({ input: ForgotForm, user: "none" }, async ({ input, running, visitor }) => {
  await requestReset(running.users, input.email, visitor);
  return {};
});
