import { proveByPasskey } from "#lib/access/users/proof";
import { PasskeyProofForm } from "#lib/contract/second-factor";
import { otherMethods } from "#lib/portal/methods";
import { ceremonyOf } from "#lib/portal/passkey-ceremony";
import { portalRoute } from "#lib/portal/route";

/** Proves by a passkey that the user of this session is its owner. */
export const POST = portalRoute({ input: PasskeyProofForm, user: "required" }, async (call) => {
  const { input, user, running, request } = call;
  await proveByPasskey(running.users, user, input.passkey, ceremonyOf(running, request.headers));
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
