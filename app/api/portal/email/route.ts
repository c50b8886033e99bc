import { requestEmailChange } from "#lib/access/users/email";
import { EmailForm } from "#lib/contract/portal";
import { ownCookie } from "#lib/portal/cookies";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Mails a link to the new address; opening it changes the address. */
export const POST = portalRoute({ input: EmailForm, user: "required", proof: true }, async (call) => {
  const { input, user, running, visitor } = call;
  call.keepCookie(ownCookie(running.env, "link", await requestEmailChange(running.users, user, input, visitor)));
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
