import { createHash } from "node:crypto";

/** A document as it is sent, and what names this version of it. */
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
 * Makes what answers requests for a generated document: JSON, open to every origin, revalidated by ETag (304 when the
 * reader's copy is current). The contract cannot change while the process runs: `print` is called once, when the first
 * reader asks.
 */
export function createDocumentResponse(print: () => string): (request?: Request) => Response {
  let document: Printed | undefined;
  return (request) => {
    document ??= printed(print());
    const { text, headers } = document;
    const known = request?.headers.get("if-none-match") ?? "";
    // A proxy may have weakened the tag on its way; for a document that is as good.
    const current = known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === headers.etag);
    if (current) return new Response(null, { status: 304, headers });
    return new Response(text, { headers: { ...headers, "content-type": "application/json; charset=utf-8" } });
  };
}
