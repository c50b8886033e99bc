import { ERRORS } from "#lib/contract/errors";
import { REST_CALLS } from "#lib/contract/link";
import { STREAM_PATH } from "#lib/contract/stream";
import { Fault, isFault } from "#lib/fault";
import { runningParts } from "#lib/runtime";
import { admitOrigin, preflight } from "./cors";
import { docsBaseOf, requireShortTarget } from "./exchange";
import { failureOf, withoutBody } from "./respond";
import { handlerOf, type RouteHandler } from "./route";

/** The methods a `route.ts` exports. */
export type RouteModule = Partial<Record<"GET" | "POST", RouteHandler>>;

/** Methods of each path that is served; GET brings HEAD with it. */
const METHODS: ReadonlyMap<string, readonly string[]> = new Map(
  REST_CALLS.map(({ path, method }) => [path, method === "GET" ? ["GET", "HEAD"] : [method]]),
);

/** Normalizes a path for comparison: one trailing slash is ignored. */
function plain(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** What is kept of a path, also of one whose last part is a parameter. */
function ofPath<Kept>(kept: ReadonlyMap<string, Kept>, path: string): Kept | undefined {
  const known = plain(path);
  return kept.get(known) ?? kept.get(known.replace(/[^/]+$/, "{id}"));
}

/**
 * Makes the entry point of /api/v1. It finds the route of an operation by its path and calls it. Any other path gets an
 * error envelope, never HTML.
 * @param modules the route of each operation, by path
 */
export function createApi(modules: Readonly<Record<string, RouteModule>>): RouteHandler {
  const routes = new Map(Object.entries(modules));
  return handlerOf((exchange) => {
    const module = ofPath(routes, exchange.path);
    const method = exchange.method === "HEAD" ? "GET" : exchange.method;
    const handler = method === "GET" || method === "POST" ? module?.[method] : undefined;
    return (handler ?? unserved).answer(exchange);
  });
}

/** Answers preflights, wrong methods and unknown paths. Also the catch-all route of /api under Next, where no market runs. */
export const unserved: RouteHandler = handlerOf((exchange) => {
  const { path, method, headers, origin } = exchange;
  const methods = ofPath(METHODS, path);
  if (origin !== null) admitOrigin(headers, origin);
  const running = runningParts();
  try {
    requireShortTarget({ path, queryText: "" });
    if (method === "OPTIONS" && methods !== undefined) return preflight(headers, origin, methods);
    if (plain(path) === STREAM_PATH) throw upgradeRequired(headers);
    running?.metrics.request("none", (methods === undefined ? ERRORS.not_found : ERRORS.method_not_allowed).code, 0);
    throw methods === undefined ? notFound() : notAllowed(method, methods, headers);
  } catch (error) {
    const answer = failureOf(isFault(error) ? error : new Fault("internal_error"), headers, docsBaseOf(exchange));
    return method === "HEAD" ? withoutBody(answer) : answer;
  }
});

function notFound(): Fault {
  return new Fault("not_found", { detail: "No resource exists at this path." });
}

/** The stream's path, requested over plain HTTP. */
function upgradeRequired(headers: Record<string, string>): Fault {
  headers.upgrade = "websocket";
  return new Fault("upgrade_required", { detail: "This endpoint is a WebSocket. Connect with a WebSocket client." });
}

function notAllowed(method: string, methods: readonly string[], headers: Record<string, string>): Fault {
  headers.allow = [...methods, "OPTIONS"].join(", ");
  return new Fault("method_not_allowed", { detail: `This path does not accept ${method.slice(0, 20)}.`, allowed: [...methods] });
}
