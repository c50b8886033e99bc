import { parsePermissions } from "#lib/access/permissions";
import { eachLimit, eachLimitField } from "#lib/contract/limits";
import {
  type AdminPlan,
  PLANS_MAX_COUNT,
  type PlanChangeForm,
  type PlanForm,
  PlanName,
  type PublicPlan,
} from "#lib/contract/portal-admin";
import { Fault, requireValid } from "#lib/fault";
import type { Database } from "#server/store/database/db";
import { audit, type ChangedBy, COMMAND_LINE } from "./audit";

type PlanContext = { readonly db: Pick<Database, "prisma" | "control"> };
type Row = Awaited<ReturnType<Database["prisma"]["plan"]["findMany"]>>[number];

const formOf = (row: Row): PlanForm => ({
  ...eachLimitField((name) => row[name]),
  live_access: row.liveAccess,
  month_units: row.monthUnits,
  month_hard: row.monthHard,
  history_days: row.historyDays,
  streams: row.streams,
  permissions: parsePermissions(row.permissions),
  price: row.price,
  public: row.public,
});

const columnsOf = (form: PlanForm) => ({
  ...eachLimit((_, field) => form[field]),
  liveAccess: form.live_access,
  monthUnits: form.month_units,
  monthHard: form.month_hard,
  historyDays: form.history_days,
  streams: form.streams,
  permissions: form.permissions,
  price: form.price,
  public: form.public,
});

/** Of those with the same rate, the ones without a quota last. */
const SMALLEST_FIRST = [
  { restPerMinute: "asc" as const },
  { monthUnits: { sort: "asc" as const, nulls: "last" as const } },
  { name: "asc" as const },
];

/** All plans, the smallest first. */
export async function listPlans({ db }: PlanContext): Promise<AdminPlan[]> {
  const include = { _count: { select: { accounts: true } } };
  const rows = await db.prisma.plan.findMany({ orderBy: SMALLEST_FIRST, include });
  return rows.map((row) => ({ name: row.name, ...formOf(row), revision: row.revision, accounts: row._count.accounts }));
}

/** The plans that everybody may see, the smallest first. */
export async function listPublicPlans({ db }: { readonly db: Pick<Database, "prisma"> }): Promise<PublicPlan[]> {
  const rows = await db.prisma.plan.findMany({ where: { public: true }, orderBy: SMALLEST_FIRST });
  return rows.map((row) => ({ name: row.name, ...formOf(row) }));
}

/**
 * Creates a plan, or changes it; every process applies it within a second.
 * @throws Fault invalid_parameter for an invalid name, and for a new plan past PLANS_MAX_COUNT; conflict where the plan has another
 * revision than the one that was changed
 */
export async function putPlan(
  { db }: PlanContext,
  name: string,
  { revision, ...form }: PlanChangeForm,
  by: ChangedBy = COMMAND_LINE,
): Promise<{ before: PlanForm | null; after: PlanForm; revision: number }> {
  requireValid(PlanName, name, { place: () => ["name"] });
  const columns = columnsOf(form);
  const change = await db.prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM plan WHERE name = ${name} FOR UPDATE`;
    const known = await tx.plan.findUnique({ where: { name } });
    if (known === null && (await tx.plan.count()) >= PLANS_MAX_COUNT)
      throw new Fault("invalid_parameter", { parameter: "name", detail: `There can be at most ${PLANS_MAX_COUNT} plans.` });
    if ((known?.revision ?? null) !== revision)
      throw new Fault("conflict", {
        detail: `Plan ${name} was changed, added or removed after you read it. Open it again to see it as it is now.`,
      });
    const row =
      known === null
        ? await tx.plan.create({ data: { name, ...columns } })
        : await tx.plan.update({ where: { name }, data: { ...columns, revision: { increment: 1 } } });
    const change = { before: known && formOf(known), after: formOf(row) };
    await audit(tx, { ...by, accountId: null, action: "plan.change", target: name, ...change });
    return { ...change, revision: row.revision };
  });
  await db.control.publish({ kind: "account" });
  return change;
}
