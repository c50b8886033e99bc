import type { FailureData } from "#lib/contract/envelope";
import type { ErrorId } from "#lib/contract/errors";

/** Identifiers of errors on the client's side. */
export type ClientErrorId =
  /** The signal of the caller aborted the call. */
  | "aborted"
  /** The response does not come from the service, or a ticket function returned no ticket. */
  | "bad_answer"
  /** Records arrived faster than the loop read them; the oldest were dropped. */
  | "buffer_overflow"
  /** A callback of the stream threw; see `cause`. */
  | "callback_failed"
  /** A stream connection broke or went silent. */
  | "connection_lost"
  | "invalid_argument"
  /** The key is missing or mistyped. It was not sent. */
  | "invalid_key"
  /** No response: the address is wrong, or the network or the server is down; see `cause`. */
  | "network_error"
  /** Too many calls are waiting. */
  | "queue_full"
  | "stream_closed"
  | "timeout"
  /** This runtime has no WebSocket: install the package `ws`. */
  | "websocket_unavailable";

/** Identifiers of the service (the `message` of its envelope) and of the client; the service may add more. */
export type SpotwireErrorId = ErrorId | ClientErrorId | (string & Record<never, never>);

/** What is known about a failure besides its id. */
export interface SpotwireErrorFacts {
  readonly code?: number | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterS?: number | undefined;
  readonly data?: Partial<FailureData> | undefined;
  readonly cause?: unknown;
}

const BRAND = Symbol.for("spotwire.error");

/** The one error of this client. Branch on `id`, show `message`, report `requestId`. */
export class SpotwireError extends Error {
  override readonly name: string = "SpotwireError";
  /** Stable identifier, for example `unknown_ticker` or `network_error`. */
  readonly id: SpotwireErrorId;
  /** Description of the failure. */
  readonly detail: string;
  /** The numeric code of the service, status * 100 + n; undefined for an error of the client. */
  readonly code: number | undefined;
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt. */
  readonly retryAfterS: number | undefined;
  /** All data of the failed response: `parameter`, `allowed`, `tickers`, `suggestion`, `docs_url` … */
  readonly data: Partial<FailureData>;

  constructor(id: SpotwireErrorId, detail: string, facts: SpotwireErrorFacts = {}) {
    super(`${id}: ${detail}${facts.requestId === undefined ? "" : ` (request ${facts.requestId})`}`, { cause: facts.cause });
    this.id = id;
    this.detail = detail;
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryAfterS = facts.retryAfterS;
    this.data = facts.data ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** True for a SpotwireError, even from another copy of this package, where `instanceof` is false. */
export function isSpotwireError(error: unknown): error is SpotwireError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** Reads a header of a response, for any transport. */
export type ReadHeader = (name: string) => string | null | undefined;

/** Seconds of a Retry-After. A date counts from the Date header of the response, so that the clocks need not agree. */
function retryAfterOf(header: ReadHeader): number | undefined {
  const text = header("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(header("date") ?? "")) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** Parses JSON; undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An object with unknown fields, or an empty one for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/**
 * The error of a failed response: from its envelope, or `bad_answer` when a proxy or another server sent it.
 * @param place description of the request
 */
export function errorOfAnswer(status: number, header: ReadHeader, text: string, place: string): SpotwireError {
  const { code, message, data } = fieldsOf(parseJson(text));
  const failure = fieldsOf(data) as Partial<FailureData>;
  const retryAfterS = retryAfterOf(header) ?? failure.retry_after;
  const requestId = failure.request_id ?? header("x-request-id") ?? undefined;
  if (typeof code === "number" && code !== 0 && typeof message === "string")
    return new SpotwireError(message, failure.detail ?? message, { code, status, requestId, retryAfterS, data: failure });
  const kind = header("content-type") ?? "without a type";
  return new SpotwireError("bad_answer", `${place} returned ${status} (${kind}), which is not a response of the service.`, {
    status,
    requestId,
    retryAfterS,
  });
}

/** Converts a thrown value to a SpotwireError; other errors become `network_error` with the value as cause. */
export function asSpotwireError(thrown: unknown, detail: string): SpotwireError {
  if (isSpotwireError(thrown)) return thrown;
  return new SpotwireError("network_error", `${detail}: ${reasonOf(thrown)}`, { cause: thrown });
}

/** Why fetch or a socket failed: the innermost message has the reason, "fetch failed" does not. */
function reasonOf(thrown: unknown): string {
  const { cause, message, code } = fieldsOf(thrown);
  if (cause !== undefined && cause !== null) return reasonOf(cause);
  const words = typeof message === "string" && message !== "" ? message : undefined;
  return words ?? (typeof code === "string" ? code : String(thrown));
}
