import { allowed } from "./methods";
import type { Answer, AnswerHeaders } from "./respond";

/** Response headers that a script of another origin may read. */
const EXPOSED = [
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Range",
  "ETag",
  "Link",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Ignored-Params",
  "X-RateLimit-Cost",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
].join(", ");
/**
 * Request headers that a page may send. Apart from the key they have no effect here: tracing libraries (OpenTelemetry, Sentry) add
 * theirs to each request of a page, and one header that is not listed would stop the request.
 */
const ACCEPTED = ["authorization", "baggage", "content-type", "sentry-trace", "traceparent", "tracestate"];
const PREFLIGHT_KEPT_S = 600;

/** Lets a page of this origin read the response. Without it the browser hides even an error. */
export function admitOrigin(headers: AnswerHeaders, origin: string): void {
  headers["access-control-allow-origin"] = origin;
  headers["access-control-expose-headers"] = EXPOSED;
  // Without it the browser hides Server-Timing, and what part of the request took how long.
  headers["timing-allow-origin"] = origin;
}

/** Undoes admitOrigin, for an origin the key does not allow. */
export function hideFromOrigin(headers: AnswerHeaders): void {
  delete headers["access-control-allow-origin"];
  delete headers["access-control-expose-headers"];
  delete headers["timing-allow-origin"];
}

/**
 * Answers OPTIONS. A preflight carries no key, so every origin is allowed; the request itself is then checked against the
 * origins of its key.
 * @param further request headers that pages may send beside those that they may send everywhere, in lower case
 */
export function preflight(
  headers: AnswerHeaders,
  origin: string | null,
  methods: readonly string[],
  further: readonly string[] = [],
): Answer {
  const answer: AnswerHeaders = { allow: allowed(methods).join(", "), vary: "Origin" };
  if (headers["x-request-id"] !== undefined) answer["x-request-id"] = headers["x-request-id"];
  if (origin !== null) {
    answer["access-control-allow-origin"] = origin;
    answer["access-control-allow-methods"] = methods.filter((method) => !["HEAD", "OPTIONS"].includes(method)).join(", ");
    answer["access-control-allow-headers"] = [...ACCEPTED, ...further].join(", ");
    answer["access-control-max-age"] = String(PREFLIGHT_KEPT_S);
  }
  return { status: 204, headers: answer, body: null };
}
