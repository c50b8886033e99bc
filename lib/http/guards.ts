import type { Access } from "#lib/access/access";
import type { Verdict } from "#lib/access/limits/bucket";
import { originAllowed, type Principal, requireAccess } from "#lib/access/principal";
import type { Months } from "#lib/access/usage/months";
import { BURST_REFUSED } from "#lib/contract/limits";
import type { Operation } from "#lib/contract/operation";
import { Fault } from "#lib/fault";
import { hideFromOrigin } from "./cors";
import { type Exchange, headerOf } from "./exchange";
import type { AnswerHeaders } from "./respond";

const BEARER = /^bearer +(\S+) *$/i;

/** The key text, or null when the header does not have the form `Bearer <key>`. */
export function bearerOf(authorization: string | null): string | null {
  return authorization === null ? null : (BEARER.exec(authorization)?.[1] ?? null);
}

/** @throws Fault unauthorized, or rate_limited for an address with too many failures */
export function verifyKey(access: Access, exchange: Exchange): Principal | Promise<Principal> {
  return access.verify(bearerOf(headerOf(exchange, "authorization")), exchange.address);
}

/**
 * Checks the scope, the origin and the address of the request. A page of an origin the key does not allow cannot read the response.
 * @throws Fault account_suspended, live_access_required, insufficient_scope, origin_not_allowed, address_not_allowed
 */
export function authorize(principal: Principal, operation: Operation, exchange: Exchange): void {
  if (!originAllowed(principal, exchange.origin)) hideFromOrigin(exchange.headers);
  requireAccess(principal, operation.scope, operation.summary, exchange);
}

/** Explains which limit refused a request, the burst or the minute, of the key or of the plan, and what was left of it. */
function refusalDetail({ refusedBy, limit, remaining, retryAfterS, of }: Verdict, cost: number, plan: string): string {
  const whose = { key: "this key", ticks: "pushed ticks", link: "this link", plan: `the plan "${plan}"` }[of ?? "plan"];
  const unit = of === "ticks" ? "ticks" : of === "link" ? "calls" : "units";
  const why =
    refusedBy === "burst"
      ? `${BURST_REFUSED} ${whose} is reached; ${remaining} of ${limit} ${unit} are left this minute.`
      : `The limit of ${whose} is reached: ${limit} ${unit} per minute, ${remaining} left.`;
  return `${why}${cost > 1 ? ` This request costs ${cost}.` : ""} Try again in ${retryAfterS} s.`;
}

/**
 * Sets the rate-limit headers. What the request used is added up where it is counted more than once.
 * @param cost what the request uses when it passes, in units, or in ticks where those are counted
 * @throws Fault rate_limited when the request does not pass
 */
export function applyVerdict(verdict: Verdict, cost: number, plan: string, headers: AnswerHeaders): void {
  const { allowed, limit, remaining, resetS, retryAfterS, of = "plan" } = verdict;
  headers["ratelimit-policy"] = `"${of}";q=${limit};w=60`;
  headers.ratelimit = `"${of}";r=${remaining};t=${resetS}`;
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(resetS);
  headers["x-ratelimit-cost"] = String(Number(headers["x-ratelimit-cost"] ?? 0) + (allowed ? cost : 0));
  if (!allowed) throw new Fault("rate_limited", { detail: refusalDetail(verdict, cost, plan), retry_after: retryAfterS });
}

/** What counts units: of the minute, and of the month. */
interface Counters {
  readonly access: Access;
  readonly months: Pick<Months, "require">;
}

/**
 * Takes units of the minute and of the month. What the month refuses takes nothing of the minute.
 * @throws Fault quota_exceeded, rate_limited
 */
export async function takeUnits(cost: number, principal: Principal, exchange: Exchange, counters: Counters): Promise<void> {
  const { access, months } = counters;
  const { address, headers } = exchange;
  const plan = principal.plan.name;
  try {
    months.require(principal, exchange.units + cost);
  } catch (error) {
    applyVerdict(await access.take(principal, 0, address), 0, plan, headers);
    throw error;
  }
  applyVerdict(await access.take(principal, cost, address), cost, plan, headers);
  exchange.units += cost;
}
