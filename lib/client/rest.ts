import { type ClientClock, fullJitter } from "./clock";
import { asSpotwireError, errorOfAnswer, fieldsOf, parseJson, SpotwireError } from "./errors";
import { createGate, type RateLimit, readRateLimit } from "./rate-limit";

const RETRY_BASE_MS = 250;
const RETRY_CAP_MS = 5_000;
/** Answers of a gateway whose server is away; the request itself may be repeated. */
const GATEWAY_STATUSES = [429, 502, 503, 504];

/** What one call may be told besides its parameters. */
export interface CallOptions {
  /** Ends the call, also while it waits; it rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Seconds for one try, answer included; 10 unless the client was made with another. */
  readonly timeoutS?: number | undefined;
}

/** Where requests go and how patient they are. */
interface RestOptions {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: ClientClock;
  readonly random: () => number;
  readonly timeoutS: number;
  readonly maxWaitS: number;
  readonly maxAttempts: number;
  readonly maxQueuedCalls: number;
}

/** One request: the query without the parameters that are undefined. */
interface RestRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
}

/** Sends requests and gives the `data` of their envelopes. */
interface Rest {
  readonly rateLimit: RateLimit | undefined;
  /** @throws SpotwireError for every failure */
  call<Data>(request: RestRequest, options?: CallOptions): Promise<Data>;
}

/** Makes the sender of requests. All its calls share one door, so that a Retry-After holds all of them. */
export function createRest(options: RestOptions): Rest {
  const { baseUrl, key, fetch, clock, random, maxAttempts } = options;
  const gate = createGate(clock, options.maxQueuedCalls);
  let rateLimit: RateLimit | undefined;

  function addressOf({ path, query }: RestRequest): string {
    const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
    const search = new URLSearchParams(given).toString();
    return `${baseUrl}${path}${search === "" ? "" : `?${search}`}`;
  }

  async function exchange<Data>(request: RestRequest, signal: AbortSignal): Promise<Data> {
    const { method, path } = request;
    // A redirect would carry the key to an address that was never given.
    const init = { method, headers: { authorization: `Bearer ${key}` }, redirect: "error", credentials: "omit", signal } as const;
    const response = await fetch(addressOf(request), init);
    const text = await response.text();
    const header = (name: string) => response.headers.get(name);
    rateLimit = readRateLimit(header) ?? rateLimit;
    const { code, data } = fieldsOf(parseJson(text));
    if (response.ok && code === 0 && typeof data === "object" && data !== null) return data as Data;
    throw errorOfAnswer(response.status, header, text, `${method} ${path}`);
  }

  /** One try within its time. */
  async function attempt<Data>(request: RestRequest, { signal, timeoutS = options.timeoutS }: CallOptions): Promise<Data> {
    const place = `${request.method} ${baseUrl}${request.path}`;
    const over = new AbortController();
    const ended = new AbortController();
    const onAbort = () => over.abort();
    signal?.addEventListener("abort", onAbort, { once: true });
    void clock.wait(timeoutS * 1000, ended.signal).then(onAbort);
    try {
      return await exchange<Data>(request, over.signal);
    } catch (thrown) {
      if (signal?.aborted) throw new SpotwireError("aborted", `${place} was aborted.`, { cause: signal.reason });
      if (over.signal.aborted) throw new SpotwireError("timeout", `${place} was not answered within ${timeoutS} s.`);
      throw asSpotwireError(thrown, `${place} was not answered`);
    } finally {
      ended.abort();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Milliseconds to wait before the same request is worth another try; undefined for never. */
  function pauseAfter({ id, status, retryAfterS }: SpotwireError, method: string, tries: number): number | undefined {
    if ((status === 429 || status === 503) && retryAfterS !== undefined) return retryAfterS * 1000;
    const unanswered = id === "network_error" || id === "timeout" || GATEWAY_STATUSES.includes(status ?? 0);
    // Repeated, a POST could be carried out twice.
    return unanswered && method === "GET" ? fullJitter(random, tries - 1, RETRY_BASE_MS, RETRY_CAP_MS) : undefined;
  }

  /** Others wait too when the service said when to come back; a ticker without a quote concerns its own call alone. */
  const concernsAll = ({ id, status, retryAfterS }: SpotwireError) =>
    retryAfterS !== undefined && (status === 429 || status === 503) && id !== "market_data_not_ready";

  async function call<Data>(request: RestRequest, callOptions: CallOptions = {}): Promise<Data> {
    if (key === undefined) throw new SpotwireError("invalid_key", "This client was made without a key: only streams work.");
    const { signal } = callOptions;
    const deadlineMs = clock.now() + options.maxWaitS * 1000;
    for (let tries = 1; ; tries += 1) {
      const leave = await gate.enter({ deadlineMs, signal, first: tries > 1 });
      let pauseMs: number | undefined;
      try {
        return await attempt<Data>(request, callOptions);
      } catch (thrown) {
        const failure = asSpotwireError(thrown, "The request failed");
        const held = concernsAll(failure);
        if (held) gate.hold(failure);
        pauseMs = pauseAfter(failure, request.method, tries);
        if (pauseMs === undefined || tries >= maxAttempts || clock.now() + pauseMs > deadlineMs) throw failure;
        // The gate itself keeps this wait, for everyone.
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
    call,
  };
}
