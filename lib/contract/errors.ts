import {
  KLINES_MAX_LIMIT_ROWS,
  STREAM_NO_PROGRESS_TIMEOUT_S,
  TICKER_MAX_CHARACTERS,
  TICKER_MIN_CHARACTERS,
  TICKERS_PER_REQUEST_MAX_COUNT,
  URI_MAX_BYTES,
} from "./limits";

/**
 * The error vocabulary: identifier -> number, status, title, cause, fix. Everything else is derived from this table.
 * A number is never reused; `code = status * 100 + n`.
 */

interface ErrorEntry {
  readonly code: number;
  /** What happened, in a few words. */
  readonly title: string;
  /** When this error is returned. */
  readonly cause: string;
  /** What the caller does about it. */
  readonly fix: string;
}

export const ERRORS = {
  invalid_parameter: {
    code: 40001,
    title: "Invalid parameter",
    cause:
      "A value has the wrong type or format, is percent-encoded incorrectly, or is in milliseconds where seconds are expected, or a parameter appears more than once.",
    fix: "Check `parameter` and `detail`, then send the value in the format shown in the reference.",
  },
  missing_parameter: {
    code: 40002,
    title: "Missing required parameter",
    cause: "A required parameter is missing or empty, or a list contains an empty element.",
    fix: "Send the parameter named in `parameter`. In a list, remove leading, trailing and repeated commas.",
  },
  invalid_ticker: {
    code: 40003,
    title: "Invalid ticker",
    cause: `A ticker contains characters other than letters and digits, or is not ${TICKER_MIN_CHARACTERS} to ${TICKER_MAX_CHARACTERS} characters long. Separators are not allowed.`,
    fix: "Use the compact form, for example EURUSD. If that instrument exists, `suggestion` contains it.",
  },
  unsupported_timeframe: {
    code: 40004,
    title: "Unsupported timeframe",
    cause:
      "The timeframe is not one of the nine supported values (they are case-sensitive), or it is not available for this ticker.",
    fix: "Use one of the timeframes in `allowed`.",
  },
  invalid_range: {
    code: 40005,
    title: "Invalid range",
    cause: "`from` is not before `to`, or the range is longer than one response can answer.",
    fix: "Set `from` to an earlier time than `to`: the range is from `from` (included) to `to` (excluded). If it is too long, `detail` says what to ask for instead.",
  },
  limit_out_of_range: {
    code: 40006,
    title: "Limit out of range",
    cause: `\`limit\` is not between 1 and ${KLINES_MAX_LIMIT_ROWS}. It is never clamped.`,
    fix: "Request at most `max` rows, and use `next_from` to get the next page.",
  },
  too_many_tickers: {
    code: 40007,
    title: "Too many tickers",
    cause: `The list contains more than ${TICKERS_PER_REQUEST_MAX_COUNT} different tickers.`,
    fix: "Split the list over several requests of at most `max` tickers each.",
  },
  unauthorized: {
    code: 40101,
    title: "Missing or invalid API key",
    cause: "The API key is missing, malformed, unknown, expired or revoked. The response is the same in every case.",
    fix: "Send `Authorization: Bearer <api_key>` with an active key.",
  },
  key_not_yet_valid: {
    code: 40102,
    title: "Key not valid yet",
    cause: "The key was created with a time from which it is valid, and that time has not come.",
    fix: "Wait until `not_before`, use another key, or change the key.",
  },
  insufficient_scope: {
    code: 40301,
    title: "Insufficient scope",
    cause: "The key is valid but does not have the scope that this operation requires.",
    fix: "Use a key that has the scope in `required`, or add the scope to this key.",
  },
  origin_not_allowed: {
    code: 40302,
    title: "Origin not allowed",
    cause:
      "The request's `Origin` is not in the key's list of allowed origins. A key with an empty list cannot be used from browsers.",
    fix: "Add the origin to the key, or send the request from a server.",
  },
  account_suspended: {
    code: 40303,
    title: "Account suspended",
    cause: "An operator suspended the account that owns the key.",
    fix: "Contact the operator of this installation.",
  },
  address_not_allowed: {
    code: 40304,
    title: "IP address not allowed",
    cause: "The request came from an IP address that is not in the key's list of allowed IP addresses.",
    fix: "Send the request from an allowed IP address, or add yours to the key. Behind a proxy, the IP address that the service sees counts.",
  },
  live_access_required: {
    code: 40305,
    title: "Live access required",
    cause:
      "The account that owns the key has no access to the live venue. An operator grants it, to the account or to its plan, and can withdraw it. The sandbox needs no grant.",
    fix: "Ask for live access in the portal: create a key, and choose Live. Or use a sandbox key. The key works as soon as access is granted.",
  },
  proof_required: {
    code: 40306,
    title: "Confirmation required",
    cause:
      "The portal makes this change only if the user signed in, or entered the password or used a passkey again, within the last 10 minutes. The market data API never returns this error.",
    fix: "Confirm it's you on the page that asks for it, then repeat the change.",
  },
  second_factor_required: {
    code: 40307,
    title: "Second factor required",
    cause:
      "An operator, or a member of an organisation that requires it, has neither a passkey nor an authenticator app. The market data API never returns this error.",
    fix: "Add a passkey or an authenticator app under Account in the dashboard.",
  },
  role_required: {
    code: 40308,
    title: "Role required",
    cause:
      "The role of a member does not allow this change or page of the organisation in the portal. The market data API never returns this error.",
    fix: "Ask an owner of the organisation, or work in an organisation where your role allows it. `allowed` names the roles that do.",
  },
  sign_up_closed: {
    code: 40309,
    title: "Sign-up by invitation",
    cause: "This installation creates accounts only by invitation. The market data API never returns this error.",
    fix: "Ask the operator of this installation, or an owner of your organisation, for an invitation.",
  },
  not_in_plan: {
    code: 40310,
    title: "Not in your plan",
    cause:
      "The plan of the account does not include what was asked for: streams, or data from before the days of history that it has.",
    fix: "Read `detail`. For history, ask for nothing before `oldest`. Your plan's limits are in the answer of `GET /api/v1/key`; the operator of this installation changes plans.",
  },
  unknown_ticker: {
    code: 40401,
    title: "Unknown ticker",
    cause:
      "The ticker is well formed, but no instrument with this ticker is available to your account on this venue. For a conversion: none of your instruments has the currency, or no two of them lead to it.",
    fix: "List the instruments to see which tickers and currencies you can use. `tickers` names every unknown one. If the first of them is one typing mistake away from one of your instruments, or is another name of a currency, `suggestion` contains what you probably meant.",
  },
  not_found: {
    code: 40402,
    title: "Not found",
    cause: "No resource exists at this path.",
    fix: "Check the path against the reference.",
  },
  invalid_link: {
    code: 40403,
    title: "Link not valid",
    cause:
      "The URL of a link is incomplete or changed, or the link has expired or was revoked, or its key no longer works. The response is the same in every case.",
    fix: "Copy the whole URL again. If it is the same, see under Links in the dashboard why it stopped working, and create a new one.",
  },
  unknown_file: {
    code: 40404,
    title: "Unknown file",
    cause:
      "No file with this ID is available to your account. A later import, correction or undo may have replaced it, or the sandbox no longer has its month.",
    fix: "List the files again, and download the one that is there now. If only the ticker of the ID has a typing mistake, `suggestion` contains the ID you probably meant.",
  },
  method_not_allowed: {
    code: 40501,
    title: "Method not allowed",
    cause: "The path exists but does not support this HTTP method.",
    fix: "Use one of the methods in the `Allow` header.",
  },
  slow_consumer: {
    code: 40801,
    title: "Slow consumer",
    cause: `The client read none of its queued messages for ${STREAM_NO_PROGRESS_TIMEOUT_S} seconds, or too many queued messages cannot be merged.`,
    fix: "Read faster, subscribe to fewer tickers, or use more connections. Then reconnect and resume.",
  },
  conflict: {
    code: 40901,
    title: "Changed by someone else",
    cause: "Somebody else changed the same thing after it was read. The market data API never returns this error.",
    fix: "Read it again, then repeat the change if it is still right.",
  },
  payload_too_large: {
    code: 41301,
    title: "Request body too large",
    cause: "The batch is larger than one request may be. Lines before the limit were processed.",
    fix: "Send smaller batches. `max` is the largest size allowed.",
  },
  uri_too_long: {
    code: 41401,
    title: "URI too long",
    cause: `The path and query together are longer than ${URI_MAX_BYTES / 1024} KiB.`,
    fix: "Split the request into several shorter ones.",
  },
  range_not_satisfiable: {
    code: 41601,
    title: "Range not satisfiable",
    cause: "The `Range` header begins at or after the end of the file.",
    fix: "Ask for bytes before the size in the `Content-Range` header, which is also `max`.",
  },
  upgrade_required: {
    code: 42601,
    title: "WebSocket upgrade required",
    cause: "The stream endpoint received an ordinary HTTP request.",
    fix: "Connect with a WebSocket client, with wss:// instead of https://.",
  },
  rate_limited: {
    code: 42901,
    title: "Too many requests",
    cause:
      "The account or the key reached its rate limit, or this IP address failed to authenticate too often or sent too many requests without a key.",
    fix: "Wait `Retry-After` seconds, then try again. The `RateLimit` header shows your remaining quota.",
  },
  too_many_connections: {
    code: 42902,
    title: "Too many stream connections",
    cause: "The account already has as many open stream connections as its plan allows.",
    fix: "Close a connection, or use one connection for several subscriptions.",
  },
  too_many_subscriptions: {
    code: 42903,
    title: "Too many subscriptions",
    cause: "The connection already has as many subscriptions as the plan allows.",
    fix: "Unsubscribe from some tickers, or open another connection.",
  },
  quota_exceeded: {
    code: 42905,
    title: "Monthly quota used up",
    cause: "The account's plan has a hard quota of units for each UTC month, and the call costs more than is left of it.",
    fix: "Wait until `resets_at`, or ask the operator of this installation for another plan. Calls that cost nothing, pushed ticks and open streams go on.",
  },
  internal_error: {
    code: 50001,
    title: "Internal error",
    cause: "An unexpected error occurred. It is logged with the request ID.",
    fix: "Try again. If the error persists, contact the operator and include the `request_id`.",
  },
  market_data_not_ready: {
    code: 50301,
    title: "Market data not ready",
    cause: "None of the requested tickers has a quote yet.",
    fix: "Try again after `Retry-After` seconds. The market status explains why there is no quote.",
  },
  service_unavailable: {
    code: 50302,
    title: "Service unavailable",
    cause: "This node is shutting down, cannot reach its database or stored history, or has too much work waiting.",
    fix: "Try again after `Retry-After` seconds.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** The stable identifier of an error: the `message` of a failed answer. */
export type ErrorId = keyof typeof ERRORS;

export const ERROR_IDS = Object.keys(ERRORS) as ErrorId[];

const BY_CODE: ReadonlyMap<number, ErrorId> = new Map(ERROR_IDS.map((id) => [ERRORS[id].code, id]));

/** The error with a code; undefined for a code of none, such as 0. */
export function errorOfCode(code: number): ErrorId | undefined {
  return BY_CODE.get(code);
}

/** HTTP status of an error: its code without the last two digits. */
export function httpStatus(id: ErrorId): number {
  return Math.floor(ERRORS[id].code / 100);
}

/** Path of the docs page of an error. */
export function errorDocsPath(id: ErrorId): string {
  return `/docs/errors/${id.replaceAll("_", "-")}`;
}
