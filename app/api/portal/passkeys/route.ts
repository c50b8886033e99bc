import { addPasskey } from "#lib/access/users/passkeys";
import { AddPasskeyForm } from "#lib/contract/second-factor";
import { otherMethods } from "#lib/portal/methods";
import { ceremonyOf } from "#lib/portal/passkey-ceremony";
import { portalRoute } from "#lib/portal/route";

/** Adds the passkey that the browser made; the answer contains recovery codes if the user had none. */
export const POST = portalRoute({ input: AddPasskeyForm, user: "required", proof: true }, (call) => {
  const { input, user, running, request, visitor } = call;
  return addPasskey(running.users, user, input, ceremonyOf(running, request.headers), visitor);
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
