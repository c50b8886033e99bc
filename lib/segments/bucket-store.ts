import { AwsClient } from "aws4fetch";
import type { Clock } from "#lib/clock";
import type { HistoryBucket } from "#lib/env-history";
import { type Backoff, backoffMs } from "#lib/repeat";
import { withTimeout } from "#lib/with-timeout";
import { forEachSegment, objectName, segmentOf } from "./object-name";
import { SegmentMissing, type SegmentStore, SegmentStoreAway } from "./segment-store";

/** The longest that one request may take, with its body. */
const REQUEST_MAX_MS = 10_000;
/** How often a request is tried that a server did not answer, or asked to repeat. */
const ATTEMPTS_COUNT = 3;
const RETRY: Backoff = { firstMs: 200, longestMs: 2_000 };
/** Names that one page of a list has; S3 allows no more. */
const PAGE_COUNT = 1_000;

interface Options {
  readonly place: HistoryBucket;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };
  readonly clock: Clock;
  readonly requestMaxMs?: number;
}

interface Asked {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** The name of an object after the prefix; empty for the bucket itself. */
  readonly name: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

const isRepeatable = (status: number) => status >= 500 || status === 429 || status === 408;
const textOf = ({ bytes }: Answered) => new TextDecoder().decode(bytes);
/** The value of an XML element without others in it. Names of objects and instants have no character that XML writes otherwise. */
const elementOf = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
const errorCode = (answer: Answered) => elementOf(textOf(answer), "Code")?.replace(/\W/g, "");

/** What an error says of a connection: "fetch failed" alone helps nobody. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}

/** Segments as objects of an S3-compatible bucket. They stay when a transaction is rolled back. */
export function createBucketStore({ place, credentials, clock, requestMaxMs = REQUEST_MAX_MS }: Options): SegmentStore {
  const { address, bucket, prefix, region } = place;
  const signer = new AwsClient({ ...credentials, region, service: "s3" });
  const away = (reason: string, cause?: unknown) =>
    new SegmentStoreAway(`The bucket of stored klines ${bucket} at ${new URL(address).host} cannot be used: ${reason}.`, {
      cause,
    });
  const missing = (id: string) => new SegmentMissing(`segment ${id} is not in the bucket ${bucket}`);

  async function send({ method, name, query, headers, body }: Asked, signal: AbortSignal): Promise<Answered> {
    const url = new URL(name === "" ? `${address}/` : `${address}/${prefix}${name}`);
    for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value);
    const init: RequestInit = { method, signal, redirect: "manual", ...(headers && { headers }) };
    const signed = await signer.sign(url, body === undefined ? init : { ...init, body: body as Uint8Array<ArrayBuffer> });
    const response = await fetch(signed);
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
  }

  /** @throws SegmentStoreAway unless the answer has one of these statuses, or says that there is no such object */
  async function ask(asked: Asked, ...statuses: number[]): Promise<Answered> {
    for (let attempt = 0; ; attempt += 1) {
      const over = new AbortController();
      let answer: Answered | undefined;
      let failure: unknown;
      try {
        answer = await withTimeout(send(asked, over.signal), requestMaxMs, clock);
      } catch (error) {
        failure = error;
      } finally {
        over.abort();
      }
      const isLast = attempt + 1 === ATTEMPTS_COUNT;
      if (answer === undefined) {
        if (isLast) throw away(reasonOf(failure), failure);
      } else {
        const code = errorCode(answer);
        // An answer to HEAD has no body that would say what is missing.
        if (statuses.includes(answer.status) || (answer.status === 404 && code !== "NoSuchBucket")) return answer;
        if (isLast || !isRepeatable(answer.status)) throw away(`it answered ${answer.status}${code ? ` ${code}` : ""}`);
      }
      await clock.wait(backoffMs(RETRY, attempt));
    }
  }

  /** The object of a segment. @throws SegmentMissing */
  async function read(id: string, asked: Omit<Asked, "name">, ...statuses: number[]): Promise<Answered> {
    const answer = await ask({ ...asked, name: objectName(id) }, ...statuses);
    if (answer.status === 404) throw missing(id);
    return answer;
  }

  async function page(
    after: string,
  ): Promise<{ objects: { id: string; key: string; writtenMs: number }[]; last: string | null }> {
    const query = { "list-type": "2", "max-keys": String(PAGE_COUNT), prefix, "start-after": after };
    const answer = await ask({ method: "GET", name: "", query }, 200);
    if (answer.status !== 200) throw away(`it answered ${answer.status}`);
    const xml = textOf(answer);
    const entries = xml.split("<Contents>").slice(1);
    const keys = entries.map((entry) => elementOf(entry, "Key") ?? "");
    const objects = entries.flatMap((entry, index) => {
      const key = keys[index] as string;
      const id = segmentOf(key);
      return id !== undefined && key === prefix + objectName(id)
        ? { id, key, writtenMs: Date.parse(elementOf(entry, "LastModified") ?? "") }
        : [];
    });
    return { objects, last: elementOf(xml, "IsTruncated") === "true" ? (keys.at(-1) ?? null) : null };
  }

  return {
    async put(_client, id, bytes) {
      // The name is the hash that the signature is to cover, so that the server refuses bytes that changed on their way.
      const headers = { "x-amz-content-sha256": id, "content-type": "application/vnd.apache.parquet" };
      const { status } = await ask({ method: "PUT", name: objectName(id), headers, body: bytes }, 200);
      if (status !== 200) throw away(`it answered ${status}`);
    },
    async get(_client, ids) {
      const contents = new Map<string, Uint8Array>();
      await forEachSegment(ids, async (id) => {
        contents.set(id, (await read(id, { method: "GET" }, 200)).bytes);
      });
      return contents;
    },
    async sizes(_client, ids) {
      const sizes = new Map<string, number>();
      await forEachSegment(ids, async (id) => {
        const { headers } = await read(id, { method: "HEAD" }, 200);
        sizes.set(id, Number(headers.get("content-length")));
      });
      return sizes;
    },
    async range(_client, id, from, to) {
      if (to <= from) {
        await read(id, { method: "HEAD" }, 200);
        return new Uint8Array(0);
      }
      const { status, bytes } = await read(id, { method: "GET", headers: { range: `bytes=${from}-${to - 1}` } }, 200, 206, 416);
      // From the end on there is nothing. A server may send more than it was asked for, even the whole.
      if (status === 416) return new Uint8Array(0);
      return (status === 200 ? bytes.subarray(from) : bytes).subarray(0, to - from);
    },
    async list(_client, { beforeMs, after, limit }) {
      const listed: string[] = [];
      for (let last: string | null = after === "" ? prefix : prefix + objectName(after); last !== null; ) {
        const { objects, last: next } = await page(last);
        for (const { id, writtenMs } of objects) if (writtenMs < beforeMs && listed.push(id) === limit) return listed;
        last = next;
      }
      return listed;
    },
    async drop(_client, ids, beforeMs) {
      await forEachSegment(ids, async (id) => {
        const name = objectName(id);
        const { status, headers } = await ask({ method: "HEAD", name }, 200);
        const writtenMs = Date.parse(headers.get("last-modified") ?? "");
        if (status !== 404 && writtenMs < beforeMs) await ask({ method: "DELETE", name }, 200, 204);
      });
    },
  };
}
