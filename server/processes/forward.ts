import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Fault } from "#lib/fault";
import { BODY_MAX_BYTES, tooLarge } from "#lib/http/input";
import { requestIdOf } from "#lib/http/request-id";
import { failure, failureOf, jsonHeaders, writeAnswer } from "#lib/http/respond";
import { ADDRESS_HEADER } from "#server/pages/visitor";
import { bodyOf, discardRest } from "./body";
import { clientOf } from "./client-queue";
import type { Send } from "./send";

/** Bytes of an answer that wait in memory for a slow reader. */
const UNREAD_MAX_BYTES = 1_048_576;
/** Time a reader may take for them. */
const UNREAD_MAX_MS = 10_000;
const RETRY_AFTER_S = 2;
/** Headers about one connection, which are not passed on (RFC 9110, 7.6.1). */
export const OF_CONNECTION = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const plainPage = (title: string, text: string) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><h1>${title}</h1>
<p>${text}</p></html>`;
const BUSY_PAGE = plainPage("The pages are busy", "The API and the streams work. Try this page again in a few seconds.");
const TOO_MANY_PAGE = plainPage("Too many requests", "Too many pages were asked for from here. Try again in a few seconds.");

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Refuses a request that cannot be served now. */
export function refuseBusy(request: IncomingMessage, response: ServerResponse, detail: string): void {
  refuseWith(request, response, new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S }));
}

/** Refuses a request with a fault that passes: the envelope under /api, a plain page elsewhere. */
export function refuseWith(request: IncomingMessage, response: ServerResponse, { id, data }: Fault): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const answer = failure(id, data, jsonHeaders(requestIdOf(request.headers["x-request-id"]?.toString() ?? null)));
  if (request.url?.startsWith("/api/")) {
    writeAnswer(response, answer);
    return;
  }
  const headers = {
    ...answer.headers,
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
  };
  writeAnswer(response, { ...answer, headers, body: id === "rate_limited" ? TOO_MANY_PAGE : BUSY_PAGE });
}

/** The client of a request, as the server in front of the portal has set it. */
export function addressOf({ headers }: IncomingMessage): string {
  return String(headers[ADDRESS_HEADER] ?? "");
}

function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name)));
}

/**
 * The headers of an answer, of which Set-Cookie may come more than once. Not as pairs: after a header that the server has set
 * itself, Node 20 would send only the last of a name.
 */
function answeredHeaders({ headersDistinct }: IncomingMessage): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headersDistinct).filter(([name]) => !OF_CONNECTION.has(name)));
}

/**
 * Reads a body before its request gets a turn, so that nobody holds a turn by sending slowly.
 * @throws Fault payload_too_large; invalid_parameter when the body ends early
 */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if ((length === undefined || length === "0") && encoding === undefined) return undefined;
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of bodyOf(request)) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Fault("invalid_parameter", { detail: "The body ended early." });
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(chunks);
}

/** Passes an answer on. It ends for the portal once it is in memory, whatever the reader does. */
function passOn(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answeredHeaders(answer));
  let slow: NodeJS.Timeout | undefined;
  answer.on("data", (chunk: Buffer) => {
    response.write(chunk);
    if (response.writableLength <= UNREAD_MAX_BYTES || slow !== undefined) return;
    answer.pause();
    slow = setTimeout(() => response.destroy(), UNREAD_MAX_MS);
    response.once("drain", () => {
      clearTimeout(slow);
      slow = undefined;
      answer.resume();
    });
  });
  answer.on("end", () => response.end());
  answer.on("error", () => response.destroy());
  response.once("close", () => clearTimeout(slow));
}

/**
 * Makes the listener that forwards requests to the portal's process. A request that finds no place, or none in time, is answered
 * with 503 and Retry-After, or as `refuse` does; one whose client leaves is dropped. A body has at most `bodyMaxBytes`.
 */
export function createForwarder(send: Send, refuse = refuseBusy, bodyMaxBytes = BODY_MAX_BYTES): Listener {
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, bodyMaxBytes);
    if (response.destroyed) return;
    const headers = passedOn(request.headers);
    if (body !== undefined) headers["content-length"] = String(body.byteLength);
    const drop = send({
      client: clientOf(addressOf(request)),
      method: request.method ?? "GET",
      path: request.url ?? "/",
      headers,
      body,
      onAnswer: (answer) => passOn(answer, response),
      onRefused: (detail) => refuse(request, response, detail),
    });
    response.once("close", drop);
  }

  return (request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (response.destroyed) return;
      writeAnswer(response, failureOf(error, jsonHeaders(requestIdOf(null)), ""));
      discardRest(request);
    });
  };
}
