import { signUp } from "#lib/access/users/sign-up";
import { SignUpForm } from "#lib/contract/portal";
import { ownCookie } from "#lib/portal/cookies";
import { mailDelivery } from "#lib/portal/mail-delivery";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Signs up; the answer does not reveal whether the address was taken. */
export const POST = portalRoute({ input: SignUpForm, user: "none" }, async ({ input, running, visitor, keepCookie }) => {
  keepCookie(ownCookie(running.env, "link", await signUp(running.users, input, visitor)));
  return { delivery: mailDelivery(running.env) };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
