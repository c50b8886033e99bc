import { createHash } from "node:crypto";
import type { Transform } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import Negotiator from "negotiator";

/** The codings that answers are sent in, the smaller one first. */
const ENCODINGS = ["br", "gzip"] as const;

/** A content coding of HTTP other than identity. */
export type Encoding = (typeof ENCODINGS)[number];

/** A longer Accept-Encoding counts as absent: reading thousands of codings would cost more than it saves. */
const ACCEPT_MAX_CHARACTERS = 512;

/** Brotli's window for a body that comes in pieces: 2^16 bytes, twice that of gzip. */
const PIECES_LGWIN = 16;

/** A request header. */
type Header = string | null | undefined;

/** An option that the package's types lack: the order of codings with the same q-value. */
interface Ranking {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[];
}

/** What the client accepts, best first. */
function acceptedIn(acceptEncoding: Header): string[] {
  if (!acceptEncoding || acceptEncoding.length > ACCEPT_MAX_CHARACTERS) return [];
  const negotiator: Ranking = new Negotiator({ headers: { "accept-encoding": acceptEncoding } });
  return negotiator.encodings([...ENCODINGS, "identity"], { preferred: ENCODINGS });
}

/**
 * The coding to answer in, by the Accept-Encoding header (RFC 9110, 12.5.3): the one with the highest q-value, the smaller one
 * of equals. Undefined when the client prefers the plain body, names nothing we have, or sends no such header.
 */
export function encodingFor(acceptEncoding: Header): Encoding | undefined {
  const [best] = acceptedIn(acceptEncoding);
  return ENCODINGS.find((encoding) => encoding === best);
}

/** Whether a body in this coding may be sent, by the Accept-Encoding header. */
export function accepts(encoding: Encoding, acceptEncoding: Header): boolean {
  return acceptedIn(acceptEncoding).includes(encoding);
}

/** Compresses a body on a thread of the pool, at the level of its coding. */
export function encodeBody(
  encoding: Encoding,
  body: string | Uint8Array,
  levels: Readonly<Record<Encoding, number>>,
): Promise<Buffer> {
  if (encoding === "gzip") return promisify(gzip)(body, { level: levels.gzip });
  return promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: levels.br } });
}

/** Compresses a body that comes in pieces. It takes less memory than a whole body would: a slow reader holds it for long. */
export function encoderOf(encoding: Encoding, levels: Readonly<Record<Encoding, number>>): Transform {
  if (encoding === "gzip") return createGzip({ level: levels.gzip });
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = constants;
  return createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: levels.br, [BROTLI_PARAM_LGWIN]: PIECES_LGWIN } });
}

/** 162 bits of the hash: more than enough to tell bodies apart. */
const TAG_CHARACTERS = 27;

/** The strong ETag of a plain body: a hash of its bytes, in quotes. */
export function tagOf(body: string | Uint8Array): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, TAG_CHARACTERS)}"`;
}

/** The strong ETag of a body in a coding. The bytes differ from those of the plain body, so the tag must too (RFC 9110, 8.8.3.3). */
export function tagIn(etag: string, encoding: Encoding): string {
  return `${etag.slice(0, -1)}-${encoding}"`;
}

/**
 * The ETag of the copy that the client holds, by If-None-Match: it is current, and in a coding that the client accepts. Undefined
 * when the answer must have a body. A proxy may have turned a tag into a weak one, which counts too.
 * @param etag of the plain body, with its quotes
 */
export function heldTag(etag: string, ifNoneMatch: Header, acceptEncoding: Header): string | undefined {
  if (!ifNoneMatch) return undefined;
  // A client that holds the plain body and nothing else, as most do.
  if (ifNoneMatch === etag) return etag;
  const held = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const coded = ENCODINGS.filter((encoding) => held.includes(tagIn(etag, encoding)));
  // What a client accepts counts only for a coded copy, and most clients hold a plain one.
  const accepted = coded.length === 0 ? [] : acceptedIn(acceptEncoding);
  const [encoding] = coded.filter((encoding) => accepted.includes(encoding));
  if (held.includes("*")) return etag;
  if (encoding !== undefined) return tagIn(etag, encoding);
  return held.includes(etag) ? etag : undefined;
}
