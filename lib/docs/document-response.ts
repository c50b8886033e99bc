import { createHash } from "node:crypto";
import { asyncApiText } from "./asyncapi";
import { openApiText } from "./openapi";

/** A document as it is sent, with the headers of this version. */
interface Printed {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string };
}

function printed(text: string): Printed {
  return {
    text,
    headers: {
      etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`,
      "cache-control": "public, max-age=300",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag",
    },
  };
}

/**
 * Creates the handler of a generated document: JSON for any origin, revalidated by ETag (304 when the reader's copy is
 * current). The contract cannot change while the process runs, so `print` is called once, on the first request.
 */
function createDocumentResponse(print: () => string): (request?: Request) => Response {
  let document: Printed | undefined;
  return (request) => {
    document ??= printed(print());
    const { text, headers } = document;
    const known = request?.headers.get("if-none-match") ?? "";
    // A proxy may have weakened the tag; for a document a weak match is good enough.
    const current = known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === headers.etag);
    if (current) return new Response(null, { status: 304, headers });
    return new Response(text, { headers: { ...headers, "content-type": "application/json; charset=utf-8" } });
  };
}

/** Answers /openapi.json. */
export const openApiResponse = createDocumentResponse(openApiText);

/** Answers /asyncapi.json. */
export const asyncApiResponse = createDocumentResponse(asyncApiText);
