import type { ErrorId } from "./errors";

/** Errors that any authenticated operation can return, whatever the scopes of the key. */
export const KEY_ERRORS = [
  "unauthorized",
  "key_not_yet_valid",
  "origin_not_allowed",
  "address_not_allowed",
  "account_suspended",
  "live_access_required",
  "method_not_allowed",
  "uri_too_long",
  "rate_limited",
  "internal_error",
  "service_unavailable",
] as const satisfies ErrorId[];

/** The same for an operation that needs a scope. */
export const GUARD_ERRORS = ["insufficient_scope", ...KEY_ERRORS] as const satisfies ErrorId[];

/** The same for an operation that takes units of the plan. */
export const COUNTED_ERRORS = [...GUARD_ERRORS, "quota_exceeded"] as const satisfies ErrorId[];

/** Errors of a list of tickers. */
export const LIST_ERRORS = [
  "invalid_parameter",
  "missing_parameter",
  "invalid_ticker",
  "too_many_tickers",
  "unknown_ticker",
] as const satisfies ErrorId[];
