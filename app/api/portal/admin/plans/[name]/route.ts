import { audit } from "#lib/access/audit";
import { putPlan } from "#lib/access/limits/plan-admin";
import { PlanForm } from "#lib/contract/portal-admin";
import { operatorOf } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

/** Creates a plan, or changes its limits. */
export const PUT = portalRoute({ input: PlanForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const name = params.name ?? "";
  const { before, after } = await putPlan(running, name, input);
  await audit(running.db.prisma, { ...operatorOf(call), accountId: null, action: "plan.change", target: name, before, after });
  return { plan: { name, ...after } };
});
