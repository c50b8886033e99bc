import type { PlanLimits } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import type { Prisma } from "#lib/generated/prisma/client";

/** Limits of one key; null where it has none of its own. The smaller of the key's limit and its plan's limit applies. */
export type KeyLimits = { readonly [Name in keyof PlanLimits]: number | null };

/** The name of each limit in forms and answers. */
const LIMIT_NAMES = {
  restPerMinute: "rest_per_minute",
  restBurst: "rest_burst",
  streamConnections: "stream_connections",
  subscriptionsPerConnection: "subscriptions_per_connection",
} as const satisfies Record<keyof PlanLimits, string>;
const LIMITS = Object.keys(LIMIT_NAMES) as (keyof PlanLimits)[];

/** The limits that apply: of each, the smaller one. */
export function smallerLimits(plan: PlanLimits, own: KeyLimits): PlanLimits {
  const smaller = (name: keyof PlanLimits) => Math.min(plan[name], own[name] ?? plan[name]);
  return {
    restPerMinute: smaller("restPerMinute"),
    restBurst: smaller("restBurst"),
    streamConnections: smaller("streamConnections"),
    subscriptionsPerConnection: smaller("subscriptionsPerConnection"),
  };
}

/** Limits of a key that has none of its own. */
export const NO_OWN_LIMITS: KeyLimits = {
  restPerMinute: null,
  restBurst: null,
  streamConnections: null,
  subscriptionsPerConnection: null,
};

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
  if (LIMITS.every((name) => (limits[name] ?? null) === null)) return;
  const { plan } = await tx.account.findUniqueOrThrow({ where: { id: accountId }, select: { plan: true } });
  for (const name of LIMITS) {
    const parameter = LIMIT_NAMES[name];
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
