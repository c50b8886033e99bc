import { REQUEST_ID_MAX_CHARACTERS } from "#lib/contract/limits";
import type { OpenApiHeader, OpenApiParameter, Reference } from "./openapi-types";

const integer = { type: "integer" };
const text = { type: "string" };

/** Every response header the service promises, by name. */
export const HEADERS: Record<string, OpenApiHeader> = {
  "X-Request-Id": {
    description: "Names this request in our logs; a well-formed one that was sent is kept.",
    required: true,
    schema: text,
    example: "req_01J0Z7",
  },
  "RateLimit-Policy": { description: "Units (q) a window of seconds (w).", schema: text, example: '"plan";q=600;w=60' },
  RateLimit: { description: "Units left (r) and seconds until all are back (t).", schema: text, example: '"plan";r=587;t=41' },
  "X-RateLimit-Limit": { description: "Units a minute.", schema: integer, example: 600 },
  "X-RateLimit-Remaining": { description: "Units left.", schema: integer, example: 587 },
  "X-RateLimit-Reset": { description: "Seconds until all units are back.", schema: integer, example: 41 },
  "X-Ignored-Params": { description: "Query parameters that were sent but are not known.", schema: text, example: "foo" },
  "Cache-Control": {
    description: "private, immutable for a window that cannot change any more; else no-store.",
    schema: text,
    example: "private, immutable",
  },
  ETag: { description: "Strong validator of a window whose last kline is closed.", schema: text, example: '"3q2-7w"' },
  "Retry-After": { description: "Seconds to wait before trying again.", required: true, schema: integer, example: 1 },
  "WWW-Authenticate": { description: "How to authenticate.", required: true, schema: text, example: "Bearer" },
  Allow: { description: "Methods this route serves.", required: true, schema: text, example: "GET, HEAD, OPTIONS" },
};

/** Headers of an answer to an authenticated request. */
export const RATE_LIMIT_HEADERS = [
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

/** Request headers that mean something beside Authorization. */
export const HEADER_PARAMETERS: Record<string, OpenApiParameter> = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description: "Your own name for this request; kept when well formed, else a new one is made.",
    schema: { type: "string", maxLength: REQUEST_ID_MAX_CHARACTERS },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The ETag of an earlier answer: 304 without a body when nothing changed.",
    schema: { type: "string" },
  },
};

/** References to headers, as a response lists them. */
export function headerReferences(names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
