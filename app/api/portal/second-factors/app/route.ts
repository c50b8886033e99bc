import { confirmTotp, removeTotp, startTotp } from "#lib/access/users/totp";
import { CodeForm } from "#lib/contract/second-factor";
import { knownBrowserCookie } from "#lib/portal/known-browser";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** A new secret for an authenticator app; it counts once a code confirms it. */
export const POST = portalRoute({ user: "required", proof: true }, ({ user, running }) => startTotp(running.users, user));

/** Turns the app on by a code that it shows; the answer contains recovery codes if the user had none. */
export const PUT = portalRoute({ input: CodeForm, user: "required", proof: true }, async (call) => {
  const { input, user, running, visitor, keepCookie } = call;
  const made = await confirmTotp(running.users, user, input.code, visitor);
  keepCookie(knownBrowserCookie(running, user.id));
  return made;
});

/** Turns the app off. */
export const DELETE = portalRoute({ user: "required", proof: true }, async ({ user, running, visitor }) => {
  await removeTotp(running.users, user, visitor);
  return {};
});

export const { GET, HEAD, OPTIONS, PATCH } = otherMethods({ DELETE, POST, PUT });
