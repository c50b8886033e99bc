import { rateTyped } from "#lib/access/users/password-strength";
import { StrengthForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Rates a new password while it is typed. It is compared with the address and the name of the signed-in user, or those given. */
export const POST = portalRoute({ input: StrengthForm, user: "none" }, ({ input, user, running, visitor }) =>
  rateTyped(running.users, input.password, user ?? input, visitor),
);

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
