import type { ServerResponse } from "node:http";
import { pipeline, Readable, type Transform } from "node:stream";
import type { Failure } from "#lib/contract/envelope";
import { ERRORS, type ErrorId, errorDocsPath, httpStatus } from "#lib/contract/errors";
import { Fault, type FaultData, isFault } from "#lib/fault";
import { SUCCESS_HEAD, SUCCESS_TAIL } from "#lib/market/question";
import { isDatabaseAway, isHistoryAway, isHistoryDamaged } from "#lib/storage-errors";

/** Response headers, by lower-case name. */
export type AnswerHeaders = Record<string, string>;

interface Headed {
  readonly status: number;
  readonly headers: AnswerHeaders;
}

/** A response with its whole body, before it is written. */
export interface WholeAnswer extends Headed {
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** A response whose body is made while it is sent, each part when the client has taken most of those before. */
export interface AnswerInParts extends Headed {
  readonly body: {
    readonly parts: Iterable<string> | AsyncIterable<Uint8Array>;
    /** Compresses the parts on their way, or expands those of a compressed file. */
    readonly encoder?: Transform;
  };
}

/** A response before it is written. Our server writes it directly; other hosts of a route get it as a Response. */
export type Answer = WholeAnswer | AnswerInParts;

/** True for a response whose body is made while it is sent. */
export function isInParts(answer: Answer): answer is AnswerInParts {
  const { body } = answer;
  return body !== null && typeof body === "object" && "parts" in body;
}

/** The size of the body in bytes. */
export function byteLengthOf({ body }: WholeAnswer): number {
  if (body === null) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}

/** The response as a Web-standard Response. */
export function toResponse(answer: Answer): Response {
  const { status, headers } = answer;
  if (!isInParts(answer)) return new Response(answer.body, { status, headers });
  const { parts, encoder } = answer.body;
  const source = Readable.from(parts, { objectMode: false });
  const sent = encoder === undefined ? source : pipeline(source, encoder, () => undefined);
  return new Response(Readable.toWeb(sent) as ReadableStream<Uint8Array>, { status, headers });
}

/** The answer in a Web-standard Response, whose body is complete. */
export async function toAnswer(response: Response): Promise<WholeAnswer> {
  const body = response.body === null ? null : new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}

/** Writes the response to a connection of our own server. Its bytes are counted once here, not framed in chunks. */
export function writeAnswer(response: ServerResponse, answer: WholeAnswer): void {
  const { status, headers, body } = answer;
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name] ?? "");
  const size = byteLengthOf(answer);
  if (body !== null) lines.push("content-length", String(size));
  response.writeHead(status, lines);
  if (typeof body !== "string") return void response.end(body);
  // `end(body)` would hand over an empty piece behind head and body, and a vector of pieces costs more than one text.
  const { socket } = response;
  socket?.cork();
  response.write(body, size === body.length ? "latin1" : "utf8");
  socket?.uncork();
  response.end();
}

/** The same response for HEAD: headers only. */
export function withoutBody(answer: Answer): WholeAnswer {
  return { ...answer, body: null };
}

const AWAY_RETRY_AFTER_S = 1;
/** A disk is mounted again, or a bucket answers, in more than a moment. */
const HISTORY_RETRY_AFTER_S = 10;
/** A file of history comes back when an operator restores it. */
const DAMAGED_RETRY_AFTER_S = 600;
const JSON_TYPE = "application/json; charset=utf-8";

/** Headers of every JSON response. */
export function jsonHeaders(requestId: string): AnswerHeaders {
  return { "content-type": JSON_TYPE, "x-content-type-options": "nosniff", "x-request-id": requestId };
}

/** The success envelope around data, as JSON text. */
export function successBody(data: object): string {
  return SUCCESS_HEAD + JSON.stringify(data) + SUCCESS_TAIL;
}

/** The failure envelope. */
export function failureBody(id: ErrorId, data: FaultData, requestId: string, base: string): Failure {
  const { code, title } = ERRORS[id];
  return { code, message: id, data: { detail: title, request_id: requestId, docs_url: base + errorDocsPath(id), ...data } };
}

/**
 * A failure response: HTTP status, envelope, and the headers the error requires (WWW-Authenticate, Retry-After).
 * @param headers of the response, to which those of the error are added
 * @param base URL of the docs without a trailing slash; empty for paths without a host
 */
export function failure(id: ErrorId, data: FaultData = {}, headers: AnswerHeaders = jsonHeaders(""), base = ""): WholeAnswer {
  const status = httpStatus(id);
  const body = failureBody(id, data, headers["x-request-id"] ?? "", base);
  headers["cache-control"] = "no-store";
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (data.retry_after !== undefined) headers["retry-after"] = String(data.retry_after);
  return { status, headers, body: JSON.stringify(body) };
}

/** Maps anything thrown to a fault: a fault stays, an unreachable database and history that is away or damaged are service_unavailable, the rest internal_error. */
export function faultOf(error: unknown): Fault {
  if (isFault(error)) return error;
  if (isHistoryAway(error))
    return new Fault("service_unavailable", {
      detail: "The place of stored history cannot be reached. Current quotes and streams need none of it.",
      retry_after: HISTORY_RETRY_AFTER_S,
    });
  if (isDatabaseAway(error))
    return new Fault("service_unavailable", { detail: "The database is unreachable.", retry_after: AWAY_RETRY_AFTER_S });
  if (isHistoryDamaged(error))
    return new Fault("service_unavailable", {
      detail: "A file of this history is damaged or missing, and has to be restored. Other ranges and tickers can be read.",
      retry_after: DAMAGED_RETRY_AFTER_S,
    });
  return new Fault("internal_error", { detail: "The error was logged with the request id." });
}

/** The failure response for anything thrown. */
export function failureOf(error: unknown, headers: AnswerHeaders, base: string): WholeAnswer {
  const { id, data } = faultOf(error);
  return failure(id, data, headers, base);
}
