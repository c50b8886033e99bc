import { listIdentities } from "#lib/access/users/identities";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The providers with which the reader can sign in. */
export const GET = portalRoute({ user: "required" }, async ({ user, running }) => ({
  items: await listIdentities(running, user.id),
}));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
