import { keyUse } from "#lib/access/usage/key-use";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** How much each key of the reader's account was used, by day. */
export const GET = portalRoute({ user: "required" }, async ({ user, running }) => ({
  items: await keyUse(running.db.pool, user.accountId, running.clock.now()),
}));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
