import { PLAN_LIMIT_NAMES, PLAN_LIMITS, type PlanLimits } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import type { Prisma } from "#lib/generated/prisma/client";

/**
 * Requires that no limit of a key is above that of its account's plan, where it would have no effect. (When the plan shrinks
 * later, the plan's limit applies.)
 * @throws Fault invalid_parameter
 */
export async function requireWithinPlan(
  tx: Prisma.TransactionClient,
  accountId: string,
  limits: { readonly [Name in keyof PlanLimits]?: number | null },
): Promise<void> {
  if (PLAN_LIMIT_NAMES.every((name) => (limits[name] ?? null) === null)) return;
  const { plan } = await tx.account.findUniqueOrThrow({ where: { id: accountId }, select: { plan: true } });
  for (const name of PLAN_LIMIT_NAMES) {
    const parameter = PLAN_LIMITS[name].field;
    const max = plan[name];
    if ((limits[name] ?? 0) > max)
      throw new Fault("invalid_parameter", {
        parameter,
        detail: `\`${parameter}\` must be at most ${max}, the limit of the plan "${plan.name}".`,
        max,
      });
  }
}

/**
 * Requires that a venue lists the tickers, or did: a key for another one could do nothing, most likely because of a typing error.
 * @throws Fault invalid_parameter naming those it never listed
 */
export async function requireListed(tx: Prisma.TransactionClient, venue: string, tickers: readonly string[]): Promise<void> {
  if (tickers.length === 0) return;
  const listed = await tx.listing.findMany({ where: { venue, ticker: { in: [...tickers] } }, select: { ticker: true } });
  const known = new Set(listed.map(({ ticker }) => ticker));
  const unknown = tickers.filter((ticker) => !known.has(ticker));
  if (unknown.length === 0) return;
  throw new Fault("invalid_parameter", {
    parameter: "tickers",
    detail: `The venue ${venue} has no instruments ${unknown.join(", ")}.`,
    tickers: unknown,
  });
}
