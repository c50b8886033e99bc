import type { PublicPlan } from "#lib/contract/portal-admin";
import { listPublicPlans } from "#server/store/access/plan-admin";
import type { PortalRuntime } from "./runtime";

/** Whether this installation has a page of plans. */
export const hasPlansPage = (running: Pick<PortalRuntime, "env"> | undefined): boolean => running?.env.PLANS_PAGE === "public";

/** The plans on the page of plans; undefined where there is no such page. */
export async function publicPlans(running: Pick<PortalRuntime, "env" | "db">): Promise<PublicPlan[] | undefined> {
  return hasPlansPage(running) ? listPublicPlans(running) : undefined;
}
