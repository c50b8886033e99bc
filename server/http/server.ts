import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { HEADERS_MAX_BYTES, REQUEST_HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS, URI_MAX_BYTES } from "#lib/contract/limits";
import { openBareExchange, type ServerContext } from "#lib/http/exchange";
import { requestIdOf } from "#lib/http/request-id";
import { type Answer, failure, jsonHeaders, toResponse } from "#lib/http/respond";
import type { RouteHandler } from "#lib/http/route";
import type { Logger } from "#lib/log";
import type { AuthRateLimit } from "#lib/portal/auth-rate-limit";
import { ADDRESS_HEADER } from "#lib/portal/visitor";
import { writeAnswer } from "#server/socket/refuse-upgrade";
import { peerOf } from "./address";
import { decodedPath, settleTarget } from "./target";
import { isSocketIo } from "./upgrades";

type WebHandler = (request: Request, context?: unknown) => Response | Promise<Response>;
type Listener = (request: IncomingMessage, response: ServerResponse) => void;

interface HttpOptions {
  /** Route handlers that are called before Next, by exact path. */
  direct: Readonly<Record<string, (request: Request) => Response | Promise<Response>>>;
  /** Everything under /api/v1; undefined leaves it to Next. */
  api: RouteHandler | undefined;
  /** Requests of Socket.IO. */
  socketIo: Listener;
  /** Everything else: Next. */
  pages: Listener;
  /** What of it is refused before Next has to do with it. */
  authRateLimit: AuthRateLimit;
  addressOf: (request: IncomingMessage) => string;
  log: Logger;
}

const API_PREFIX = "/api/v1";
/** Where a request came to, as a proxy tells it. */
const FORWARDED = ["x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"];

function isApi(path: string): boolean {
  return path.startsWith(API_PREFIX) && (path.length === API_PREFIX.length || path[API_PREFIX.length] === "/");
}

/** What a route handler is told beside the request. */
function contextOf(incoming: IncomingMessage, addressOf: HttpOptions["addressOf"]): ServerContext {
  return { address: addressOf(incoming), target: incoming.url ?? "/", headers: incoming.headers };
}

/**
 * One server: the REST routes and the operational ones go straight to their route handlers, all else to Next.
 * (A route handler behind Next answers some 25 times fewer requests than the same function called directly.)
 * What is not even HTTP, or too long to be read, gets the envelope too.
 */
export function createHttpServer({
  direct,
  api,
  socketIo,
  pages,
  authRateLimit: openDoors,
  addressOf,
  log,
}: HttpOptions): Server {
  const listen = (handler: WebHandler): Listener => {
    const listener = getRequestListener(
      (request, { incoming }) => handler(request, contextOf(incoming as IncomingMessage, addressOf)),
      { errorHandler: (error) => unreadable(error, log) },
    );
    return (request, response) => void listener(request, response);
  };
  const apiListener = api && listenBare(api, listen(api), addressOf);
  const directListeners = new Map(Object.entries(direct).map(([path, handler]) => [path, listen(handler)]));

  /**
   * Pages know the client by this header alone; what a client itself sent under its name does not get through. Where they were
   * reached is told by a proxy that is trusted, by nobody else.
   */
  const addressed = (request: IncomingMessage, response: ServerResponse, path: string) => {
    const refused = openDoors(request, path);
    if (refused !== undefined) return write(response, refused);
    const address = addressOf(request);
    request.headers[ADDRESS_HEADER] = address;
    if (address === peerOf(request)) for (const name of FORWARDED) delete request.headers[name];
    pages(request, response);
  };

  const limits = {
    maxHeaderSize: HEADERS_MAX_BYTES,
    headersTimeout: REQUEST_HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  };
  const server = createServer(limits, (request, response) => {
    if (!settleTarget(request)) return refuseTarget(response, "The request target is neither a path nor an address.");
    const target = request.url ?? "/";
    const path = decodedPath(target);
    if (apiListener && isApi(path ?? target)) return apiListener(request, response);
    if (path === undefined) return refuseTarget(response, "The path is badly percent-encoded.");
    const listener = directListeners.get(path) ?? (isSocketIo(path) ? socketIo : undefined);
    if (listener === undefined) addressed(request, response, path);
    else listener(request, response);
  });
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => refuse(error, socket as Socket));
  return server;
}

/**
 * Requests without a body are answered without the Web-standard objects, whose making costs more than the guards; the answer
 * is the one the route handler gives under any other host.
 */
function listenBare(api: RouteHandler, withBody: Listener, addressOf: HttpOptions["addressOf"]): Listener {
  return (request, response) => {
    const { method = "GET" } = request;
    if (method !== "GET" && method !== "HEAD") return withBody(request, response);
    const answer = api.answer(openBareExchange(method, request.url ?? "/", contextOf(request, addressOf)));
    if (answer instanceof Promise) void answer.then((late) => write(response, late));
    else write(response, answer);
  };
}

function write(response: ServerResponse, { status, headers, body }: Answer): void {
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name] ?? "");
  if (body !== null) lines.push("content-length", String(typeof body === "string" ? Buffer.byteLength(body) : body.byteLength));
  response.writeHead(status, lines);
  response.end(body);
}

/** A target or Host header that no URL can be made of. */
function unreadable(error: unknown, log: Logger): Response {
  log.debug({ err: error }, "request could not be read");
  const detail = "The request cannot be read: its target or Host header is malformed.";
  return toResponse(failure("invalid_parameter", { detail }, jsonHeaders(requestIdOf(null))));
}

function refuseTarget(response: ServerResponse, detail: string): void {
  write(response, failure("invalid_parameter", { detail }, jsonHeaders(requestIdOf(null))));
}

/** True when what was too long to be read is the first line; the bytes at hand may begin in the middle of it. */
function isLongTarget(bytes: Buffer | undefined): boolean {
  const end = bytes?.indexOf("\r\n") ?? -1;
  if (bytes === undefined || end === -1) return true;
  const line = bytes.toString("latin1", 0, end);
  return / HTTP\/1\.\d$/.test(line) && (line.length > URI_MAX_BYTES || !/^[A-Z]+ \//.test(line));
}

/** Answers a client whose bytes Node could not read, and closes. */
function refuse(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const overflow = error.code === "HPE_HEADER_OVERFLOW";
  const longTarget = overflow && isLongTarget(error.rawPacket);
  const headers = jsonHeaders(requestIdOf(null));
  const answer = longTarget
    ? failure(
        "uri_too_long",
        { detail: `Path and query together are at most ${URI_MAX_BYTES} bytes.`, max: URI_MAX_BYTES },
        headers,
      )
    : failure(
        "invalid_parameter",
        { detail: overflow ? `All headers together are at most ${HEADERS_MAX_BYTES} bytes.` : "This is not an HTTP request." },
        headers,
      );
  const status = overflow && !longTarget ? 431 : answer.status;
  writeAnswer(socket, { ...answer, status });
}
