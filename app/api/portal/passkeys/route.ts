import { addPasskey } from "#lib/access/users/passkeys";
import { AddPasskeyForm } from "#lib/contract/second-factor";
import { knownBrowserCookie } from "#lib/portal/known-browser";
import { otherMethods } from "#lib/portal/methods";
import { ceremonyOf } from "#lib/portal/passkey-ceremony";
import { portalRoute } from "#lib/portal/route";

/** Adds the passkey that the browser made; the answer contains recovery codes if the user had none. */
export const POST = portalRoute({ input: AddPasskeyForm, user: "required", proof: true }, async (call) => {
  const { input, user, running, request, visitor, keepCookie } = call;
  const made = await addPasskey(running.users, user, input, ceremonyOf(running, request.headers), visitor);
  keepCookie(knownBrowserCookie(running, user.id));
  return made;
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
