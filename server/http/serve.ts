import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { GET as health } from "#app/api/health/route";
import { GET as ready } from "#app/api/ready/route";
import * as ingestKlines from "#app/api/v1/ingest/klines/route";
import * as ingestState from "#app/api/v1/ingest/state/route";
import * as ingestTicks from "#app/api/v1/ingest/ticks/route";
import * as key from "#app/api/v1/key/route";
import * as link from "#app/api/v1/link/route";
import * as conversion from "#app/api/v1/market/conversion/route";
import * as file from "#app/api/v1/market/files/[id]/route";
import * as files from "#app/api/v1/market/files/route";
import * as marketHours from "#app/api/v1/market/hours/route";
import * as instruments from "#app/api/v1/market/instruments/route";
import * as klines from "#app/api/v1/market/klines/route";
import * as latestQuotes from "#app/api/v1/market/quotes/latest/route";
import * as latestSnapshots from "#app/api/v1/market/snapshots/latest/route";
import * as marketStatus from "#app/api/v1/market/status/route";
import * as createStreamTicket from "#app/api/v1/market/stream/tickets/route";
import * as ticks from "#app/api/v1/market/ticks/route";
import { GET as asyncApi } from "#app/asyncapi.json/route";
import { GET as scrape } from "#app/metrics/route";
import { GET as openApi } from "#app/openapi.json/route";
import { GET as serviceStatus } from "#app/status.json/route";
import type { Attempts } from "#lib/access/limits/attempts";
import { CONNECTIONS_MAX_COUNT } from "#lib/contract/limits";
import { linkOperation } from "#lib/contract/link";
import { type OperationId, operations } from "#lib/contract/operations";
import { SERVICE_STATUS_PATH } from "#lib/contract/service-status";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import { createApi, type RouteModule } from "#lib/http/api";
import { openMetrics, openReady } from "#lib/http/operational";
import { hsts } from "#lib/http/page-headers";
import { requestIdOf } from "#lib/http/request-id";
import { failure, jsonHeaders, writeAnswer } from "#lib/http/respond";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { createAuthRateLimit } from "#lib/portal/auth-rate-limit";
import { isSecure } from "#lib/portal/cookies";
import { ADDRESS_HEADER } from "#lib/portal/visitor";
import { FORWARDED_TICKS_PATH, type TickForwarder } from "#server/cluster/tick-forwarder";
import { hasPortal } from "#server/portal/pool-shares";
import type { Portal } from "#server/portal/process";
import { refuseUpgrade } from "#server/socket/refuse-upgrade";
import type { Streams } from "#server/socket/streams";
import { serveAssets } from "./assets";
import { boundConnections } from "./bound-connections";
import type { KeylessCalls } from "./keyless-calls";
import { connectionRoom } from "./open-files";
import { createHttpServer, routeUpgrades } from "./server";

/** The route of each operation; a missing one fails to compile. */
const ROUTES: Readonly<Record<OperationId, RouteModule>> = {
  klines,
  ticks,
  files,
  file,
  instruments,
  latestQuotes,
  latestSnapshots,
  conversion,
  marketStatus,
  marketHours,
  createStreamTicket,
  ingestTicks,
  ingestKlines,
  ingestState,
  key,
};

/** Answers the whole REST interface, without Next. */
export function createRestApi() {
  const byPath = Object.entries(ROUTES).map(([id, module]) => [operations[id as OperationId].path, module]);
  return createApi({ ...Object.fromEntries(byPath), [linkOperation.path]: link });
}

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
  streams: Pick<Streams, "webSocket" | "socketIo">;
  addressOf: (request: IncomingMessage) => string;
  keylessCalls: Pick<KeylessCalls, "call">;
  attempts: Attempts;
  tickForwarder: Pick<TickForwarder, "answer">;
  /** Undefined on a node without pages. */
  portal: Pick<Portal, "handle" | "upgrade"> | undefined;
}

