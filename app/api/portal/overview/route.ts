import { overview } from "#lib/access/usage/overview";
import { portalRoute } from "#lib/portal/route";

/** The reader's account at a glance. */
export const GET = portalRoute({ user: "required" }, ({ user, running }) => overview(running, user.accountId));
