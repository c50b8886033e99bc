import { proveByPassword } from "#lib/access/users/proof";
import { ProofForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Proves by the password that the user of this session is its owner. */
export const POST = portalRoute({ input: ProofForm, user: "required" }, async ({ input, user, running, visitor }) => {
  await proveByPassword(running.users, user, input.current, visitor);
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
