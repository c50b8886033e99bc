import { z } from "zod";
import type { PlanLimits } from "#lib/contract/limits";
import { publish } from "#lib/control";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";

/** More than any installation serves, and still exact in every sum. */
const LIMIT_MAX = 1_000_000_000;

const limit = z.int("Must be a whole number.").min(1, "At least 1.").max(LIMIT_MAX, `At most ${LIMIT_MAX}.`);
const Limits = z.strictObject({
  restPerMinute: limit,
  restBurst: limit,
  streamConnections: limit,
  subscriptionsPerConnection: limit,
});
const PlanName = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, "Lower-case letters, digits and dashes, starting with a letter.");

/** A plan as an operator sees it. */
export interface StoredPlan extends PlanLimits {
  readonly name: string;
  /** Accounts on it. */
  readonly accounts: number;
}

type PlanContext = { readonly db: Pick<Database, "prisma" | "pool"> };

const limitsOf = ({ restPerMinute, restBurst, streamConnections, subscriptionsPerConnection }: PlanLimits): PlanLimits => ({
  restPerMinute,
  restBurst,
  streamConnections,
  subscriptionsPerConnection,
});

/** All plans, the smallest first. */
export async function listPlans({ db }: PlanContext): Promise<StoredPlan[]> {
  const rows = await db.prisma.plan.findMany({
    orderBy: [{ restPerMinute: "asc" }, { name: "asc" }],
    include: { _count: { select: { accounts: true } } },
  });
  return rows.map((row) => ({ name: row.name, ...limitsOf(row), accounts: row._count.accounts }));
}

/**
 * Makes a plan or changes the limits of one; every process counts by them within a second.
 * @throws Fault invalid_parameter naming the limit that cannot be
 */
export async function putPlan(
  { db }: PlanContext,
  name: string,
  input: PlanLimits,
): Promise<{ before: PlanLimits | null; after: PlanLimits }> {
  const parsed = z.strictObject({ name: PlanName, limits: Limits }).safeParse({ name, limits: input });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Fault("invalid_parameter", { parameter: String(issue?.path.at(-1)), detail: issue?.message ?? "Cannot be read." });
  }
  const { limits } = parsed.data;
  const known = await db.prisma.plan.findUnique({ where: { name } });
  await db.prisma.plan.upsert({ where: { name }, create: { name, ...limits }, update: limits });
  await publish(db.pool, { kind: "account" });
  return { before: known && limitsOf(known), after: limits };
}
