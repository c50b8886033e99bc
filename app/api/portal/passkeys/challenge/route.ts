import { passkeyRequest } from "#lib/access/users/passkeys";
import { otherMethods } from "#lib/portal/methods";
import { challengeCookie, siteOf } from "#lib/portal/passkey-ceremony";
import { portalRoute } from "#lib/portal/route";

/** What this browser needs to use a passkey, to sign in or as a proof, with a challenge of its own. */
export const POST = portalRoute({ user: "none" }, async ({ running, request, keepCookie }) => {
  const options = await passkeyRequest(siteOf(running, request.headers));
  keepCookie(challengeCookie(running, options.challenge));
  return options;
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
