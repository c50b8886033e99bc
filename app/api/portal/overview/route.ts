import { overview } from "#lib/access/usage/overview";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The reader's account at a glance. */
export const GET = portalRoute({ user: "required" }, ({ user, running }) => overview(running, user.accountId));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
