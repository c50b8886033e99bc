import { afterClose, closeMeaning } from "#lib/contract/close-codes";
import { type ClientClock, fullJitter } from "./clock";
import type { Ending } from "./connection";
import { SpotwireError } from "./errors";

const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 30_000;
/** A connection that lived so long was a good one: the next failure starts from the shortest wait again. */
const STEADY_AFTER_MS = 30_000;
/** Longest Retry-After of a refused handshake that is waited for as told. */
const RETRY_AFTER_MAX_S = 3_600;

/** How one try ended, and what the server said of the next. */
export interface Attempt extends Ending {
  /** Named by `server_shutdown`: connect again at a random moment within it. */
  readonly reconnectAfterMs?: number | undefined;
}

/** Refusals of a handshake that stay the same however often it is tried: wrong key, scope, origin, address. */
function isFinalRefusal({ status }: SpotwireError): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}

/** Errors of this side that another try does not mend. */
const FINAL_IDS: readonly string[] = ["invalid_argument", "invalid_key", "websocket_unavailable"];

/** Why no further try makes sense; undefined where one does. */
export function finalError({ code, error }: Attempt): SpotwireError | undefined {
  if (error !== undefined && (isFinalRefusal(error) || FINAL_IDS.includes(error.id))) return error;
  if (afterClose(code) === "retry") return undefined;
  return error ?? new SpotwireError("connection_lost", closeMeaning(code) ?? `Closed with ${code}.`);
}

/**
 * Milliseconds until the next try. The server's word counts: a time to come back within, or a Retry-After, to which
 * jitter is added so that not all come back at its end. Else full jitter over a doubling bound, 500 ms to 30 s.
 * @param failures tries since the last good connection
 */
export function delayBefore({ error, reconnectAfterMs }: Attempt, failures: number, random: () => number): number {
  if (reconnectAfterMs !== undefined) return random() * reconnectAfterMs;
  const retryAfterS = Math.min(error?.retryAfterS ?? 0, RETRY_AFTER_MAX_S);
  return retryAfterS * 1000 + fullJitter(random, failures, BACKOFF_BASE_MS, BACKOFF_CAP_MS);
}

/** What keeps a stream connected needs and tells. */
interface ReconnectOptions {
  readonly clock: ClientClock;
  readonly random: () => number;
  /** Ends the loop at once. */
  readonly signal: AbortSignal;
  /** One try, from credentials to the end of the connection; never rejects. */
  connect(): Promise<Attempt>;
  /** False when nobody follows anything: then no connection is opened. */
  wanted(): boolean;
  onConnecting(attempt: number): void;
  /** Told after each try; `retryInMs` is when the next comes, undefined for never. */
  onEnded(attempt: Attempt, retryInMs: number | undefined, final: SpotwireError | undefined): void;
}

/** Connects, and again, until nothing is wanted any more, the signal aborts, or a final error came. Never rejects. */
export async function keepConnected(options: ReconnectOptions): Promise<void> {
  const { clock, random, signal } = options;
  let failures = 0;
  while (!signal.aborted && options.wanted()) {
    options.onConnecting(failures + 1);
    const attempt = await options.connect();
    if (signal.aborted) return;
    if ((attempt.livedMs ?? 0) >= STEADY_AFTER_MS) failures = 0;
    const final = finalError(attempt);
    const delayMs = final === undefined && options.wanted() ? delayBefore(attempt, failures, random) : undefined;
    options.onEnded(attempt, delayMs, final);
    if (delayMs === undefined) return;
    failures += 1;
    await clock.wait(delayMs, signal);
  }
}
