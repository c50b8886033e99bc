import { REQUEST_ID_MAX_CHARACTERS } from "#lib/contract/limits";
import type { OpenApiHeader, OpenApiParameter, Reference } from "./openapi-types";

const integer = { type: "integer" };
const text = { type: "string" };

/** Every documented response header, by name. */
export const HEADERS: Record<string, OpenApiHeader> = {
  "X-Request-Id": {
    description: "Identifies this request in the logs. If you send a well-formed `X-Request-Id`, the response repeats it.",
    required: true,
    schema: text,
    example: "req_01J0Z7",
  },
  "RateLimit-Policy": {
    description: "Your quota: units (`q`) per window in seconds (`w`).",
    schema: text,
    example: '"plan";q=600;w=60',
  },
  RateLimit: {
    description: "Remaining units (`r`) and seconds until the quota is full again (`t`).",
    schema: text,
    example: '"plan";r=587;t=41',
  },
  "X-RateLimit-Limit": { description: "Units per minute.", schema: integer, example: 600 },
  "X-RateLimit-Remaining": { description: "Remaining units.", schema: integer, example: 587 },
  "X-RateLimit-Reset": { description: "Seconds until the quota is full again.", schema: integer, example: 41 },
  "X-RateLimit-Cost": { description: "Units that this request used; 0 if it was refused.", schema: integer, example: 1 },
  "X-Ignored-Params": {
    description: "Query parameters that were ignored because they are unknown.",
    schema: text,
    example: "foo",
  },
  "Accept-Ranges": { description: "`bytes`: ranges of the file can be requested.", schema: text, example: "bytes" },
  "Content-Disposition": {
    description: "A name for the file.",
    schema: text,
    example: 'attachment; filename="EURUSD-M1-2026-10.parquet"',
  },
  "Content-Range": {
    description: "The place of these bytes in the file and its size, or after `*/` its size alone.",
    schema: text,
    example: "bytes 0-65535/412083",
  },
  "Cache-Control": {
    description:
      "`private, immutable` for a range or a file that can no longer change, and for one as of an instant (`private, no-cache` in the first minute after it); `private, no-cache` for a file without its revision; otherwise `no-store`.",
    schema: text,
    example: "private, immutable",
  },
  ETag: {
    description: "Strong validator, sent when the last kline of the range is closed, with `as_of`, and with a file.",
    schema: text,
    example: '"3q2-7w"',
  },
  Link: {
    description: 'The next page, as `<url>; rel="next"`, of a CSV response that has one.',
    schema: text,
    example: '</api/v1/market/klines?ticker=EURUSD&timeframe=H1&format=csv&from=1767312000>; rel="next"',
  },
  "Retry-After": { description: "Seconds to wait before trying again.", required: true, schema: integer, example: 1 },
  "WWW-Authenticate": { description: "How to authenticate.", required: true, schema: text, example: "Bearer" },
  Allow: { description: "Supported HTTP methods.", required: true, schema: text, example: "GET, HEAD, OPTIONS" },
};

/** Headers of a response to an authenticated request. */
export const RATE_LIMIT_HEADERS = [
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-RateLimit-Cost",
];

/** Request headers that are used, besides Authorization. */
export const HEADER_PARAMETERS: Record<string, OpenApiParameter> = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description: "Your own ID for this request. If it is missing or malformed, the server generates one.",
    schema: { type: "string", maxLength: REQUEST_ID_MAX_CHARACTERS },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The ETag of an earlier response. If nothing changed, the response is 304 without a body.",
    schema: { type: "string" },
  },
  Range: {
    name: "Range",
    in: "header",
    description:
      "The bytes to answer, as `bytes=0-65535`, `bytes=65536-` or `bytes=-65536`. Only for Parquet, and only one range.",
    schema: { type: "string" },
  },
  IfRange: {
    name: "If-Range",
    in: "header",
    description:
      "The ETag of the file of which a part is there already. If it is another file now, the response is the whole file.",
    schema: { type: "string" },
  },
};

/** References to headers, as a response lists them. */
export function headerReferences(names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
