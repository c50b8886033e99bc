import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import next from "next";
import { GET as health } from "#app/api/health/route";
import { GET as ready } from "#app/api/ready/route";
import * as ingestTicks from "#app/api/v1/ingest/ticks/route";
import * as instruments from "#app/api/v1/market/instruments/route";
import * as klines from "#app/api/v1/market/klines/route";
import * as latestQuotes from "#app/api/v1/market/quotes/latest/route";
import * as latestSnapshots from "#app/api/v1/market/snapshots/latest/route";
import * as marketStatus from "#app/api/v1/market/status/route";
import * as createStreamTicket from "#app/api/v1/market/stream/tickets/route";
import { GET as asyncApi } from "#app/asyncapi.json/route";
import { POST as mcp } from "#app/mcp/route";
import { GET as metrics } from "#app/metrics/route";
import { GET as openApi } from "#app/openapi.json/route";
import { GET as serviceStatus } from "#app/status.json/route";
import type { Attempts } from "#lib/access/attempts";
import { type OperationId, operations } from "#lib/contract/operations";
import { SERVICE_STATUS_PATH } from "#lib/contract/service-status";
import type { Env } from "#lib/env";
import { createApi, type RouteModule } from "#lib/http/api";
import { pageHeaders } from "#lib/http/page-headers";
import type { Logger } from "#lib/log";
import { isSecure } from "#lib/portal/cookies";
import { createOpenDoors } from "#lib/portal/open-doors";
import { createHttpServer } from "./http";
import type { Streams } from "./streams";
import { routeUpgrades } from "./upgrades";

/** The route of each operation; the compiler misses one that is not here. */
const ROUTES: Readonly<Record<OperationId, RouteModule>> = {
  klines,
  instruments,
  latestQuotes,
  latestSnapshots,
  marketStatus,
  createStreamTicket,
  ingestTicks,
};

const NONCE_BYTES = 16;

interface ServeOptions {
  env: Env;
  log: Logger;
  /** False sends REST through Next as well. */
  direct: boolean;
  streams: Pick<Streams, "webSocket" | "socketIo">;
  addressOf: (request: IncomingMessage) => string;
  attempts: Attempts;
}

interface Pages {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Hot reload, in development; false when nobody takes it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

/**
 * Opens the doors: prepares Next and listens.
 * @throws Error naming host and port when they cannot be listened on
 */
export async function serve({
  env,
  log,
  direct,
  streams,
  addressOf,
  attempts,
}: ServeOptions): Promise<{ server: Server; address: AddressInfo }> {
  const pages = await preparePages(env, log);
  const byPath = Object.entries(ROUTES).map(([id, module]) => [operations[id as OperationId].path, module]);
  const server = createHttpServer({
    api: direct ? createApi(Object.fromEntries(byPath)) : undefined,
    direct: {
      "/api/health": health,
      "/api/ready": ready,
      "/metrics": metrics,
      "/openapi.json": openApi,
      "/asyncapi.json": asyncApi,
      "/mcp": mcp,
      [SERVICE_STATUS_PATH]: serviceStatus,
    },
    socketIo: streams.socketIo.handleRequest,
    pages: pages.handle,
    openDoors: createOpenDoors({ attempts, addressOf, docsBase: env.PUBLIC_URL ?? "" }),
    addressOf,
    log,
  });
  routeUpgrades(server, { streams, pages: pages.upgrade, refusal: { docsBase: env.PUBLIC_URL ?? "", log } });
  return { server, address: await listen(server, env) };
}

async function preparePages(env: Env, log: Logger): Promise<Pages> {
  // Next listens for upgrades on the server of its first request, and ends those it does not know: it gets a server that has
  // none but what is handed on to it.
  const httpServer = createServer();
  const development = env.NODE_ENV === "development";
  const tls = isSecure(env);
  const app = next({ dev: development, hostname: env.HOST, port: env.PORT, httpServer });
  await app.prepare();
  const handle = app.getRequestHandler();
  return {
    handle(request, response) {
      const headers = pageHeaders({ nonce: randomBytes(NONCE_BYTES).toString("base64"), tls, development });
      for (const name in headers) response.setHeader(name, headers[name] ?? "");
      // Next takes the nonce of its own scripts from here; what a client sent under this name is gone with it.
      request.headers["content-security-policy"] = headers["content-security-policy"];
      handle(request, response).catch((error: unknown) => {
        log.error({ err: error, path: request.url?.split("?")[0] }, "page failed");
        response.destroy();
      });
    },
    upgrade: (request, socket, head) => httpServer.emit("upgrade", request, socket, head),
  };
}

function listen(server: Server, { HOST, PORT }: Env): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "it is in use" : error.message;
      reject(new Error(`Cannot listen on ${HOST}:${PORT}: ${reason}. Set PORT or HOST to another.`));
    });
    server.listen(PORT, HOST, () => resolve(server.address() as AddressInfo));
  });
}
