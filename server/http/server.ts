import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { HEADERS_MAX_BYTES, REQUEST_HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS, URI_MAX_BYTES } from "#lib/contract/limits";
import { SOCKET_IO_PATH, STREAM_PATH } from "#lib/contract/stream";
import { Fault } from "#lib/fault";
import { openBareExchange, type ServerContext } from "#lib/http/exchange";
import { requestIdOf } from "#lib/http/request-id";
import {
  type Answer,
  failure,
  failureOf,
  isInParts,
  jsonHeaders,
  toAnswer,
  toResponse,
  type WholeAnswer,
  writeAnswer,
} from "#lib/http/respond";
import type { RouteHandler } from "#lib/http/route";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import type { AuthRateLimit } from "#server/pages/sign-in/auth-rate-limit";
import { ADDRESS_HEADER } from "#server/pages/visitor";
import { bodyOf, discardRest } from "#server/processes/body";
import { endWith, type RefusalContext, refuseUpgrade } from "#server/socket/refuse-upgrade";
import type { Streams } from "#server/socket/streams";
import { peerOf } from "./address";
import { type Compression, createCompression } from "./compression";
import { inOrder } from "./in-order";
import type { KeylessCalls } from "./keyless-calls";
import { EXPECTATION_REFUSAL, isApi, isPageMethod, type MessageRefusal, messageRefusal, methodRefusal } from "./message";
import { createPartsSender } from "./send-parts";
import { decodedPath, normalizeTarget, pathOf } from "./target";

type WebHandler = (request: Request, context?: unknown) => Response | Promise<Response>;
type Listener = (request: IncomingMessage, response: ServerResponse) => void;

interface HttpOptions {
  /** Route handlers by exact path. */
  direct: Readonly<Record<string, (request: Request) => Response | Promise<Response>>>;
  /** Everything under /api/v1. */
  api: RouteHandler;
  /** Handles requests to Socket.IO. */
  socketIo: Listener;
  /** Handles everything else: the portal's process. */
  pages: Listener;
  /** Handles further exact paths in another process. Like pages, it gets the client's address in a header. */
  passed?: Readonly<Record<string, Listener>>;
  /** Refuses too many sign-in attempts before they reach the portal. */
  authRateLimit: AuthRateLimit;
  /** Refuses too many calls without a key to everything but pages, whose readers the portal knows. */
  keylessCalls: Pick<KeylessCalls, "call">;
  addressOf: (request: IncomingMessage) => string;
  log: Logger;
  metrics: Pick<Metrics, "refused">;
  /** Stands in front of links to the docs in refusals of requests that name no host; empty where nothing is configured. */
  docsBase: string;
  /** Strict-Transport-Security of every answer, when clients connect by HTTPS. */
  hsts?: string | undefined;
  /** Time after which an idle connection is closed; 0 for never, where only other processes of this node connect, which keep theirs. */
  keepAliveMs: number;
  /** True where only other processes of this node connect: they have checked the limits. */
  inner?: boolean;
}

const API_PREFIX = "/api/v1";
const OVERDUE_LOOK_MS = 1_000;
/** Headers in which a proxy names the requested host. */
const FORWARDED = ["x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"];

function isV1(path: string): boolean {
  return path.startsWith(API_PREFIX) && (path.length === API_PREFIX.length || path[API_PREFIX.length] === "/");
}

/** What a route handler receives besides the request. */
function contextOf(incoming: IncomingMessage, addressOf: HttpOptions["addressOf"]): ServerContext {
  return { address: addressOf(incoming), target: incoming.url ?? "/", headers: incoming.headers };
}

/**
 * Creates the HTTP server. REST and operational routes go directly to their route handlers, everything else to the portal's
 * process. (Behind Next, the same function serves about 25 times fewer requests.) Invalid HTTP and oversized requests also get the envelope.
 */
