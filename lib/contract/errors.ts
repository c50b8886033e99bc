/**
 * The error vocabulary: identifier -> number, status, title, cause, fix. One table, all else derives.
 * A number is never reused; `code = status * 100 + n`.
 */

interface ErrorEntry {
  readonly code: number;
  /** What happened, in a few words. */
  readonly title: string;
  /** When this is answered. */
  readonly cause: string;
  /** What the caller does about it. */
  readonly fix: string;
}

export const ERRORS = {
  invalid_parameter: {
    code: 40001,
    title: "A parameter cannot be read",
    cause:
      "A value has the wrong type, is malformed, stands twice, is badly percent-encoded, or is milliseconds where seconds are asked.",
    fix: "Read `detail` and `parameter`, and send the value in the form the reference shows.",
  },
  missing_parameter: {
    code: 40002,
    title: "A required parameter is missing",
    cause: "A required parameter is absent or empty, or a list holds an empty element.",
    fix: "Send the parameter named in `parameter`; remove doubled, leading or trailing commas.",
  },
  invalid_ticker: {
    code: 40003,
    title: "Not a ticker",
    cause: "A ticker has characters other than letters and digits, or is not 3 to 20 long. Separators are not accepted.",
    fix: "Use the compact form, for example EURUSD; `suggestion` names it where that instrument exists.",
  },
  unsupported_timeframe: {
    code: 40004,
    title: "Unsupported timeframe",
    cause: "The timeframe is not one of the nine (case counts), or it is not offered for that ticker.",
    fix: "Use one of the timeframes in `allowed`.",
  },
  invalid_range: {
    code: 40005,
    title: "Empty or reversed range",
    cause: "`from` is not before `to`.",
    fix: "The window is half-open, from <= time < to: make `from` smaller than `to`.",
  },
  limit_out_of_range: {
    code: 40006,
    title: "Limit out of range",
    cause: "`limit` is not between 1 and 5000. It is refused, never clamped.",
    fix: "Ask for at most `max` rows and follow `next_from`.",
  },
  too_many_tickers: {
    code: 40007,
    title: "Too many tickers",
    cause: "The list holds more than 100 different tickers.",
    fix: "Split the list; `max` says how many one request takes.",
  },
  unauthorized: {
    code: 40101,
    title: "No valid key",
    cause: "The key is missing, malformed, mistyped, unknown, expired or revoked. All of these get the same answer.",
    fix: "Send `Authorization: Bearer <api_key>` with a key that is active.",
  },
  insufficient_scope: {
    code: 40301,
    title: "The key lacks a scope",
    cause: "The key is valid but does not carry the scope this operation requires.",
    fix: "Use a key with the scope in `required`, or add it to this key.",
  },
  origin_not_allowed: {
    code: 40302,
    title: "This origin may not use the key",
    cause: "The request carries an `Origin` that is not among the key's allowed origins. A key without any is not for browsers.",
    fix: "Add the origin to the key, or call from a server.",
  },
  account_suspended: {
    code: 40303,
    title: "The account is suspended",
    cause: "An operator has suspended the account that owns the key.",
    fix: "Contact the operator of this installation.",
  },
  unknown_ticker: {
    code: 40401,
    title: "Unknown ticker",
    cause: "The ticker is well formed but not among the instruments of this account and venue.",
    fix: "Fetch the instruments list; every refused ticker is named in `tickers`.",
  },
  not_found: {
    code: 40402,
    title: "No such route",
    cause: "Nothing is served under this path.",
    fix: "Check the path against the reference.",
  },
  method_not_allowed: {
    code: 40501,
    title: "Method not allowed",
    cause: "The route exists but does not serve this method.",
    fix: "Use a method named in the `Allow` header.",
  },
  slow_consumer: {
    code: 40801,
    title: "The connection is read too slowly",
    cause: "A stream connection took none of its queued messages for 10 seconds, or has too many that cannot be merged.",
    fix: "Read faster, subscribe to less, or spread it over several connections; then connect again and resume.",
  },
  payload_too_large: {
    code: 41301,
    title: "The body is too large",
    cause: "A pushed batch is longer than is taken in one request. Lines before the limit were taken.",
    fix: "Send smaller batches; `max` says how large one may be.",
  },
  uri_too_long: {
    code: 41401,
    title: "The address is too long",
    cause: "Path and query together are longer than 8 KiB.",
    fix: "Split the request.",
  },
  upgrade_required: {
    code: 42601,
    title: "This is a WebSocket",
    cause: "The stream's address was asked for as a page.",
    fix: "Open it with a WebSocket client: wss:// in place of https://.",
  },
  rate_limited: {
    code: 42901,
    title: "Too many requests",
    cause: "The account's requests a minute or its burst are used up, or this address failed to authenticate too often.",
    fix: "Wait `Retry-After` seconds; the `RateLimit` header says how much is left.",
  },
  too_many_connections: {
    code: 42902,
    title: "Too many stream connections",
    cause: "The account has all its stream connections open.",
    fix: "Close one, or share one connection between several subscriptions.",
  },
  too_many_subscriptions: {
    code: 42903,
    title: "Too many subscriptions",
    cause: "The connection carries as many subscriptions as the plan allows.",
    fix: "Unsubscribe from some, or open another connection.",
  },
  internal_error: {
    code: 50001,
    title: "Something broke on our side",
    cause: "An unexpected failure; it was logged under the request id.",
    fix: "Try again; if it stays, report the `request_id`.",
  },
  market_data_not_ready: {
    code: 50301,
    title: "No market data yet",
    cause: "None of the tickers has a quote yet.",
    fix: "Try again after `Retry-After`; the market status says why it is quiet.",
  },
  service_unavailable: {
    code: 50302,
    title: "The service is not available now",
    cause: "This node is shutting down, or its database cannot be reached.",
    fix: "Try again after `Retry-After`.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** The stable identifier of an error: the `message` of a failed answer. */
export type ErrorId = keyof typeof ERRORS;

export const ERROR_IDS = Object.keys(ERRORS) as ErrorId[];

/** HTTP status of an error: the number without its last two digits. */
export function httpStatus(id: ErrorId): number {
  return Math.floor(ERRORS[id].code / 100);
}

/** Path of the docs page of an error, one page each. */
export function errorDocsPath(id: ErrorId): string {
  return `/docs/errors/${id.replaceAll("_", "-")}`;
}
