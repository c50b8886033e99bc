import type { AccountChange } from "#lib/access/accounts";
import { changeAccount, reportAccount } from "#lib/access/users/account-admin";
import { AccountForm } from "#lib/contract/portal-admin";
import { operatorOf } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { noteRead } from "#lib/portal/operator-read";
import { portalRoute } from "#lib/portal/route";

/** One account, with its keys and their use. */
export const GET = portalRoute({ user: "operator" }, async (call) => {
  const report = await reportAccount(call.running, call.params.id ?? "");
  const { id, name } = report.account;
  await noteRead(call, { target: "the account", accountId: id, after: { account: name } });
  return report;
});

export const PATCH = portalRoute({ input: AccountForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const { live_access, ...rest } = input;
  const change = { ...rest, ...(live_access !== undefined && { liveAccess: live_access }) } as AccountChange;
  const account = await changeAccount(running, params.id ?? "", change, operatorOf(call));
  return { account };
});

export const { DELETE, OPTIONS, POST, PUT } = otherMethods({ GET, PATCH });
