import { LogQuery, requestHistogram } from "#lib/access/usage/request-log-query";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** How many requests match the filters of the log, over the last day. */
export const GET = portalRoute({ input: LogQuery, user: "required" }, async ({ input, user, running }) => ({
  items: await requestHistogram(running.db.pool, user.accountId, input, running.clock.now()),
}));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
