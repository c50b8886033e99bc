import { audit, type ChangedBy, COMMAND_LINE } from "#lib/access/audit";
import { type AdminPlan, PLANS_MAX_COUNT, type PlanForm, PlanName } from "#lib/contract/portal-admin";
import type { Database } from "#lib/db";
import { Fault, requireValid } from "#lib/fault";

type PlanContext = { readonly db: Pick<Database, "prisma" | "control"> };
type Row = Awaited<ReturnType<Database["prisma"]["plan"]["findMany"]>>[number];

const formOf = ({ restPerMinute, restBurst, streamConnections, subscriptionsPerConnection, liveAccess }: Row): PlanForm => ({
  rest_per_minute: restPerMinute,
  rest_burst: restBurst,
  stream_connections: streamConnections,
  subscriptions_per_connection: subscriptionsPerConnection,
  live_access: liveAccess,
});

/** All plans, the smallest first. */
export async function listPlans({ db }: PlanContext): Promise<AdminPlan[]> {
  const rows = await db.prisma.plan.findMany({
    orderBy: [{ restPerMinute: "asc" }, { name: "asc" }],
    include: { _count: { select: { accounts: true } } },
  });
  return rows.map((row) => ({ name: row.name, ...formOf(row), accounts: row._count.accounts }));
}

/**
 * Creates a plan, or changes its limits and its live access; every process applies them within a second.
 * @throws Fault invalid_parameter for an invalid name, and for a new plan past PLANS_MAX_COUNT
 */
export async function putPlan(
  { db }: PlanContext,
  name: string,
  form: PlanForm,
  by: ChangedBy = COMMAND_LINE,
): Promise<{ before: PlanForm | null; after: PlanForm }> {
  requireValid(PlanName, name, { place: () => ["name"] });
  const columns = {
    restPerMinute: form.rest_per_minute,
    restBurst: form.rest_burst,
    streamConnections: form.stream_connections,
    subscriptionsPerConnection: form.subscriptions_per_connection,
    liveAccess: form.live_access,
  };
  const change = await db.prisma.$transaction(async (tx) => {
    const known = await tx.plan.findUnique({ where: { name } });
    if (known === null && (await tx.plan.count()) >= PLANS_MAX_COUNT)
      throw new Fault("invalid_parameter", { parameter: "name", detail: `There can be at most ${PLANS_MAX_COUNT} plans.` });
    const row = await tx.plan.upsert({ where: { name }, create: { name, ...columns }, update: columns });
    const change = { before: known && formOf(known), after: formOf(row) };
    await audit(tx, { ...by, accountId: null, action: "plan.change", target: name, ...change });
    return change;
  });
  await db.control.publish({ kind: "account" });
  return change;
}
