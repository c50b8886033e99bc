import { createHash } from "node:crypto";
import { openApiText } from "./openapi";

/** The contract cannot change while the process runs: printed once, when the first reader asks. */
const TEXT = openApiText();
const ETAG = `"${createHash("sha256").update(TEXT).digest("base64url").slice(0, 22)}"`;

const HEADERS = {
  etag: ETAG,
  "cache-control": "public, max-age=300",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag",
};

/** Answers /openapi.json: open to every origin, revalidated by ETag (304 when the reader's copy is current). */
export function openApiResponse(request?: Request): Response {
  const known = request?.headers.get("if-none-match") ?? "";
  // A proxy may have weakened the tag on its way; for a document that is as good.
  const current = known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === ETAG);
  if (current) return new Response(null, { status: 304, headers: HEADERS });
  return new Response(TEXT, { headers: { ...HEADERS, "content-type": "application/json; charset=utf-8" } });
}
