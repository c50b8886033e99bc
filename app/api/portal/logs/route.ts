import { LogQuery, listRequests } from "#lib/access/usage/request-log-query";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The latest requests of the reader's account. */
export const GET = portalRoute({ input: LogQuery, user: "required" }, ({ input, user, running }) =>
  listRequests(running.db.pool, user.accountId, input),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