export function createHttpServer(options: HttpOptions): Server {
  const {
    direct,
    api,
    socketIo,
    pages,
    authRateLimit,
    keylessCalls,
    addressOf,
    log,
    metrics,
    docsBase,
    hsts,
    keepAliveMs,
    inner = false,
  } = options;
  const compress = createCompression();
  const listen = (handler: WebHandler): Listener => {
    const listener = getRequestListener(
      async (request, bindings) => {
        const incoming = bindings.incoming as IncomingMessage;
        const answer = await toAnswer(await handler(request, contextOf(incoming, addressOf)));
        return toResponse(await compress(incoming, answer));
      },
      { errorHandler: (error) => unreadable(error, docsBase, log) },
    );
    return (request, response) => void listener(request, response);
  };
  const apiListener = listenBare({ api, compress, addressOf, log });

  /**
   * Other processes read the client address from this header only, so a value from the client is overwritten. Forwarding headers
   * count only when a trusted proxy sent them.
   */
  const addressed =
    (listener: Listener): Listener =>
    (request, response) => {
      const address = addressOf(request);
      request.headers[ADDRESS_HEADER] = address;
      if (address === peerOf(request)) for (const name of FORWARDED) delete request.headers[name];
      listener(request, response);
    };
  const passPage = addressed(pages);
  const page = (request: IncomingMessage, response: ServerResponse, path: string) => {
    if (!isPageMethod(request.method)) return refuseMessage(response, methodRefusal(request.method ?? "", path), docsBase);
    const refused = authRateLimit(request, path);
    if (refused !== undefined) return writeAnswer(response, refused);
    passPage(request, response);
  };
  const directListeners = new Map([
    ...Object.entries(direct).map(([path, handler]) => [path, listen(handler)] as const),
    ...Object.entries(options.passed ?? {}).map(([path, listener]) => [path, addressed(listener)] as const),
  ]);

  const limits = {
    // The header with the address comes on top of those of the client.
    maxHeaderSize: inner ? 2 * HEADERS_MAX_BYTES : HEADERS_MAX_BYTES,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: REQUEST_HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node looks for overdue requests this often; at its default of 30 s, half a request could stay three times its limit.
    connectionsCheckingInterval: OVERDUE_LOOK_MS,
    // A request without a Host is refused here, with the envelope.
    requireHostHeader: false,
  };
  const handle: Listener = (request, response) => {
    if (hsts !== undefined) response.setHeader("strict-transport-security", hsts);
    const wrong = messageRefusal(request);
    if (wrong !== undefined) return refuseMessage(response, wrong, docsBase);
    if (!normalizeTarget(request)) return refuseTarget(response, "The request target is neither a path nor a URL.", docsBase);
    const target = request.url ?? "/";
    const path = decodedPath(target);
    const called = path ?? target;
    const judged = directListeners.has(called) || isApi(called) ? keylessCalls.call(request, called) : undefined;
    const next = (fault?: Fault) =>
      fault ? writeAnswer(response, failureOf(fault, jsonHeaders(requestIdOf(null)), docsBase)) : answer(request, response, path);
    if (judged === undefined) next();
    else void judged.then(next);
  };
  /** @param path undefined when it is not valid percent-encoding */
  const answer = (request: IncomingMessage, response: ServerResponse, path: string | undefined) => {
    const called = path ?? request.url ?? "/";
    if (isV1(called)) return apiListener(request, response);
    response.setHeader("x-content-type-options", "nosniff");
    if (path === undefined) return refuseTarget(response, "The path is not valid percent-encoding.", docsBase);
    const listener = directListeners.get(path) ?? (isSocketIo(path) ? socketIo : undefined);
    if (listener !== undefined) listener(request, response);
    // The API answers unknown paths under /api, so that they cost no page.
    else if (isApi(path)) apiListener(request, response);
    else page(request, response, path);
  };
  const server = createServer(limits, inOrder({ handle, onRefused: () => metrics.refused("http", "too_many_pipelined") }));
  server.on("checkExpectation", (_, response: ServerResponse) => refuseMessage(response, EXPECTATION_REFUSAL, docsBase));
  server.on("connect", (_, socket: Duplex) => endWith(socket, answerOf(methodRefusal("CONNECT", undefined), docsBase)));
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) =>
    refuse(error, socket as Socket, docsBase),
  );
  return server;
}

interface BareOptions extends Pick<HttpOptions, "api" | "addressOf" | "log"> {
  readonly compress: Compression;
}

