import type { Access } from "#lib/access/access";
import type { Verdict } from "#lib/access/bucket";
import { hasScope, originAllowed, type Principal } from "#lib/access/principal";
import type { Operation } from "#lib/contract/operations";
import { Fault } from "#lib/fault";
import { hideFromOrigin } from "./cors";
import { type Exchange, headerOf } from "./exchange";
import type { AnswerHeaders } from "./respond";

const BEARER = /^bearer +(\S+) *$/i;

/** The text of the key, null when there is none in the form `Bearer <key>`. */
function bearerOf(authorization: string | null): string | null {
  return authorization === null ? null : (BEARER.exec(authorization)?.[1] ?? null);
}

/** @throws Fault unauthorized, or rate_limited for an address that failed too often */
export function verifyKey(access: Access, exchange: Exchange): Principal | Promise<Principal> {
  return access.verify(bearerOf(headerOf(exchange, "authorization")), exchange.address);
}

/**
 * What the key may do here, in the order in which it is told: the account, the scope, the origin.
 * @throws Fault account_suspended, insufficient_scope, origin_not_allowed
 */
export function authorize(principal: Principal, operation: Operation, { origin, headers }: Exchange): void {
  const admitted = originAllowed(principal, origin);
  if (!admitted) hideFromOrigin(headers);
  if (principal.suspended) throw new Fault("account_suspended");
  if (!hasScope(principal, operation.scope))
    throw new Fault("insufficient_scope", {
      detail: `${operation.summary} needs the scope ${operation.scope}.`,
      required: operation.scope,
    });
  if (!admitted) throw new Fault("origin_not_allowed", { detail: "This key does not allow the origin of the request." });
}

/** Writes how much is left into the headers. @throws Fault rate_limited when the request does not pass. */
export function applyVerdict(verdict: Verdict, plan: string, headers: AnswerHeaders): void {
  const { allowed, limit, remaining, resetS, retryAfterS } = verdict;
  headers["ratelimit-policy"] = `"plan";q=${limit};w=60`;
  headers.ratelimit = `"plan";r=${remaining};t=${resetS}`;
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(resetS);
  if (!allowed)
    throw new Fault("rate_limited", { detail: `The plan "${plan}" allows no more requests for now.`, retry_after: retryAfterS });
}
