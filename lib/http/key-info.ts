import type { KeyInfo } from "#lib/contract/key";
import type { PlanLimits } from "#lib/contract/limits";
import type { DataReply } from "#lib/market/question";
import type { GuardedCall } from "./route";

const instantOf = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());

/** Limits as the contract names them. */
function limitsOf<Limit>(limits: Readonly<Record<keyof PlanLimits, Limit>>) {
  return {
    rest_per_minute: limits.restPerMinute,
    rest_burst: limits.restBurst,
    stream_connections: limits.streamConnections,
    subscriptions_per_connection: limits.subscriptionsPerConnection,
  };
}

/** Tells a client what its own key may do, and what is left of its quota. */
export function keyInfo({ principal, verdict }: Pick<GuardedCall<object>, "principal" | "verdict">): DataReply {
  const { prefix, last4, venue, scopes, origins, addresses, tickers, notBefore, validUntil, plan, ownLimits } = principal;
  const data: KeyInfo = {
    prefix,
    last4,
    venue,
    scopes: [...scopes],
    origins: origins === "any" ? ["*"] : [...origins],
    addresses: [...addresses],
    tickers: [...tickers],
    not_before: instantOf(notBefore),
    expires_at: instantOf(validUntil),
    plan: plan.name,
    limits: limitsOf(plan),
    key_limits: limitsOf(ownLimits),
    quota: { remaining: verdict.remaining, reset_s: verdict.resetS },
  };
  return { data };
}
