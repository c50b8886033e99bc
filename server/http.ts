import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { HEADERS_MAX_BYTES, REQUEST_HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS, URI_MAX_BYTES } from "#lib/contract/limits";
import { failure } from "#lib/http/respond";
import type { Logger } from "#lib/log";

/** Answers a Web-standard request; `address` is the client's. */
export type DirectHandler = (request: Request, context: { address: string }) => Response | Promise<Response>;

interface HttpOptions {
  /** Route handlers that are called before Next, by exact path. */
  direct: Readonly<Record<string, DirectHandler>>;
  /** Everything under /api/v1/. */
  api: DirectHandler;
  /** Everything else: Next. */
  pages: (request: IncomingMessage, response: ServerResponse) => void;
  addressOf: (request: IncomingMessage) => string;
  log: Logger;
}

const API_PREFIX = "/api/v1";

/** The path of a request target, without query. */
function pathOf(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}

function isApi(path: string): boolean {
  return path.startsWith(API_PREFIX) && (path.length === API_PREFIX.length || path[API_PREFIX.length] === "/");
}

/**
 * One server: the REST routes and the operational ones go straight to their route handlers, all else to Next.
 * (A route handler behind Next answers some 25 times fewer requests than the same function called directly.)
 * What is not even HTTP, or too long to be read, gets the envelope too.
 */
export function createHttpServer({ direct, api, pages, addressOf, log }: HttpOptions): Server {
  const listen = (handler: DirectHandler) =>
    getRequestListener((request, { incoming }) => handler(request, { address: addressOf(incoming as IncomingMessage) }), {
      errorHandler: (error) => {
        log.warn({ err: error }, "request could not be read");
        return failure("invalid_parameter", { detail: "The request cannot be read: its target or Host header is malformed." });
      },
    });
  const apiListener = listen(api);
  const directListeners = new Map(Object.entries(direct).map(([path, handler]) => [path, listen(handler)]));

  const server = createServer(
    { maxHeaderSize: HEADERS_MAX_BYTES, headersTimeout: REQUEST_HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      const path = pathOf(request.url ?? "/");
      if (isApi(path)) return void apiListener(request, response);
      const listener = directListeners.get(path);
      if (listener !== undefined) return void listener(request, response);
      pages(request, response);
    },
  );
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => refuse(error, socket as Socket));
  return server;
}

/** Answers a client whose bytes Node could not read, and closes. */
function refuse(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const overflow = error.code === "HPE_HEADER_OVERFLOW";
  const longTarget = overflow && (error.rawPacket?.indexOf("\r\n") ?? -1) === -1;
  const answer = longTarget
    ? failure("uri_too_long", { detail: `Path and query together are at most ${URI_MAX_BYTES} bytes.`, max: URI_MAX_BYTES })
    : failure("invalid_parameter", {
        detail: overflow ? `All headers together are at most ${HEADERS_MAX_BYTES} bytes.` : "This is not an HTTP request.",
      });
  const status = overflow && !longTarget ? 431 : answer.status;
  void answer.text().then((body) => {
    socket.end(
      `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}
