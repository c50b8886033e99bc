import { resendVerification } from "#lib/access/users/sign-up";
import { ForgotForm } from "#lib/contract/portal";
import { mailDelivery } from "#lib/portal/mail-delivery";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Sends the verification mail again, to an address that waits for it. */
export const POST = portalRoute({ input: ForgotForm, user: "none" }, async ({ input, running, visitor }) => {
  await resendVerification(running.users, input.email, visitor);
  return { delivery: mailDelivery(running.env) };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
