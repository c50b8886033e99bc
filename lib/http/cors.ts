import type { Answer, AnswerHeaders } from "./respond";

/** Answer headers that a page's script may read. */
const EXPOSED = [
  "ETag",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Ignored-Params",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
].join(", ");
const PREFLIGHT_KEPT_S = 600;

/** Lets the page of this origin read the answer. Without it a browser hides even the error. */
export function admitOrigin(headers: AnswerHeaders, origin: string): void {
  headers["access-control-allow-origin"] = origin;
  headers["access-control-expose-headers"] = EXPOSED;
}

/** Takes that back: the origin is not one of the key's. */
export function hideFromOrigin(headers: AnswerHeaders): void {
  delete headers["access-control-allow-origin"];
  delete headers["access-control-expose-headers"];
}

/**
 * Answers OPTIONS. A preflight comes without a key, so any origin is admitted to ask; the request itself is then judged by
 * its key's origins. Only GET (POST for what is posted) with `authorization` is allowed.
 */
export function preflight(headers: AnswerHeaders, origin: string | null, methods: readonly string[]): Answer {
  const answer: AnswerHeaders = { allow: [...methods, "OPTIONS"].join(", "), vary: "Origin" };
  if (headers["x-request-id"] !== undefined) answer["x-request-id"] = headers["x-request-id"];
  if (origin !== null) {
    answer["access-control-allow-origin"] = origin;
    answer["access-control-allow-methods"] = methods.filter((method) => method !== "HEAD").join(", ");
    answer["access-control-allow-headers"] = "authorization";
    answer["access-control-max-age"] = String(PREFLIGHT_KEPT_S);
  }
  return { status: 204, headers: answer, body: null };
}
