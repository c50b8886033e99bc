import { pendingEmailChange, requestEmailChange, withdrawEmailChange } from "#lib/access/users/email";
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

/** The requested change of address, if there is one. */
export const GET = portalRoute({ user: "required" }, async ({ user, running }) => ({
  pending: await pendingEmailChange(running.users, user.id),
}));

/** Withdraws it. */
export const DELETE = portalRoute({ user: "required" }, async ({ user, running, visitor }) => {
  await withdrawEmailChange(running.users, user, visitor);
  return {};
});

export const { OPTIONS, PATCH, PUT } = otherMethods({ DELETE, GET, POST });
