import { listAccounts } from "#lib/access/users/account-admin";
import { AccountsQuery } from "#lib/contract/portal-admin";
import { otherMethods } from "#lib/portal/methods";
import { noteRead } from "#lib/portal/operator-read";
import { portalRoute } from "#lib/portal/route";

/** Accounts with the addresses of their owners. */
export const GET = portalRoute({ input: AccountsQuery, user: "operator" }, async (call) => {
  const page = await listAccounts(call.running, call.input);
  const [only, ...others] = page.items;
  const accountId = others.length === 0 ? only?.id : undefined;
  await noteRead(call, { target: "accounts", accountId, after: { accounts: page.items.map(({ name }) => name) } });
  return page;
});

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
