import type { FailureData } from "#lib/contract/envelope";
import type { ErrorId } from "#lib/contract/errors";

/** What can go wrong on this side of the network. */
export type ClientErrorId =
  /** The signal of the caller aborted the call. */
  | "aborted"
  /** The answer does not come from the service. */
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
  /** No answer: the address is wrong, or the network or the server is down; see `cause`. */
  | "network_error"
  /** Too many calls are waiting. */
  | "queue_full"
  | "stream_closed"
  | "timeout"
  /** This runtime has no WebSocket: install the package `ws`. */
  | "websocket_unavailable";

/** Of the service (the `message` of its envelope) or of the client; the service may add more. */
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
  /** What was wrong, in words. */
  readonly detail: string;
  /** The numeric code of the service, status * 100 + n; undefined for an error of the client. */
  readonly code: number | undefined;
  /** HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** Name it when reporting a problem. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt. */
  readonly retryAfterS: number | undefined;
  /** All data of the failed answer: `parameter`, `allowed`, `tickers`, `suggestion`, `docs_url` … */
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

/** True for a SpotwireError, also one of another copy of this package, where `instanceof` is false. */
export function isSpotwireError(error: unknown): error is SpotwireError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** Headers of an answer, whatever brought it. */
export type ReadHeader = (name: string) => string | null | undefined;

/** Seconds of a Retry-After; a date counts from the answer's own Date, so that no clock has to agree. */
function retryAfterOf(header: ReadHeader): number | undefined {
  const text = header("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(header("date") ?? "")) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** Parses JSON; undefined for a text that is none. */
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
 * The error of a failed answer: the envelope's own words, or `bad_answer` for what a proxy or another server wrote.
 * @param place what was asked, for the reader
 */
export function errorOfAnswer(status: number, header: ReadHeader, text: string, place: string): SpotwireError {
  const { code, message, data } = fieldsOf(parseJson(text));
  const told = fieldsOf(data) as Partial<FailureData>;
  const retryAfterS = retryAfterOf(header) ?? told.retry_after;
  const requestId = told.request_id ?? header("x-request-id") ?? undefined;
  if (typeof code === "number" && code !== 0 && typeof message === "string")
    return new SpotwireError(message, told.detail ?? message, { code, status, requestId, retryAfterS, data: told });
  const kind = header("content-type") ?? "without a type";
  return new SpotwireError("bad_answer", `${place} was answered ${status} (${kind}), not in the service's form.`, {
    status,
    requestId,
    retryAfterS,
  });
}

/** A thrown value as one of ours; anything else becomes `network_error` with that as its cause. */
export function asSpotwireError(thrown: unknown, detail: string): SpotwireError {
  if (isSpotwireError(thrown)) return thrown;
  return new SpotwireError("network_error", `${detail}: ${reasonOf(thrown)}`, { cause: thrown });
}

/** Why fetch or a socket failed: the innermost message says it, "fetch failed" does not. */
function reasonOf(thrown: unknown): string {
  const { cause, message, code } = fieldsOf(thrown);
  if (cause !== undefined && cause !== null) return reasonOf(cause);
  const words = typeof message === "string" && message !== "" ? message : undefined;
  return words ?? (typeof code === "string" ? code : String(thrown));
}
