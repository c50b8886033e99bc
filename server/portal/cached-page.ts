import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type Encoding, encodeBody, encodingFor, heldTag, tagIn, tagOf } from "#lib/content-encoding";
import { sharedPagePolicy } from "#lib/http/page-headers";
import { SECOND_MS } from "#lib/units";
import { inlineScriptHashes } from "./inline-hashes";

/** Above them, time grows faster than size shrinks. */
const LEVELS = { br: 5, gzip: 6 } as const;
/** A copy of a page takes at most this part of it; for the bound of memory. */
const WITH_COPIES = 1.5;
/** Headers of the portal's answer that are about that one answer, or set here. Others are kept, such as Link, which loads fonts ahead. */
const REPLACED = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "content-encoding",
  "date",
  "set-cookie",
  "etag",
  "vary",
  "cache-control",
]);

/** An answer of the portal that serves for everybody. */
export interface CachedPage {
  readonly status: number;
  /** When it was rendered, Unix milliseconds. */
  readonly atMs: number;
  /** Memory, with its compressed copies. */
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
  /** The body in a coding, compressed on the first call; plain without one. */
  body(encoding: Encoding | undefined): Buffer | Promise<Buffer>;
}

interface Rendered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly atMs: number;
  readonly tls: boolean;
}

/** Makes a page of an answer. Its policy allows its own inline scripts by their hashes: bytes for everybody can hold no nonce. */
export function makeCachedPage({ status, headers, body, atMs, tls }: Rendered): CachedPage {
  const kept: Record<string, string> = { vary: "Accept-Encoding, Cookie, RSC", "cache-control": "no-cache" };
  for (const [name, value] of Object.entries(headers)) if (!REPLACED.has(name)) kept[name] = String(value);
  if (headers["content-type"]?.startsWith("text/html"))
    kept["content-security-policy"] = sharedPagePolicy(inlineScriptHashes(body.toString("utf8")), tls);
  const bodies: Partial<Record<Encoding, Buffer | Promise<Buffer>>> = {};
  return {
    status,
    atMs,
    bytes: Math.ceil(body.byteLength * WITH_COPIES),
    headers: kept,
    etag: tagOf(body),
    body(encoding) {
      if (encoding === undefined) return body;
      bodies[encoding] ??= encodeBody(encoding, body, LEVELS).then((compressed) => {
        bodies[encoding] = compressed;
        return compressed;
      });
      return bodies[encoding];
    },
  };
}

/** Writes a page, or 304 when the client has it. Its age is said, because it may be an old one that stands in for a new one. */
export async function writePage(
  request: IncomingMessage,
  response: ServerResponse,
  page: CachedPage,
  nowMs: number,
): Promise<void> {
  const age = String(Math.max(0, Math.floor((nowMs - page.atMs) / SECOND_MS)));
  const { "accept-encoding": accepted, "if-none-match": known } = request.headers;
  const held = page.status === 200 ? heldTag(page.etag, known, accepted?.toString()) : undefined;
  if (held !== undefined) {
    response.writeHead(304, { etag: held, vary: page.headers.vary, "cache-control": page.headers["cache-control"], age }).end();
    return;
  }
  const encoding = encodingFor(accepted?.toString());
  const made = page.body(encoding);
  const body = made instanceof Promise ? await made : made;
  const encoded =
    encoding === undefined ? { etag: page.etag } : { etag: tagIn(page.etag, encoding), "content-encoding": encoding };
  response.writeHead(page.status, { ...page.headers, ...encoded, "content-length": body.byteLength, age });
  response.end(request.method === "HEAD" ? undefined : body);
}
