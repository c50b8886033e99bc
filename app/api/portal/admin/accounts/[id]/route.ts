import type { AccountChange } from "#lib/access/accounts";
import { changeAccount } from "#lib/access/users/account-admin";
import { AccountForm } from "#lib/contract/portal";
import { operatorOf } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

export const PATCH = portalRoute({ input: AccountForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const account = await changeAccount(running, params.id ?? "", input as AccountChange, operatorOf(call));
  return { account };
});

export const { DELETE, GET, HEAD, OPTIONS, POST, PUT } = otherMethods({ PATCH });
