import type { IncomingMessage, Server, ServerResponse } from "node:http";
import path from "node:path";
import type { Attempts } from "#lib/access/limits/attempts";
import { CONNECTIONS_MAX_COUNT } from "#lib/contract/limits";
import type { Env } from "#lib/env";
import { createApi } from "#lib/http/api";
import { hsts } from "#lib/http/page-headers";
import { requestIdOf } from "#lib/http/request-id";
import { failure, jsonHeaders, writeAnswer } from "#lib/http/respond";
import type { CallHandler } from "#lib/http/route";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { SECOND_MS } from "#lib/units";
import { createAuthRateLimit } from "#server/pages/sign-in/auth-rate-limit";
import { isSecure } from "#server/pages/sign-in/cookies";
import { ADDRESS_HEADER } from "#server/pages/visitor";
import type { Portal } from "#server/portal/process";
import type { Streams } from "#server/socket/streams";
import { serveAssets } from "./assets";
import { boundConnections } from "./bound-connections";
import { connectionRoom } from "./open-files";
import { createHttpServer, routeUpgrades } from "./server";

/** Relative to the working directory, as Next's own build folder is. */
const ASSETS_FOLDER = path.join(".next", "static");

type HttpOptions = Parameters<typeof createHttpServer>[0];

interface ServeOptions extends Pick<HttpOptions, "addressOf" | "keylessCalls"> {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What a process has for those who connect to one of its servers. Everything else is answered with not_found. */
export interface Served extends Pick<HttpOptions, "direct" | "passed" | "inner"> {
  readonly calls: readonly CallHandler[];
  readonly streams?: Pick<Streams, "webSocket" | "socketIo">;
  readonly portal?: Pick<Portal, "handle" | "upgrade"> | undefined;
  /** Limits sign-ins, where another process does not. */
  readonly attempts?: Attempts | undefined;
  /** Says where to ask for everything else. */
  readonly elsewhere?: string;
}

/** The process that was asked has said who asks, and has counted it. */
const ASKED: Pick<ServeOptions, "addressOf" | "keylessCalls"> = {
  addressOf: ({ headers }) => String(headers[ADDRESS_HEADER] ?? ""),
  keylessCalls: { call: () => undefined },
};

/**
 * Serves what a process has, at a port or at the path of a socket.
 * @throws Error naming host and port when they cannot be listened on
 */
export function serveClients(options: ServeOptions, served: Served, at: number | string = options.env.PORT): Promise<Server> {
  const { env, log, metrics } = options;
  const server = createServer(options, served);
  if (typeof at === "number") boundConnections(server, { trustedProxies: env.TRUSTED_PROXIES, metrics });
  const room = connectionRoom();
  if (at === env.PORT && room < CONNECTIONS_MAX_COUNT)
    log.warn({ connections: room }, "few files may be open: fewer connections and streams are served; raise ulimit -n");
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (typeof at === "string") return reject(error);
      const reason = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
      const setting = at === env.PORT ? "PORT" : "METRICS_PORT";
      reject(new Error(`Cannot listen on ${env.HOST}:${at}: ${reason}. Set ${setting} or HOST to a different value.`));
    });
    const listening = () => resolve(server);
    if (typeof at === "number") server.listen(at, env.HOST, listening);
    else server.listen(at, listening);
  });
}

/** Strict-Transport-Security, where clients connect by HTTPS. */
export function hstsOf(env: Pick<Env, "PUBLIC_URL" | "HSTS_SUBDOMAINS">): string | undefined {
  return isSecure(env) ? hsts(env.HSTS_SUBDOMAINS === "on") : undefined;
}

function createServer(options: ServeOptions, served: Served): Server {
  const { env, log, metrics } = options;
  const { calls, streams, portal, attempts, elsewhere: detail = "This node serves no pages.", ...rest } = served;
  const { addressOf, keylessCalls } = served.inner ? ASKED : options;
  const docsBase = env.PUBLIC_URL ?? "";
  const refuse = (_: IncomingMessage, response: ServerResponse) =>
    writeAnswer(response, failure("not_found", { detail }, jsonHeaders(requestIdOf(null)), docsBase));
  const pages = portal?.handle ?? refuse;
  const server = createHttpServer({
    ...rest,
    docsBase,
    hsts: hstsOf(env),
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