/** What an edge worker leaves to the market process, for which it has no state. */
interface EdgeOptions extends Omit<ServeOptions, "attempts" | "tickForwarder" | "portal"> {
  /** Passes requests on to the market process: pages, and those to operators. */
  market: Pick<Portal, "handle" | "upgrade"> & { readonly operate: Portal["handle"] };
}

/**
 * Listens. Pages wait for the portal's process; everything else is answered at once.
 * @throws Error naming host and port when they cannot be listened on
 */
export async function serve(options: ServeOptions): Promise<{ server: Server; address: AddressInfo }> {
  const { env, log, metrics, addressOf, keylessCalls, attempts, tickForwarder, portal } = options;
  const room = connectionRoom();
  if (room < CONNECTIONS_MAX_COUNT)
    log.warn({ connections: room }, "few files may be open: fewer connections and streams are served; raise ulimit -n");
  const operational = {
    "/api/health": health,
    "/api/ready": ready,
    "/metrics": scrape,
    [FORWARDED_TICKS_PATH]: tickForwarder.answer,
  };
  if (env.ROLE === "ingest") {
    const server = createIngestServer({ operational, keylessCalls, addressOf, log, metrics, hsts: hstsOf(env) });
    boundConnections(server, { trustedProxies: env.TRUSTED_PROXIES, metrics });
    return { server, address: await listen(server, env) };
  }
  const server = createClientServer(options, {
    direct: { ...operational, [SERVICE_STATUS_PATH]: serviceStatus },
    portal,
    keylessCalls,
    authRateLimit: createAuthRateLimit({ attempts, addressOf, docsBase: env.PUBLIC_URL ?? "" }),
  });
  boundConnections(server, { trustedProxies: env.TRUSTED_PROXIES, metrics });
  return { server, address: await listen(server, env) };
}

/**
 * Listens at METRICS_PORT, for operators alone: without a token, so the port must be private.
 * @throws Error naming host and port when they cannot be listened on
 */
export async function serveOperators(
  { env, log, metrics, addressOf, keylessCalls }: Pick<ServeOptions, "env" | "log" | "metrics" | "addressOf" | "keylessCalls">,
  port: number,
): Promise<Server> {
  const elsewhere = refusing("This port serves /metrics, /api/ready and /api/health.");
  const server = createHttpServer({
    api: createApi({}),
    direct: { "/api/health": health, "/api/ready": openReady, "/metrics": openMetrics },
    socketIo: elsewhere,
    pages: elsewhere,
    authRateLimit: () => undefined,
    keylessCalls,
    addressOf,
    log,
    metrics,
  });
  boundConnections(server, { trustedProxies: env.TRUSTED_PROXIES, metrics });
  await listen(server, { HOST: env.HOST, PORT: port }, "METRICS_PORT");
  return server;
}

/**
 * Listens as an edge worker, which shares the port with the others.
 * @throws Error naming host and port when they cannot be listened on
 */
export async function serveEdge(options: EdgeOptions): Promise<{ server: Server; address: AddressInfo }> {
  const { env, metrics, keylessCalls, market } = options;
  const server = createClientServer(options, {
    direct: { "/api/health": health },
    passed: { "/api/ready": market.operate, "/metrics": market.operate, [SERVICE_STATUS_PATH]: market.operate },
    portal: hasPortal(env) ? market : undefined,
    keylessCalls,
    // The market process counts the attempts.
    authRateLimit: () => undefined,
  });
  boundConnections(server, { trustedProxies: env.TRUSTED_PROXIES, metrics });
  return { server, address: await listen(server, env) };
}

/** Listens at a socket, for the edge workers of this node: what they pass on, and what they do not have. */
export async function serveWorkers(
  options: Omit<ServeOptions, "addressOf" | "keylessCalls">,
  socketPath: string,
): Promise<Server> {
  const { env, attempts, tickForwarder, portal } = options;
  const addressOf = ({ headers }: IncomingMessage) => String(headers[ADDRESS_HEADER] ?? "");
  const server = createClientServer(
    { ...options, addressOf },
    {
      direct: {
        "/api/ready": ready,
        "/metrics": scrape,
        [FORWARDED_TICKS_PATH]: tickForwarder.answer,
        [SERVICE_STATUS_PATH]: serviceStatus,
      },
      portal,
      // The worker has counted them.
      keylessCalls: { call: () => undefined },
      authRateLimit: createAuthRateLimit({ attempts, addressOf, docsBase: env.PUBLIC_URL ?? "" }),
      inner: true,
    },
  );
  server.listen(socketPath);
  await once(server, "listening");
  return server;
}

