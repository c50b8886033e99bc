import { deleteAccount } from "#lib/access/users/account";
import { DeleteAccountForm } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

/** Deletes the user with account and keys. */
export const DELETE = portalRoute({ input: DeleteAccountForm, user: "required" }, async ({ input, user, running, visitor }) => {
  await deleteAccount(running.users, user, input, visitor);
  return {};
});
