import { audit } from "#lib/access/audit";
import { putPlan } from "#lib/access/plan-admin";
import { PlanForm } from "#lib/contract/portal";
import { operatorOf } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

export const PUT = portalRoute({ input: PlanForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const name = params.name ?? "";
  const { before, after } = await putPlan(running, name, {
    restPerMinute: input.rest_per_minute,
    restBurst: input.rest_burst,
    streamConnections: input.stream_connections,
    subscriptionsPerConnection: input.subscriptions_per_connection,
  });
  await audit(running.db.prisma, { ...operatorOf(call), accountId: null, action: "plan.change", target: name, before, after });
  return { name, ...after };
});
