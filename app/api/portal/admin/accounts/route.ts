import { listAccounts } from "#lib/access/users/account-admin";
import { AccountsQuery } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

export const GET = portalRoute({ input: AccountsQuery, user: "operator" }, ({ input, running }) => listAccounts(running, input));
