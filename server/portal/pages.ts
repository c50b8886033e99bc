import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { HEADERS_MAX_BYTES } from "#lib/contract/limits";
import type { Env } from "#lib/env";
import { pageHeaders } from "#lib/http/page-headers";
import type { Logger } from "#lib/log";
import { letNextReadBuiltSettings } from "#server/env";
import { BRAND_PATH } from "#server/pages/downloads/brand-pictures";
import { SHARED_HEADER } from "#server/pages/shared-pages";
import { isSecure } from "#server/pages/sign-in/cookies";

const NONCE_BYTES = 16;

/** Begins to load Next, which takes a while. */
export const loadNext = () => void import("next");

/** Prepares Next and serves its pages on the given socket, to the market process alone. */
export async function servePages(env: Env, socketPath: string, log: Logger): Promise<Server> {
  const development = env.NODE_ENV === "development";
  const tls = isSecure(env);
  const limits = {
    // The market process has limited them already, and it adds some of its own.
    maxHeaderSize: 2 * HEADERS_MAX_BYTES,
    // It keeps its connections, and would see a request fail on one that is closed here.
    keepAliveTimeout: 0,
    requestTimeout: 0,
  };
  if (!development) letNextReadBuiltSettings();
  const { default: next } = await import("next");
  // Next attaches to the upgrades of its server: hot reload, in development.
  const server = createServer(limits);
  const app = next({ dev: development, hostname: env.HOST, port: env.PORT, httpServer: server });
  const handle = app.getRequestHandler();
  await app.prepare();
  server.on("request", (request, response) => {
    // The market process sets the policy of a page for everybody, from the page itself.
    const shared = request.headers[SHARED_HEADER] !== undefined;
    // Next keeps a policy that is set already; that of a picture is stricter.
    const isPicture = request.url?.startsWith(BRAND_PATH) === true;
    const nonce = shared || isPicture ? undefined : randomBytes(NONCE_BYTES).toString("base64");
    const headers = pageHeaders({ nonce, tls, development });
    for (const name in headers) response.setHeader(name, headers[name] ?? "");
    // Next reads the nonce of its scripts from this header; this also discards a value from the client.
    request.headers["content-security-policy"] = headers["content-security-policy"];
    handle(request, response).catch((error: unknown) => {
      log.error({ err: error, path: request.url?.split("?")[0] }, "page failed");
      response.destroy();
    });
  });
  server.listen(socketPath);
  await once(server, "listening");
  return server;
}
