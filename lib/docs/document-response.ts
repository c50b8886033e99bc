import { LRUCache } from "lru-cache";
import { type Brand, brandWords, DEFAULT_BRAND } from "#lib/brand";
import { heldTag, tagOf } from "#lib/content-encoding";
import { requestAddress } from "#lib/request-address";
import { ASYNCAPI_DEFAULT_HOST, asyncApiText } from "./asyncapi";
import { grafanaDashboard } from "./grafana/dashboard";
import { openApiText } from "./openapi";

/** Documents kept for each address under which the service is reached; the sender of a request chooses Host. */
const KEPT_COUNT = 8;
/** A relative URL: what a document says that names no installation. */
const ANYWHERE = '"url": "/"';

/** What of the running services a document shows: what they are called, and PUBLIC_URL. */
interface Shown {
  readonly brand: Brand;
  readonly env: { readonly PUBLIC_URL?: string | undefined };
}

type Respond = (request?: Request, shown?: Shown) => Response;

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
 * current). It names the server it was fetched from. Neither contract nor brand can change while the process runs, so `print` is
 * called once, on the first request, and `place` puts the address into its text.
 */
function createDocumentResponse(print: (brand: Brand) => string, place: (text: string, address: URL) => string): Respond {
  const kept = new LRUCache<string, Printed>({ max: KEPT_COUNT });
  let unplaced: string | undefined;

  function documentFor(address: string | undefined, { brand, env: { PUBLIC_URL: publicUrl } }: Shown): Printed {
    const known = kept.get(address ?? "");
    if (known !== undefined) return known;
    unplaced ??= brandWords(brand)(print(brand));
    const text = address === undefined ? unplaced : place(unplaced, new URL(address));
    // A shared cache must not hand the address that one reader chose to another.
    const made = printed(text, publicUrl === undefined ? "private" : "public");
    kept.set(address ?? "", made);
    return made;
  }

  return (request, shown = { brand: DEFAULT_BRAND, env: {} }) => {
    const address = requestAddress((name) => request?.headers.get(name), shown.env.PUBLIC_URL);
    const { text, headers } = documentFor(address, shown);
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

/** Answers /grafana.json, which names no installation. */
export const grafanaResponse = createDocumentResponse(
  ({ name }) => JSON.stringify(grafanaDashboard(name)),
  (text) => text,
);
