import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { type Encoding, encodeBody, encoderOf, encodingFor, tagIn } from "#lib/content-encoding";
import { type Answer, byteLengthOf, isInParts, type WholeAnswer } from "#lib/http/respond";

/** Smaller bodies fit into one packet as they are. */
export const COMPRESSED_MIN_BYTES = 1_024;
/** Larger than any answer for clients; beyond it, one body would keep a thread for long. */
const COMPRESSED_MAX_BYTES = 4_194_304;
/** Bodies compressed at once, each on a thread of the pool, which has four and hashes passwords too. Any other is sent as it is. */
const RUNNING_MAX_COUNT = 2;
/** Bodies in parts that are compressed as they are sent. Each holds a few hundred kilobytes while its reader takes it, however slowly. */
const STREAMED_MAX_COUNT = 16;
/** Memory of compressed bodies that have an ETag. */
const KEPT_MAX_BYTES = 16_777_216;
/**
 * Measured with 5,000 klines of 648 kB: Brotli 2 takes 2.2 ms and leaves 11.5 %, Brotli 5 takes 7.8 ms for 10.3 %. Gzip 4 takes
 * 4.0 ms and leaves 12.3 %, gzip 6 takes 8.2 ms for 11.3 %.
 */
const LEVELS = { br: 2, gzip: 4 } as const;

/** Accept-Encoding headers whose meaning is kept, and the length up to which one is. */
const ACCEPT_KEPT_COUNT = 100;
const ACCEPT_KEPT_MAX_CHARACTERS = 100;

const COMPRESSED_TYPES = ["application/json", "text/plain", "text/csv"];

type Body = NonNullable<WholeAnswer["body"]>;
type Bytes = Uint8Array<ArrayBuffer>;
type Copies = Partial<Record<Encoding, Bytes | Promise<Bytes>>>;

/** Compresses answers to one request each, whose headers it changes. */
export type Compression = (request: Pick<IncomingMessage, "method" | "headers">, answer: Answer) => Answer | Promise<Answer>;

/** Says in Vary that the answer depends on Accept-Encoding: caches keep the codings apart, even where this one has none. */
function vary({ headers }: Answer): void {
  headers.vary = headers.vary === undefined ? "Accept-Encoding" : `${headers.vary}, Accept-Encoding`;
}

/** True for a body of a size that gains by compression; one without a known size is long. */
function isWorthwhile(answer: Answer): boolean {
  const { "content-type": type = "", "content-encoding": encoding } = answer.headers;
  if (encoding !== undefined || !COMPRESSED_TYPES.some((one) => type.startsWith(one))) return false;
  const size = sizeOf(answer);
  return size === undefined || (size >= COMPRESSED_MIN_BYTES && size <= COMPRESSED_MAX_BYTES);
}

/** The bytes of a body. To HEAD, those it would have. Undefined for one in parts. */
function sizeOf(answer: Answer): number | undefined {
  if (answer.status === 304) return 0;
  if (isInParts(answer)) return undefined;
  if (answer.body !== null) return byteLengthOf(answer);
  const { "content-length": length } = answer.headers;
  return length === undefined ? undefined : Number(length);
}

/** The answer in a coding. */
function inCoding<Content>(encoding: Encoding, { status, headers }: Answer, body: Content) {
  headers["content-encoding"] = encoding;
  if (headers.etag !== undefined) headers.etag = tagIn(headers.etag, encoding);
  delete headers["content-length"];
  return { status, headers, body };
}

/**
 * Makes the compression of answers in the coding that each client accepts, off the event loop. A body with an ETag is compressed
 * once and kept; its tag is a hash of it, so that equal bodies share their copies. Other bytes are compressed once for as long as
 * they are sent. While `runningMaxCount` bodies are being compressed, others are sent as they are: nobody can make the service spend
 * more than that. The same holds for bodies in parts, of which `streamedMaxCount` are compressed while they are sent. HEAD gets the
 * headers and costs nothing.
 */
export function createCompression({
  runningMaxCount = RUNNING_MAX_COUNT,
  streamedMaxCount = STREAMED_MAX_COUNT,
  keptMaxBytes = KEPT_MAX_BYTES,
} = {}): Compression {
  const kept = new LRUCache<string, Bytes>({
    maxSize: keptMaxBytes,
    sizeCalculation: ({ byteLength }) => byteLength,
  });
  const codings = new LRUCache<string, Encoding | "">({ max: ACCEPT_KEPT_COUNT });
  const making = new Map<string, Promise<Bytes>>();
  /** Of bodies without a tag: a window of klines that ends now is sent to many until it changes. They go with their body. */
  const copies = new WeakMap<Uint8Array, Copies>();
  let running = 0;
  let streamed = 0;

  /** The compressed body; undefined when there is no room to make it. */
  function compressed(body: Body, encoding: Encoding, etag: string | undefined): Bytes | Promise<Bytes> | undefined {
    const key = etag && tagIn(etag, encoding);
    const own = key === undefined && typeof body !== "string" ? copiesOf(body) : undefined;
    const known = key === undefined ? own?.[encoding] : (kept.get(key) ?? making.get(key));
    if (known !== undefined || running >= runningMaxCount) return known;
    running += 1;
    // Copied, because a small result lies in a buffer of 16 KiB.
    const made = encodeBody(encoding, body, LEVELS)
      .then((bytes) => new Uint8Array(bytes))
      .finally(() => {
        running -= 1;
        if (key !== undefined) making.delete(key);
        if (own !== undefined) delete own[encoding];
      });
    if (own !== undefined) own[encoding] = made;
    if (key !== undefined) making.set(key, made);
    return made.then((bytes) => {
      if (own !== undefined) own[encoding] = bytes;
      if (key !== undefined) kept.set(key, bytes);
      return bytes;
    });
  }

  /** An encoder for one body in parts; undefined when there are too many. It is used at once, and ends with its answer. */
  function encoderFor(encoding: Encoding) {
    if (streamed >= streamedMaxCount) return undefined;
    streamed += 1;
    return encoderOf(encoding, LEVELS).once("close", () => {
      streamed -= 1;
    });
  }

  function copiesOf(body: Uint8Array): Copies {
    const known = copies.get(body) ?? {};
    copies.set(body, known);
    return known;
  }

  /** Clients send the same few headers over and over. */
  function codingFor(accepted: string | undefined): Encoding | undefined {
    if (accepted === undefined) return undefined;
    const known = codings.get(accepted);
    if (known !== undefined) return known || undefined;
    const encoding = encodingFor(accepted);
    if (accepted.length <= ACCEPT_KEPT_MAX_CHARACTERS) codings.set(accepted, encoding ?? "");
    return encoding;
  }

  return ({ method, headers }, answer) => {
    vary(answer);
    const encoding = codingFor(headers["accept-encoding"]?.toString());
    if (encoding === undefined || !isWorthwhile(answer)) return answer;
    if (answer.body === null || method === "HEAD") return inCoding(encoding, answer, null);
    if (isInParts(answer)) {
      // The parts of a compressed file are expanded for who accepts no gzip.
      if (answer.body.encoder !== undefined) return answer;
      const encoder = encoderFor(encoding);
      return encoder === undefined ? answer : inCoding(encoding, answer, { ...answer.body, encoder });
    }
    const body = compressed(answer.body, encoding, answer.headers.etag);
    if (body === undefined) return answer;
    if (!(body instanceof Promise)) return inCoding(encoding, answer, body);
    return body.then(
      (bytes) => inCoding(encoding, answer, bytes),
      () => answer,
    );
  };
}
