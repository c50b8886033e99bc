import { passkeyCreation } from "#lib/access/users/passkeys";
import { otherMethods } from "#lib/portal/methods";
import { challengeCookie, siteOf } from "#lib/portal/passkey-ceremony";
import { portalRoute } from "#lib/portal/route";

/** What this browser needs to make a passkey, with a challenge of its own. */
export const POST = portalRoute({ user: "required", proof: true }, async ({ user, running, request, keepCookie }) => {
  const options = await passkeyCreation(running.users, user, siteOf(running, request.headers));
  keepCookie(challengeCookie(running, options.challenge));
  return options;
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
