import { deleteAccount } from "#lib/access/users/account";
import { DeleteAccountForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Deletes the user with account and keys. */
export const DELETE = portalRoute(
  { input: DeleteAccountForm, user: "required", proof: true },
  async ({ input, user, running, visitor }) => {
    await deleteAccount(running.users, user, input, visitor);
    return {};
  },
);

export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = otherMethods({ DELETE });
