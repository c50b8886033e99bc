import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Duplex } from "node:stream";
import { GET as health } from "#app/api/health/route";
import { GET as ready } from "#app/api/ready/route";
import * as ingestTicks from "#app/api/v1/ingest/ticks/route";
import * as key from "#app/api/v1/key/route";
import * as instruments from "#app/api/v1/market/instruments/route";
import * as klines from "#app/api/v1/market/klines/route";
import * as latestQuotes from "#app/api/v1/market/quotes/latest/route";
import * as latestSnapshots from "#app/api/v1/market/snapshots/latest/route";
import * as marketStatus from "#app/api/v1/market/status/route";
import * as createStreamTicket from "#app/api/v1/market/stream/tickets/route";
import { GET as asyncApi } from "#app/asyncapi.json/route";
import { GET as scrape } from "#app/metrics/route";
import { GET as openApi } from "#app/openapi.json/route";
import { GET as serviceStatus } from "#app/status.json/route";
import type { Attempts } from "#lib/access/limits/attempts";
import { type OperationId, operations } from "#lib/contract/operations";
import { SERVICE_STATUS_PATH } from "#lib/contract/service-status";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import { createApi, type RouteModule } from "#lib/http/api";
import { pageHeaders } from "#lib/http/page-headers";
import { requestIdOf } from "#lib/http/request-id";
import { failure, jsonHeaders } from "#lib/http/respond";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { createAuthRateLimit } from "#lib/portal/auth-rate-limit";
import { isSecure } from "#lib/portal/cookies";
import { FORWARDED_TICKS_PATH, type TickForwarder } from "#server/cluster/tick-forwarder";
import { refuseUpgrade } from "#server/socket/refuse-upgrade";
import type { Streams } from "#server/socket/streams";
import { serveAssets } from "./assets";
import { createHttpServer, routeUpgrades } from "./server";

/** The route of each operation; a missing one fails to compile. */
const ROUTES: Readonly<Record<OperationId, RouteModule>> = {
  klines,
  instruments,
  latestQuotes,
  latestSnapshots,
  marketStatus,
  createStreamTicket,
  ingestTicks,
  key,
};

/** Answers the whole REST interface, without Next. */
export function createRestApi() {
  const byPath = Object.entries(ROUTES).map(([id, module]) => [operations[id as OperationId].path, module]);
  return createApi(Object.fromEntries(byPath));
}

const NONCE_BYTES = 16;
/** Relative to the working directory, as Next's own build folder is. */
const ASSETS_FOLDER = path.join(".next", "static");

/** Loaded on the first call, because its dependencies slow the start down. */
async function mcp(request: Request, context?: unknown): Promise<Response> {
  const { POST } = await import("#app/mcp/route");
  return POST(request, context);
}

interface ServeOptions {
  env: Env;
  log: Logger;
  metrics: Metrics;
  /** False routes REST through Next as well. */
  direct: boolean;
  streams: Pick<Streams, "webSocket" | "socketIo">;
  addressOf: (request: IncomingMessage) => string;
  attempts: Attempts;
  tickForwarder: Pick<TickForwarder, "answer">;
}

