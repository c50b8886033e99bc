import { afterClose, closeMeaning } from "#lib/contract/close-codes";
import { fullJitter } from "./clock";
import type { Ending } from "./connection";
import { SpotwireError } from "./errors";

const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 30_000;
/** Longest Retry-After of a rejected handshake that is followed. */
const RETRY_AFTER_MAX_S = 3_600;

/** How one attempt ended, and when the server wants the next. */
export interface Attempt extends Ending {
  /** From `server_shutdown`: reconnect at a random moment within this time. */
  readonly reconnectAfterMs?: number | undefined;
  /** A record arrived: the next failure starts with the shortest wait again. */
  readonly isGood?: boolean | undefined;
  /** What was wrong with the ticket: none could be had, or the service refused it (401) and another one may be good. */
  readonly ticket?: "missing" | "refused" | undefined;
}

/** Rejections of a handshake that no retry changes: wrong key, scope, origin, address. */
function isFinalRefusal({ status }: SpotwireError): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}

/**
 * The service, or a ticket function in its place, says that there will be no ticket for this client. Another status, or a page
 * of a proxy, says how a backend is at the moment.
 */
const isDenied = ({ status, id }: SpotwireError) => (status === 401 || status === 403) && id !== "bad_answer";

/** Errors of the client that no retry fixes. */
const FINAL_IDS: readonly string[] = ["invalid_argument", "invalid_key", "websocket_unavailable"];

/** The error that ends the stream; undefined if a retry makes sense. */
export function finalError({ code, error, ticket }: Attempt): SpotwireError | undefined {
  if (ticket === "refused") return undefined;
  if (ticket === "missing") return error !== undefined && isDenied(error) ? error : undefined;
  if (error !== undefined && (isFinalRefusal(error) || FINAL_IDS.includes(error.id))) return error;
  if (afterClose(code) === "retry") return undefined;
  return error ?? new SpotwireError("connection_lost", closeMeaning(code) ?? `Closed with ${code}.`);
}

/**
 * Milliseconds until the next attempt: a random moment within the time that the server gave, or its Retry-After plus jitter, so
 * that clients do not all return at its end. Else full jitter with a limit that doubles from 500 ms to 30 s.
 * @param failures attempts since the last good connection
 */
export function delayBefore({ error, reconnectAfterMs }: Attempt, failures: number, random: () => number): number {
  if (reconnectAfterMs !== undefined) return random() * reconnectAfterMs;
  const retryAfterS = Math.min(error?.retryAfterS ?? 0, RETRY_AFTER_MAX_S);
  return retryAfterS * 1000 + fullJitter(random, failures, BACKOFF_BASE_MS, BACKOFF_CAP_MS);
}
