import { issuePortalToken } from "#lib/access/issue-portal-token";
import { TokenForm } from "#lib/contract/portal";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { ownOrigin } from "#lib/portal/visitor";

/** A short-lived token with which the playground uses one of the reader's keys. */
export const POST = portalRoute({ input: TokenForm, user: "required" }, ({ input, user, running, request }) =>
  issuePortalToken(running, user, input.key_id, ownOrigin(running.env, request.headers)),
);

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