interface Pages {
  /** Prepares the pages; earlier requests wait for it. */
  prepare(): Promise<void>;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Hot reload, in development; false when there is no handler. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

/**
 * Listens, then prepares the pages. Everything but pages answers at once; page requests wait.
 * @throws Error naming host and port when they cannot be listened on
 */
export async function serve({
  env,
  log,
  metrics,
  direct,
  streams,
  addressOf,
  attempts,
  tickForwarder,
}: ServeOptions): Promise<{ server: Server; address: AddressInfo }> {
  const operational = {
    "/api/health": health,
    "/api/ready": ready,
    "/metrics": scrape,
    [FORWARDED_TICKS_PATH]: tickForwarder.answer,
  };
  const refusal = { docsBase: env.PUBLIC_URL ?? "", log };
  const secure = isSecure(env);
  if (env.ROLE === "ingest") {
    const server = createIngestServer({ operational, addressOf, log, metrics, secure });
    return { server, address: await listen(server, env) };
  }
  const pages = createPages(env, log, secure);
  const server = createHttpServer({
    api: direct ? createRestApi() : undefined,
    direct: {
      ...operational,
      "/openapi.json": openApi,
      "/asyncapi.json": asyncApi,
      "/mcp": mcp,
      [SERVICE_STATUS_PATH]: serviceStatus,
    },
    socketIo: streams.socketIo.handleRequest,
    // In development Next compiles these files when they are asked for.
    pages: env.NODE_ENV === "development" ? pages.handle : serveAssets({ folder: ASSETS_FOLDER, pages: pages.handle }),
    authRateLimit: createAuthRateLimit({ attempts, addressOf, docsBase: env.PUBLIC_URL ?? "" }),
    addressOf,
    log,
    metrics,
    secure,
  });
  routeUpgrades(server, { streams, pages: pages.upgrade, refusal });
  const address = await listen(server, env);
  await pages.prepare();
  return { server, address };
}

interface IngestServerOptions extends Pick<ServeOptions, "addressOf" | "log" | "metrics"> {
  secure: boolean;
  operational: Parameters<typeof createHttpServer>[0]["direct"];
}

/** The server of an ingest node: it accepts ticks and answers operational requests, but no clients. */
function createIngestServer({ operational, addressOf, log, metrics, secure }: IngestServerOptions): Server {
  const detail = "This node only ingests market data; send client requests to an edge node.";
  const elsewhere = (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = failure("not_found", { detail }, jsonHeaders(requestIdOf(null)));
    response.writeHead(status, headers).end(body);
  };
  const server = createHttpServer({
    api: createApi({ [operations.ingestTicks.path]: ROUTES.ingestTicks }),
    direct: operational,
    socketIo: elsewhere,
    pages: elsewhere,
    authRateLimit: () => undefined,
    addressOf,
    log,
    metrics,
    secure,
  });
  server.on("upgrade", (request, socket) => {
    refuseUpgrade(request, socket, new Fault("not_found", { detail }), { docsBase: "", log });
  });
  return server;
}

function createPages(env: Env, log: Logger, tls: boolean): Pages {
  // Next attaches to the upgrades of its server and closes those it does not know. Its own server limits it to the
  // upgrades passed to it.
  const httpServer = createServer();
  const development = env.NODE_ENV === "development";
  const prepared = new AbortController();
  let handle: ReturnType<ReturnType<typeof import("next").default>["getRequestHandler"]>;
  return {
    async prepare() {
      const { default: next } = await import("next");
      const app = next({ dev: development, hostname: env.HOST, port: env.PORT, httpServer });
      handle = app.getRequestHandler();
      await app.prepare();
      prepared.abort();
    },
    async handle(request, response) {
      if (!prepared.signal.aborted) await once(prepared.signal, "abort");
      const headers = pageHeaders({ nonce: randomBytes(NONCE_BYTES).toString("base64"), tls, development });
      for (const name in headers) response.setHeader(name, headers[name] ?? "");
      // Next reads the nonce of its scripts from this header; this also discards a value from the client.
      request.headers["content-security-policy"] = headers["content-security-policy"];
      handle(request, response).catch((error: unknown) => {
        log.error({ err: error, path: request.url?.split("?")[0] }, "page failed");
        response.destroy();
      });
    },
    upgrade: (request, socket, head) => prepared.signal.aborted && httpServer.emit("upgrade", request, socket, head),
  };
}

function listen(server: Server, { HOST, PORT }: Env): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
      reject(new Error(`Cannot listen on ${HOST}:${PORT}: ${reason}. Set PORT or HOST to a different value.`));
    });
    server.listen(PORT, HOST, () => resolve(server.address() as AddressInfo));
  });
}
