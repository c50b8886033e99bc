import { type ClientClock, fullJitter } from "./clock";
import { asSpotwireError, errorOfAnswer, fieldsOf, parseJson, SpotwireError } from "./errors";
import { createCallQueue, type RateLimit, readRateLimit } from "./rate-limit";

const RETRY_BASE_MS = 250;
const RETRY_CAP_MS = 5_000;
/** Statuses of a gateway whose server is unavailable; the request may be repeated. */
const GATEWAY_STATUSES = [429, 502, 503, 504];

/** Errors with a Retry-After for their own call only. */
const OWN_AFFAIRS: readonly string[] = ["market_data_not_ready", "too_many_connections", "quota_exceeded"];

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, even while it waits; it rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of one attempt in seconds, including the response; by default the client's. */
  readonly timeoutS?: number | undefined;
}

/** Address, credentials and limits of the requests. */
interface RestOptions {
  readonly baseUrl: string;
  readonly key: string | undefined;
  /** Without a key it adds the credentials. */
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly clock: ClientClock;
  readonly random: () => number;
  readonly timeoutS: number;
  readonly maxWaitS: number;
  readonly maxAttempts: number;
  readonly maxQueuedCalls: number;
}

/** Where a request goes. */
interface Endpoint {
  readonly method: "GET" | "POST";
  readonly path: string;
}

/** The parameters of a request; undefined ones are left out. */
type Query = Readonly<Record<string, string | number | undefined>>;

/** Sends requests and returns the `data` of their envelopes. */
interface Rest {
  readonly rateLimit: RateLimit | undefined;
  /**
   * @param attempts the most that are made; by default the client's
   * @throws SpotwireError for every failure
   */
  call<Data>(endpoint: Endpoint, query: Query, options?: CallOptions, attempts?: number): Promise<Data>;
  /** The bytes of a file. @throws SpotwireError for every failure */
  download(endpoint: Endpoint, query: Query, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>;
}

/** Reads a response. @throws SpotwireError for a failure, which names the place */
type Read<Result> = (response: Response, place: string) => Promise<Result>;

const failureOf = (response: Response, text: string, place: string) =>
  errorOfAnswer(response.status, (name) => response.headers.get(name), text, place);

async function readData<Data>(response: Response, place: string): Promise<Data> {
  const text = await response.text();
  const { code, data } = fieldsOf(parseJson(text));
  if (response.ok && code === 0 && typeof data === "object" && data !== null) return data as Data;
  throw failureOf(response, text, place);
}

async function readBytes(response: Response, place: string): Promise<Uint8Array<ArrayBuffer>> {
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  throw failureOf(response, await response.text(), place);
}

/** Makes the sender of requests. All its calls share one queue, so that a Retry-After holds all of them. */
export function createRest(options: RestOptions): Rest {
  const { baseUrl, key, fetch = globalThis.fetch, clock, random, maxAttempts } = options;
  const queue = createCallQueue(clock, options.maxQueuedCalls);
  let rateLimit: RateLimit | undefined;

  /** Makes one attempt with a timeout. */
  async function attempt<Result>(
    place: string,
    exchange: (signal: AbortSignal) => Promise<Result>,
    { signal, timeoutS = options.timeoutS }: CallOptions,
  ): Promise<Result> {
    const over = new AbortController();
    const ended = new AbortController();
    const onAbort = () => over.abort();
    signal?.addEventListener("abort", onAbort, { once: true });
    void clock.wait(timeoutS * 1000, ended.signal).then(onAbort);
    try {
      return await exchange(over.signal);
    } catch (thrown) {
      if (signal?.aborted) throw new SpotwireError("aborted", `${place} was aborted.`, { cause: signal.reason });
      if (over.signal.aborted) throw new SpotwireError("timeout", `${place} got no response within ${timeoutS} s.`);
      throw asSpotwireError(thrown, `${place} got no response`);
    } finally {
      ended.abort();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Milliseconds to wait before a retry of the same request; undefined for no retry. */
  function pauseAfter({ id, status, retryAfterS }: SpotwireError, method: string, tries: number): number | undefined {
    // Only the end of another stream helps, or of the month, and the caller may have to see to it.
    if (id === "too_many_connections" || id === "quota_exceeded") return undefined;
    if ((status === 429 || status === 503) && retryAfterS !== undefined) return retryAfterS * 1000;
    const unanswered = id === "network_error" || id === "timeout" || GATEWAY_STATUSES.includes(status ?? 0);
    // A repeated POST could be executed twice.
    return unanswered && method === "GET" ? fullJitter(random, tries - 1, RETRY_BASE_MS, RETRY_CAP_MS) : undefined;
  }

  /** Other calls also wait for a Retry-After, unless it is about a ticker without a quote, the number of streams, or the month, in which cheaper calls may pass. */
  const concernsAll = ({ id, status, retryAfterS }: SpotwireError) =>
    retryAfterS !== undefined && (status === 429 || status === 503) && !OWN_AFFAIRS.includes(id);

  async function ask<Result>(
    { method, path }: Endpoint,
    query: Query,
    read: Read<Result>,
    callOptions: CallOptions = {},
    attempts = maxAttempts,
  ): Promise<Result> {
    if (key === undefined && options.fetch === undefined)
      throw new SpotwireError("invalid_key", "This client has no key, so only streams work.");
    const { signal } = callOptions;
    const deadlineMs = clock.now() + options.maxWaitS * 1000;
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
    const search = new URLSearchParams(given).toString();
    const address = `${baseUrl}${path}${search === "" ? "" : `?${search}`}`;

    async function exchange(over: AbortSignal): Promise<Result> {
      // A redirect would send the key to another address.
      const response = await fetch(address, { method, headers, redirect: "error", credentials: "omit", signal: over });
      rateLimit = readRateLimit((name) => response.headers.get(name)) ?? rateLimit;
      return read(response, `${method} ${path}`);
    }

    for (let tries = 1; ; tries += 1) {
      const leave = await queue.enter({ deadlineMs, signal, first: tries > 1 });
      let pauseMs: number | undefined;
      try {
        return await attempt(`${method} ${baseUrl}${path}`, exchange, callOptions);
      } catch (thrown) {
        const failure = asSpotwireError(thrown, "The request failed");
        const held = concernsAll(failure);
        if (held) queue.hold(failure);
        pauseMs = pauseAfter(failure, method, tries);
        if (pauseMs === undefined || tries >= attempts || clock.now() + pauseMs > deadlineMs) throw failure;
        // The queue makes all calls wait.
        if (held) pauseMs = 0;
      } finally {
        leave();
      }
      if (pauseMs > 0) await clock.wait(pauseMs, signal);
    }
  }

  return {
    get rateLimit() {
      return rateLimit;
    },
    call: <Data>(endpoint: Endpoint, query: Query, callOptions?: CallOptions, attempts?: number) =>
      ask<Data>(endpoint, query, readData, callOptions, attempts),
    download: (endpoint, query, callOptions) => ask(endpoint, query, readBytes, callOptions),
  };
}
