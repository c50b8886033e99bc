import { requestEmailChange } from "#lib/access/users/email";
import { EmailForm } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

/** Mails a link to the new address; opening it changes the address. */
export const POST = portalRoute({ input: EmailForm, user: "required" }, async ({ input, user, running, visitor }) => {
  await requestEmailChange(running.users, user, input, visitor);
  return {};
});
