import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { GET as health } from "#app/api/health/route";
import { GET as ready } from "#app/api/ready/route";
import { GET as asyncApi } from "#app/asyncapi.json/route";
import { GET as grafana } from "#app/grafana.json/route";
import { GET as scrape } from "#app/metrics/route";
import { GET as openApi } from "#app/openapi.json/route";
import { GET as serviceStatus } from "#app/status.json/route";
import type { Attempts } from "#lib/access/limits/attempts";
import { CONNECTIONS_MAX_COUNT } from "#lib/contract/limits";
import { SERVICE_STATUS_PATH } from "#lib/contract/service-status";
import type { Env } from "#lib/env";
import { createApi } from "#lib/http/api";
import { readOnly } from "#lib/http/methods";
import { openMetrics, openReady } from "#lib/http/operational";
import { hsts } from "#lib/http/page-headers";
import { requestIdOf } from "#lib/http/request-id";
import { failure, jsonHeaders, writeAnswer } from "#lib/http/respond";
import type { CallHandler } from "#lib/http/route";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { handlers } from "#lib/operations/handlers";
import { handler as link } from "#lib/operations/link/answer";
import { SECOND_MS } from "#lib/units";
import { FORWARDED_TICKS_PATH, type TickForwarder } from "#server/cluster/tick-forwarder";
import { createAuthRateLimit } from "#server/pages/sign-in/auth-rate-limit";
import { isSecure } from "#server/pages/sign-in/cookies";
import { ADDRESS_HEADER } from "#server/pages/visitor";
import type { Portal } from "#server/portal/process";
import { hasPortal } from "#server/processes/pool-shares";
import type { Streams } from "#server/socket/streams";
import { serveAssets } from "./assets";
import { boundConnections } from "./bound-connections";
import { connectionRoom } from "./open-files";
import { createHttpServer, routeUpgrades } from "./server";

const CALLS: readonly CallHandler[] = [...Object.values(handlers), link];

/** Answers the whole REST interface, without Next. */
export const createRestApi = () => createApi(CALLS);

/** Relative to the working directory, as Next's own build folder is. */
const ASSETS_FOLDER = path.join(".next", "static");

/** Loaded on the first call, because its dependencies slow the start down. */
async function mcp(request: Request, context?: unknown): Promise<Response> {
  const { POST } = await import("#app/mcp/route");
  return POST(request, context);
}

const DOCUMENTS = {
  "/openapi.json": readOnly(openApi),
  "/asyncapi.json": readOnly(asyncApi),
  "/grafana.json": readOnly(grafana),
  "/mcp": mcp,
};

type HttpOptions = Parameters<typeof createHttpServer>[0];

