import { UsageQuery, usageReport, usageSpan } from "#lib/access/usage/query";
import { portalRoute } from "#lib/portal/route";

/** What the keys of the reader's account were used for. */
export const GET = portalRoute({ input: UsageQuery, user: "required" }, ({ input, user, running }) =>
  usageReport(running.db.pool, user.accountId, usageSpan(input, running.clock)),
);
