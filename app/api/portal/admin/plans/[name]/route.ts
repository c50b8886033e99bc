import { putPlan } from "#lib/access/limits/plan-admin";
import { PlanForm } from "#lib/contract/portal-admin";
import { operatorOf } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Creates a plan, or changes its limits. */
export const PUT = portalRoute({ input: PlanForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const name = params.name ?? "";
  const { after } = await putPlan(running, name, input, operatorOf(call));
  return { plan: { name, ...after } };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, POST } = otherMethods({ PUT });
