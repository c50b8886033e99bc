import { UsageQuery, usageReport, usageSpan } from "#lib/access/usage/query";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The usage of the account's keys. */
export const GET = portalRoute({ input: UsageQuery, user: "required" }, ({ input, user, running }) =>
  usageReport(running.db.pool, user.accountId, usageSpan(input, running.clock)),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
