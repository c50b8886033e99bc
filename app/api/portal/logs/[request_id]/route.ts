import { explainRequest } from "#lib/access/usage/request-log-query";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** One request, and why it was refused. */
export const GET = portalRoute({ user: "required" }, ({ user, params, running }) =>
  explainRequest(running.db.pool, user.accountId, params.request_id ?? "", running.env.PUBLIC_URL ?? ""),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