/** Strict-Transport-Security, where clients connect by HTTPS. */
export function hstsOf(env: Pick<Env, "PUBLIC_URL" | "HSTS_SUBDOMAINS">): string | undefined {
  return isSecure(env) ? hsts(env.HSTS_SUBDOMAINS === "on") : undefined;
}

type HttpOptions = Parameters<typeof createHttpServer>[0];

/** The server of clients: REST, streams and pages. */
function createClientServer(
  options: Pick<ServeOptions, "env" | "log" | "metrics" | "streams" | "addressOf">,
  parts: Pick<HttpOptions, "direct" | "passed" | "keylessCalls" | "authRateLimit" | "inner"> & Pick<ServeOptions, "portal">,
): Server {
  const { env, log, metrics, streams, addressOf } = options;
  const { portal, direct, keylessCalls, ...rest } = parts;
  const pages = portal?.handle ?? refusing("This node serves no pages.");
  const server = createHttpServer({
    ...rest,
    api: createRestApi(),
    direct: { ...direct, "/openapi.json": openApi, "/asyncapi.json": asyncApi, "/mcp": mcp },
    socketIo: streams.socketIo.handleRequest,
    // In development Next compiles these files when they are asked for.
    pages: env.NODE_ENV === "development" || portal === undefined ? pages : serveAssets({ folder: ASSETS_FOLDER, pages }),
    keylessCalls,
    addressOf,
    log,
    metrics,
    hsts: hstsOf(env),
  });
  const refusal = { docsBase: env.PUBLIC_URL ?? "", log };
  routeUpgrades(server, { streams, pages: portal?.upgrade ?? (() => false), keylessCalls, refusal });
  return server;
}

/** A listener that answers every request with not_found. */
function refusing(detail: string) {
  return (_request: IncomingMessage, response: ServerResponse): void => {
    writeAnswer(response, failure("not_found", { detail }, jsonHeaders(requestIdOf(null))));
  };
}

interface IngestServerOptions extends Pick<ServeOptions, "addressOf" | "log" | "metrics"> {
  keylessCalls: ServeOptions["keylessCalls"];
  hsts: string | undefined;
  operational: Parameters<typeof createHttpServer>[0]["direct"];
}

/** What a feeder calls. */
const INGEST_IDS = ["ingestTicks", "ingestKlines", "ingestState"] as const satisfies readonly OperationId[];

/** The server of an ingest node: it serves feeders and answers operational requests, but no clients. */
function createIngestServer({
  operational,
  keylessCalls,
  addressOf,
  log,
  metrics,
  hsts: strictTransport,
}: IngestServerOptions): Server {
  const detail = "This node only ingests market data; send client requests to an edge node.";
  const elsewhere = refusing(detail);
  const server = createHttpServer({
    api: createApi(Object.fromEntries(INGEST_IDS.map((id) => [operations[id].path, ROUTES[id]]))),
    direct: operational,
    socketIo: elsewhere,
    pages: elsewhere,
    authRateLimit: () => undefined,
    keylessCalls,
    addressOf,
    log,
    metrics,
    hsts: strictTransport,
  });
  server.on("upgrade", (request, socket) => {
    refuseUpgrade(request, socket, new Fault("not_found", { detail }), { docsBase: "", log });
  });
  return server;
}

function listen(server: Server, { HOST, PORT }: Pick<Env, "HOST" | "PORT">, setting = "PORT"): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
      reject(new Error(`Cannot listen on ${HOST}:${PORT}: ${reason}. Set ${setting} or HOST to a different value.`));
    });
    server.listen(PORT, HOST, () => resolve(server.address() as AddressInfo));
  });
}
