import type { Failure } from "#lib/contract/envelope";
import { ERRORS, type ErrorId, errorDocsPath, httpStatus } from "#lib/contract/errors";
import { isDatabaseAway } from "#lib/db";
import { Fault, type FaultData, isFault } from "#lib/fault";
import { SUCCESS_HEAD, SUCCESS_TAIL } from "#lib/market/question";

/** Headers of an answer, by lower-case name. */
export type AnswerHeaders = Record<string, string>;

/** An answer before it is written: our own server writes it as it is, other hosts of a route get it as a Response. */
export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** The answer as the Web standard has it. */
export function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}

/** The same answer for HEAD: headers only. */
export function withoutBody(answer: Answer): Answer {
  return { ...answer, body: null };
}

const AWAY_RETRY_AFTER_S = 1;
const JSON_TYPE = "application/json; charset=utf-8";

/** What every JSON answer carries. */
export function jsonHeaders(requestId: string): AnswerHeaders {
  return { "content-type": JSON_TYPE, "x-content-type-options": "nosniff", "x-request-id": requestId };
}

/** The envelope of a success around data, as text. */
export function successBody(data: object): string {
  return SUCCESS_HEAD + JSON.stringify(data) + SUCCESS_TAIL;
}

/** The envelope of a failure. */
export function failureBody(id: ErrorId, data: FaultData, requestId: string, base: string): Failure {
  const { code, title } = ERRORS[id];
  return { code, message: id, data: { detail: title, request_id: requestId, docs_url: base + errorDocsPath(id), ...data } };
}

/**
 * A failed answer: real HTTP status, envelope, and the headers its error asks for (WWW-Authenticate, Retry-After).
 * @param base address of the docs, without a slash at its end; empty for paths without a host
 */
export function failure(id: ErrorId, data: FaultData = {}, headers: AnswerHeaders = jsonHeaders(""), base = ""): Answer {
  const status = httpStatus(id);
  const body = failureBody(id, data, headers["x-request-id"] ?? "", base);
  const extra: AnswerHeaders = { "cache-control": "no-store" };
  if (status === 401) extra["www-authenticate"] = "Bearer";
  if (data.retry_after !== undefined) extra["retry-after"] = String(data.retry_after);
  return { status, headers: { ...headers, ...extra }, body: JSON.stringify(body) };
}

/** What anything that was thrown is told as: a fault speaks for itself, a database that is away is service_unavailable. */
export function faultOf(error: unknown): Fault {
  if (isFault(error)) return error;
  if (isDatabaseAway(error))
    return new Fault("service_unavailable", { detail: "The database cannot be reached.", retry_after: AWAY_RETRY_AFTER_S });
  return new Fault("internal_error", { detail: "It was logged under the request id." });
}

/** The failed answer of anything that was thrown. */
export function failureOf(error: unknown, headers: AnswerHeaders, base: string): Answer {
  const { id, data } = faultOf(error);
  return failure(id, data, headers, base);
}
