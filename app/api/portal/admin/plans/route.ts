import { listPlans } from "#lib/access/limits/plan-admin";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** All plans, the smallest first. */
export const GET = portalRoute({ user: "operator" }, async ({ running }) => ({ items: await listPlans(running) }));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
