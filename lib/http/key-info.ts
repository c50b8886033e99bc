import type { KeyInfo } from "#lib/contract/key";
import type { DataReply } from "#lib/market/question";
import type { GuardedCall } from "./route";

/** Tells a client what its own key may do, and what is left of its quota. */
export function keyInfo({ principal, verdict }: Pick<GuardedCall<object>, "principal" | "verdict">): DataReply {
  const { prefix, last4, venue, scopes, origins, addresses, validUntil, plan } = principal;
  const data: KeyInfo = {
    prefix,
    last4,
    venue,
    scopes: [...scopes],
    origins: origins === "any" ? ["*"] : [...origins],
    addresses: [...addresses],
    expires_at: validUntil === null ? null : new Date(validUntil).toISOString(),
    plan: plan.name,
    limits: {
      rest_per_minute: plan.restPerMinute,
      rest_burst: plan.restBurst,
      stream_connections: plan.streamConnections,
      subscriptions_per_connection: plan.subscriptionsPerConnection,
    },
    quota: { remaining: verdict.remaining, reset_s: verdict.resetS },
  };
  return { data };
}
