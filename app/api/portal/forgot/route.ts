import { requestReset } from "#lib/access/users/password";
import { ForgotForm } from "#lib/contract/portal";
import { mailDelivery } from "#lib/portal/mail-delivery";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Mails a link to set a new password, if the address has an account. */
export const POST = portalRoute({ input: ForgotForm, user: "none" }, async ({ input, running, visitor }) => {
  await requestReset(running.users, input.email, visitor);
  return { delivery: mailDelivery(running.env) };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