/**
 * Answers requests without creating Web-standard objects, which cost more than the guards. The answer is the same as through any
 * other host of the route handler.
 */
function listenBare({ api, compress, addressOf, log }: BareOptions): Listener {
  const sendParts = createPartsSender(log);
  const write = (request: IncomingMessage, response: ServerResponse, ready: Answer) => {
    if (isInParts(ready)) sendParts(response, ready);
    else writeAnswer(response, ready);
    if (hasBody(request)) discardRest(request);
  };
  const finish = (request: IncomingMessage, response: ServerResponse, plain: Answer) => {
    const ready = compress(request, plain);
    if (ready instanceof Promise) void ready.then((compressed) => write(request, response, compressed));
    else write(request, response, ready);
  };
  return (request, response) => {
    const { method = "GET", url = "/" } = request;
    const body = hasBody(request) ? bodyOf(request) : null;
    const answer = api.answer(openBareExchange(method, url, contextOf(request, addressOf), body));
    if (answer instanceof Promise) void answer.then((plain) => finish(request, response, plain));
    else finish(request, response, answer);
  };
}

/** True for a method that may have a body; that of any other is not read. */
function hasBody({ method = "GET" }: IncomingMessage): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Answers a request whose target or Host header does not form a URL. */
function unreadable(error: unknown, docsBase: string, log: Logger): Response {
  log.debug({ err: error }, "cannot parse request");
  const detail = "The request target or the Host header is malformed.";
  return toResponse(failure("invalid_parameter", { detail }, jsonHeaders(requestIdOf(null)), docsBase));
}

function answerOf({ fault, status, allow }: MessageRefusal, docsBase: string): WholeAnswer {
  const headers = { ...jsonHeaders(requestIdOf(null)), ...(allow !== undefined && { allow }) };
  const answer = failure(fault.id, fault.data, headers, docsBase);
  return { ...answer, status: status ?? answer.status };
}

/** Answers a message that must not be handled. What follows it on the connection may be read in two ways, so that it ends. */
function refuseMessage(response: ServerResponse, refusal: MessageRefusal, docsBase: string): void {
  response.shouldKeepAlive = false;
  writeAnswer(response, answerOf(refusal, docsBase));
}

function refuseTarget(response: ServerResponse, detail: string, docsBase: string): void {
  writeAnswer(response, failure("invalid_parameter", { detail }, jsonHeaders(requestIdOf(null)), docsBase));
}

