import { eachLimitField } from "#lib/contract/limits";
import { type GuardedCall, route } from "#lib/http/route";
import type { DataReply } from "#lib/market/question";
import { type KeyInfo, key } from "./declaration";

const instantOf = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());

type Info = Pick<GuardedCall<object>, "principal" | "verdict" | "months">;

function monthOf({ principal, months }: Info): KeyInfo["month"] {
  const { monthUnits, monthHard } = principal.plan;
  if (monthUnits === null) return null;
  const { units, endMs } = months.use(principal);
  const resets_at = new Date(endMs).toISOString();
  return { units: monthUnits, hard: monthHard, used: units, remaining: Math.max(0, monthUnits - units), resets_at };
}

/** Tells a client what its own key may do, and what is left of its quota. */
function keyInfo(call: Info): DataReply {
  const { principal, verdict } = call;
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
    limits: eachLimitField((name) => plan[name]),
    key_limits: eachLimitField((name) => ownLimits[name]),
    quota: { remaining: verdict.remaining, reset_s: verdict.resetS },
    month: monthOf(call),
    history_days: plan.historyDays,
    streams: plan.streams,
  };
  return { data };
}

export const handler = route(key, keyInfo);