interface ServeOptions extends Pick<HttpOptions, "addressOf" | "keylessCalls"> {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What a server has for those who connect to it. */
interface Served extends Pick<HttpOptions, "direct" | "passed" | "inner" | "hsts"> {
  readonly calls: readonly CallHandler[];
  readonly streams?: Pick<Streams, "webSocket" | "socketIo">;
  readonly portal?: Pick<Portal, "handle" | "upgrade"> | undefined;
  /** Limits sign-ins, where another process does not. */
  readonly attempts?: Attempts;
  /** Says where to ask for everything else. */
  readonly elsewhere?: string;
}

interface MarketOptions extends ServeOptions, Required<Pick<Served, "streams" | "attempts">>, Pick<Served, "portal"> {
  readonly tickForwarder: Pick<TickForwarder, "answer">;
}

interface EdgeOptions extends ServeOptions, Required<Pick<Served, "streams">> {
  /** Passes requests on to the market process, for which an edge worker has no state: pages, and those to operators. */
  readonly passOn: Pick<Portal, "handle" | "upgrade"> & { readonly operate: Portal["handle"] };
}

/** Listens for clients; on an ingest node for feeders alone. @throws Error naming host and port when they cannot be listened on */
export async function serveClients(options: MarketOptions) {
  const { env, log, streams, portal, attempts, tickForwarder } = options;
  const room = connectionRoom();
  if (room < CONNECTIONS_MAX_COUNT)
    log.warn({ connections: room }, "few files may be open: fewer connections and streams are served; raise ulimit -n");
  const operational = {
    "/api/health": health,
    "/api/ready": ready,
    "/metrics": scrape,
    [FORWARDED_TICKS_PATH]: tickForwarder.answer,
  };
  if (env.ROLE !== "ingest") {
    const direct = { ...operational, ...DOCUMENTS, [SERVICE_STATUS_PATH]: serviceStatus };
    return listen(createServer(options, { calls: CALLS, direct, streams, portal, attempts, hsts: hstsOf(env) }), options);
  }
  const elsewhere = "This node only ingests market data; send client requests to an edge node.";
  const calls = CALLS.filter(({ operation }) => operation.scope === "market:ingest");
  return listen(createServer(options, { calls, direct: operational, elsewhere, hsts: hstsOf(env) }), options);
}

/**
 * Listens at a port for operators alone: without a token, so the port must be private.
 * @throws Error naming host and port when they cannot be listened on
 */
export function serveOperators(options: ServeOptions, port: number) {
  const elsewhere = "This port serves /metrics, /api/ready and /api/health.";
  const direct = { "/api/health": health, "/api/ready": openReady, "/metrics": openMetrics };
  return listen(createServer(options, { calls: [], direct, elsewhere }), options, port, "METRICS_PORT");
}

/** Listens as an edge worker, which shares the port with the others. @throws Error naming host and port when they cannot be listened on */
export function serveEdge(options: EdgeOptions) {
  const { env, streams, passOn } = options;
  const { operate } = passOn;
  const server = createServer(options, {
    calls: CALLS,
    direct: { "/api/health": health, ...DOCUMENTS },
    passed: { "/api/ready": operate, "/metrics": operate, [SERVICE_STATUS_PATH]: operate },
    streams,
    portal: hasPortal(env) ? passOn : undefined,
    hsts: hstsOf(env),
  });
  return listen(server, options);
}

/** Listens at a socket, for the other processes of this node: what they pass on, and what they do not have. */
export async function serveInner(
  options: Omit<MarketOptions, "addressOf" | "keylessCalls">,
  socketPath: string,
): Promise<Server> {
  const { env, streams, portal, attempts, tickForwarder } = options;
  const addressOf = ({ headers }: IncomingMessage) => String(headers[ADDRESS_HEADER] ?? "");
  // The process that was asked has counted them.
  const keylessCalls = { call: () => undefined };
  const direct = {
    "/api/ready": ready,
    "/metrics": scrape,
    [FORWARDED_TICKS_PATH]: tickForwarder.answer,
    [SERVICE_STATUS_PATH]: serviceStatus,
    ...DOCUMENTS,
  };
  const served = { calls: CALLS, direct, streams, portal, attempts, inner: true, hsts: hstsOf(env) };
  const server = createServer({ ...options, addressOf, keylessCalls }, served);
  server.listen(socketPath);
  await once(server, "listening");
  return server;
}

/** Strict-Transport-Security, where clients connect by HTTPS. */
export function hstsOf(env: Pick<Env, "PUBLIC_URL" | "HSTS_SUBDOMAINS">): string | undefined {
  return isSecure(env) ? hsts(env.HSTS_SUBDOMAINS === "on") : undefined;
}

/** Makes a server of what it has. Everything else is answered with not_found. */
function createServer(options: ServeOptions, served: Served): Server {
  const { env, log, metrics, addressOf, keylessCalls } = options;
  const { calls, streams, portal, attempts, elsewhere: detail = "This node serves no pages.", ...rest } = served;
  const docsBase = env.PUBLIC_URL ?? "";
  const refuse = (_: IncomingMessage, response: ServerResponse) =>
    writeAnswer(response, failure("not_found", { detail }, jsonHeaders(requestIdOf(null))));
  const pages = portal?.handle ?? refuse;
  const server = createHttpServer({
    ...rest,
    keepAliveMs: rest.inner ? 0 : env.KEEP_ALIVE_S * SECOND_MS,
    api: createApi(calls),
    socketIo: streams?.socketIo.handleRequest ?? refuse,
    // In development Next compiles these files when they are asked for.
    pages: env.NODE_ENV === "development" || portal === undefined ? pages : serveAssets({ folder: ASSETS_FOLDER, pages }),
    authRateLimit: attempts ? createAuthRateLimit({ attempts, addressOf, docsBase }) : () => undefined,
    keylessCalls,
    addressOf,
    log,
    metrics,
  });
  const pageUpgrade = portal?.upgrade ?? (() => false);
  routeUpgrades(server, { streams: streams ?? detail, pages: pageUpgrade, keylessCalls, refusal: { docsBase, log } });
  return server;
}

type Listening = { readonly server: Server; readonly address: AddressInfo };

function listen(server: Server, { env, metrics }: ServeOptions, port = env.PORT, setting = "PORT"): Promise<Listening> {
  boundConnections(server, { trustedProxies: env.TRUSTED_PROXIES, metrics });
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
      reject(new Error(`Cannot listen on ${env.HOST}:${port}: ${reason}. Set ${setting} or HOST to a different value.`));
    });
    server.listen(port, env.HOST, () => resolve({ server, address: server.address() as AddressInfo }));
  });
}