/** True when the request line was too long, rather than the headers. The given bytes may start in the middle of it. */
function isLongTarget(bytes: Buffer | undefined): boolean {
  const end = bytes?.indexOf("\r\n") ?? -1;
  if (bytes === undefined || end === -1) return true;
  const line = bytes.toString("latin1", 0, end);
  return / HTTP\/1\.\d$/.test(line) && (line.length > URI_MAX_BYTES || !/^[A-Z]+ \//.test(line));
}

/** The request line of a message whose method Node does not know, as method and target. */
const UNKNOWN_METHOD = /^(?<method>[\w!#$%&'*+.^`|~-]+) (?<target>\S+) HTTP\/1\.\d\r\n/;

function unknownMethod(
  { code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer },
  docsBase: string,
): WholeAnswer | undefined {
  if (code !== "HPE_INVALID_METHOD") return undefined;
  const { method, target } = UNKNOWN_METHOD.exec(rawPacket?.toString("latin1") ?? "")?.groups ?? {};
  return method === undefined || target === undefined ? undefined : answerOf(methodRefusal(method, pathOf(target)), docsBase);
}

/** Answers a client whose request Node could not parse, or that did not come in time, and closes the connection. */
function refuse(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket, docsBase: string): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    // Browsers connect ahead of need. An answer on such a connection would be taken for that of their next request.
    if (socket.bytesRead === 0) return void socket.destroy();
    const detail = "The request did not arrive in time.";
    const late = failure("invalid_parameter", { detail }, jsonHeaders(requestIdOf(null)), docsBase);
    return void endWith(socket, { ...late, status: 408 });
  }
  const unknown = unknownMethod(error, docsBase);
  if (unknown !== undefined) return void endWith(socket, unknown);
  const overflow = error.code === "HPE_HEADER_OVERFLOW";
  const longTarget = overflow && isLongTarget(error.rawPacket);
  const headers = jsonHeaders(requestIdOf(null));
  const answer = longTarget
    ? failure(
        "uri_too_long",
        { detail: `Path and query together may have at most ${URI_MAX_BYTES} bytes.`, max: URI_MAX_BYTES },
        headers,
        docsBase,
      )
    : failure(
        "invalid_parameter",
        {
          detail: overflow
            ? `All headers together may have at most ${HEADERS_MAX_BYTES} bytes.`
            : "The request is not valid HTTP.",
        },
        headers,
        docsBase,
      );
  const status = overflow && !longTarget ? 431 : answer.status;
  endWith(socket, { ...answer, status });
}

interface UpgradeOptions {
  /** The streams; where there are none, where to find them. */
  streams: Pick<Streams, "webSocket" | "socketIo"> | string;
  /** Next's own upgrades (hot reload in development); false when it takes none. */
  pages: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  keylessCalls: Pick<KeylessCalls, "call">;
  refusal: RefusalContext;
}

/** True for a request to Socket.IO. */
function isSocketIo(path: string): boolean {
  return path.startsWith(SOCKET_IO_PATH) || path === SOCKET_IO_PATH.slice(0, -1);
}

/**
 * Routes each upgrade by its path. Some clients (curl, Java) offer HTTP/2 with every plain request; a server may ignore such
 * an upgrade (RFC 9110, 7.8), so they get the plain answer.
 */
export function routeUpgrades(server: Server, { streams, pages, keylessCalls, refusal }: UpgradeOptions): void {
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const wrong = faultOfTarget(request);
    const judged = wrong === undefined ? keylessCalls.call(request, pathOf(request.url ?? "/")) : undefined;
    if (judged === undefined) return route(request, socket, head, wrong);
    // Until somebody has the socket, a reset would end the process.
    const ignore = () => undefined;
    socket.on("error", ignore);
    void judged.then((fault) => {
      if (socket.destroyed) return;
      route(request, socket, head, fault);
      socket.off("error", ignore);
    });
  });

  function route(request: IncomingMessage, socket: Duplex, head: Buffer, fault: Fault | undefined): void {
    const path = pathOf(request.url ?? "/");
    const protocol = request.headers.upgrade?.toLowerCase() ?? "";
    if (fault !== undefined) refuseUpgrade(request, socket, fault, refusal);
    else if (protocol !== "websocket") answerPlainly(server, request, socket, refusal);
    else if (typeof streams === "string") refuseUpgrade(request, socket, new Fault("not_found", { detail: streams }), refusal);
    else if (path === STREAM_PATH || path === `${STREAM_PATH}/`) streams.webSocket(request, socket as Socket, head);
    else if (isSocketIo(path)) streams.socketIo.handleUpgrade(request, socket, head);
    else if (!path.startsWith("/_next/") || !pages(request, socket, head))
      refuseUpgrade(request, socket, new Fault("not_found", { detail: "There is no WebSocket endpoint at this path." }), refusal);
  }
}

/** The fault in the target of an upgrade; undefined when it is valid. A target in absolute form is reduced to its path. */
function faultOfTarget(request: IncomingMessage): Fault | undefined {
  if (!normalizeTarget(request))
    return new Fault("invalid_parameter", { detail: "The request target is neither a path nor a URL." });
  if ((request.url ?? "").length <= URI_MAX_BYTES) return undefined;
  return new Fault("uri_too_long", {
    detail: `Path and query together may have at most ${URI_MAX_BYTES} bytes.`,
    max: URI_MAX_BYTES,
  });
}

/** Answers as if there were no Upgrade header. A body cannot be read any more, because Node has detached its parser. */
function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex, refusal: RefusalContext): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length !== "0" || encoding !== undefined) {
    const detail = "A request with a body must not ask for another protocol: omit the Upgrade header.";
    refuseUpgrade(request, socket, new Fault("invalid_parameter", { detail, parameter: "Upgrade" }), refusal);
    return;
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.on("finish", () => {
    response.detachSocket(socket as Socket);
    (socket as Socket).destroySoon();
  });
  socket.on("error", () => undefined);
  server.emit("request", request, response);
}
