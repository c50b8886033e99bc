import { LRUCache } from "lru-cache";
import { heldTag, tagOf } from "#lib/content-encoding";
import { requestAddress } from "#lib/request-address";
import { ASYNCAPI_DEFAULT_HOST, asyncApiText } from "./asyncapi";
import { openApiText } from "./openapi";

/** Documents kept for each address under which the service is reached; the sender of a request chooses Host. */
const KEPT_COUNT = 8;
/** A relative URL: what the committed document says, which names no installation. */
const ANYWHERE = '"url": "/"';

type Respond = (request?: Request, publicUrl?: string) => Response;

/** A document as it is sent, with the headers of this version. */
interface Printed {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string };
}

function printed(text: string, cacheable: "public" | "private"): Printed {
  return {
    text,
    headers: {
      etag: tagOf(text),
      "cache-control": `${cacheable}, max-age=300`,
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag",
    },
  };
}

/**
 * Creates the handler of a generated document: JSON for any origin, revalidated by ETag (304 when the reader's copy is
 * current). It names the server it was fetched from. The contract cannot change while the process runs, so `print` is called
 * once, on the first request, and `place` puts the address into its text. The second argument is PUBLIC_URL.
 */
function createDocumentResponse(print: () => string, place: (text: string, address: URL) => string): Respond {
  const kept = new LRUCache<string, Printed>({ max: KEPT_COUNT });
  let unplaced: string | undefined;

  function documentFor(address: string | undefined, publicUrl: string | undefined): Printed {
    const known = kept.get(address ?? "");
    if (known !== undefined) return known;
    unplaced ??= print();
    const text = address === undefined ? unplaced : place(unplaced, new URL(address));
    // A shared cache must not hand the address that one reader chose to another.
    const made = printed(text, publicUrl === undefined ? "private" : "public");
    kept.set(address ?? "", made);
    return made;
  }

  return (request, publicUrl) => {
    const { text, headers } = documentFor(
      requestAddress((name) => request?.headers.get(name), publicUrl),
      publicUrl,
    );
    const held = heldTag(headers.etag, request?.headers.get("if-none-match"), request?.headers.get("accept-encoding"));
    if (held !== undefined) return new Response(null, { status: 304, headers: { ...headers, etag: held } });
    return new Response(text, { headers: { ...headers, "content-type": "application/json; charset=utf-8" } });
  };
}

/** Answers /openapi.json. */
export const openApiResponse = createDocumentResponse(openApiText, (text, { href }) =>
  text.replace(ANYWHERE, `"url": "${href.replace(/\/$/, "")}"`),
);

/** Answers /asyncapi.json. */
export const asyncApiResponse = createDocumentResponse(asyncApiText, (text, { host, protocol }) =>
  text
    .replaceAll(`"default": "${ASYNCAPI_DEFAULT_HOST}"`, `"default": "${host}"`)
    .replace('"protocol": "wss"', `"protocol": "${protocol === "https:" ? "wss" : "ws"}"`),
);
