import { AwsClient } from "aws4fetch";
import type { Clock } from "#lib/clock";
import type { Bucket as BucketPlace } from "#lib/env-history";
import { type Backoff, backoffMs } from "#lib/repeat";
import { SegmentStoreAway } from "#lib/storage-errors";
import { withTimeout } from "#lib/with-timeout";

/** How often a request is tried that a server did not answer, or asked to repeat. */
const ATTEMPTS_COUNT = 3;
const RETRY: Backoff = { firstMs: 200, longestMs: 2_000 };
/** Names that one page of a list has; S3 allows no more. */
const PAGE_COUNT = 1_000;

export interface BucketOptions {
  readonly place: BucketPlace;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };
  readonly clock: Clock;
  /** The longest that one request may take, with its body. */
  readonly requestMaxMs: number;
  /** What lies in the bucket, for errors. */
  readonly what: string;
  /** Ends what is being asked. */
  readonly signal?: AbortSignal | undefined;
}

interface Asked {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** The name of an object after the prefix; empty for the bucket itself. */
  readonly name: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array<ArrayBuffer> | Blob;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** An object of a bucket. `name` is what follows the prefix. */
interface Listed {
  readonly name: string;
  readonly writtenMs: number;
}

/** An S3-compatible bucket. */
interface Bucket {
  /** @throws SegmentStoreAway unless the answer has one of these statuses, or says that there is no such object; the signal's reason */
  ask(asked: Asked, ...statuses: number[]): Promise<Answered>;
  /** A page of the objects after a name, in the order of their names; `last` is null on the last page. @throws SegmentStoreAway */
  page(after: string): Promise<{ readonly objects: readonly Listed[]; readonly last: string | null }>;
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

/** Opens a bucket, without a request. */
export function openBucket({ place, credentials, clock, requestMaxMs, what, signal }: BucketOptions): Bucket {
  const { address, bucket, prefix, region } = place;
  const signer = new AwsClient({ ...credentials, region, service: "s3" });
  const away = (reason: string, cause?: unknown) =>
    new SegmentStoreAway(`The bucket of ${what} ${bucket} at ${new URL(address).host} cannot be used: ${reason}.`, { cause });

  async function send({ method, name, query, headers, body }: Asked, ending: AbortSignal): Promise<Answered> {
    const url = new URL(name === "" ? `${address}/` : `${address}/${prefix}${name}`);
    for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value);
    const init: RequestInit = { method, signal: ending, redirect: "manual", ...(headers && { headers }) };
    const signed = await signer.sign(url, body === undefined ? init : { ...init, body });
    const response = await fetch(signed);
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
  }

  async function attempts(asked: Asked, statuses: readonly number[]): Promise<Answered> {
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      const over = new AbortController();
      let answer: Answered | undefined;
      let failure: unknown;
      try {
        answer = await withTimeout(send(asked, over.signal), requestMaxMs, clock, signal);
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
      await clock.wait(backoffMs(RETRY, attempt), signal);
    }
  }

  const ask: Bucket["ask"] = async (asked, ...statuses) => {
    const answer = await attempts(asked, statuses);
    // Only an object that is read can be missing.
    if (answer.status === 404 && (asked.method === "PUT" || asked.name === "")) throw away("it answered 404");
    return answer;
  };

  return {
    ask,
    async page(after) {
      const query = { "list-type": "2", "max-keys": String(PAGE_COUNT), prefix, "start-after": prefix + after };
      const answer = await ask({ method: "GET", name: "", query }, 200);
      const xml = textOf(answer);
      const objects = xml
        .split("<Contents>")
        .slice(1)
        .map((entry) => ({
          name: (elementOf(entry, "Key") ?? "").slice(prefix.length),
          writtenMs: Date.parse(elementOf(entry, "LastModified") ?? ""),
        }));
      return { objects, last: elementOf(xml, "IsTruncated") === "true" ? (objects.at(-1)?.name ?? null) : null };
    },
  };
}
