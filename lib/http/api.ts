import type { Access } from "#lib/access/access";
import type { Principal } from "#lib/access/principal";
import { ERRORS } from "#lib/contract/errors";
import type { Operation } from "#lib/contract/operation";
import { STREAM_PATH } from "#lib/contract/stream";
import { Fault, isFault } from "#lib/fault";
import { REST_CALLS } from "#lib/operations/link/declaration";
import { runningParts } from "#lib/runtime";
import { admitOrigin, preflight } from "./cors";
import { docsBaseOf, type Exchange, headerOf, requireShortTarget } from "./exchange";
import { verifyKey } from "./guards";
import { allowed, methodFault } from "./methods";
import { failureOf, withoutBody } from "./respond";
import { type CallHandler, guardedHandler, handlerOf, type RouteHandler } from "./route";

/** A path that is served: its methods for the Allow header, and the refusal of all others. */
interface Served {
  readonly methods: readonly string[];
  readonly refusal: RouteHandler;
}

const SERVED: ReadonlyMap<string, Served> = new Map(
  REST_CALLS.map((call) => {
    const methods = allowed([call.method]);
    return [call.path, { methods, refusal: refusalOf(call, methods) }];
  }),
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

/** The methods of a path of the REST API, for the Allow header; undefined where there is no such path. */
export function methodsOf(path: string): readonly string[] | undefined {
  return ofPath(SERVED, path)?.methods;
}

/**
 * Makes the entry point of /api/v1. It finds the handler of a call by its method and path. Any other call gets an error envelope,
 * never HTML.
 */
export function createApi(handlers: readonly CallHandler[]): RouteHandler {
  const byPath = (method: string) =>
    new Map(handlers.filter(({ operation }) => operation.method === method).map((handler) => [handler.operation.path, handler]));
  const routes = { GET: byPath("GET"), POST: byPath("POST") };
  return handlerOf((exchange) => {
    const method = exchange.method === "HEAD" ? "GET" : exchange.method;
    const handler = method === "GET" || method === "POST" ? ofPath(routes[method], exchange.path) : undefined;
    return (handler ?? unserved).answer(exchange);
  });
}

/** Answers preflights, wrong methods and unknown paths. Also the catch-all route of /api under Next. */
export const unserved: RouteHandler = handlerOf((exchange) => {
  const { path, method, headers, origin } = exchange;
  const served = ofPath(SERVED, path);
  if (served !== undefined && method !== "OPTIONS") return served.refusal.answer(exchange);
  if (origin !== null) admitOrigin(headers, origin);
  try {
    requireShortTarget({ path, queryText: "" });
    if (served !== undefined) return preflight(headers, origin, served.methods);
    if (plain(path) === STREAM_PATH) throw upgradeRequired(headers);
    runningParts()?.metrics.request("none", ERRORS.not_found.code, 0);
    throw notFound();
  } catch (error) {
    const answer = failureOf(isFault(error) ? error : new Fault("internal_error"), headers, docsBaseOf(exchange));
    return method === "HEAD" ? withoutBody(answer) : answer;
  }
});

/** The fault for a path of the API where nothing is. */
export function notFound(): Fault {
  return new Fault("not_found", { detail: "No resource exists at this path." });
}

/** The stream's path, requested over plain HTTP. */
function upgradeRequired(headers: Record<string, string>): Fault {
  headers.upgrade = "websocket";
  return new Fault("upgrade_required", { detail: "This endpoint is a WebSocket. Connect with a WebSocket client." });
}

/** Refuses the methods that the path of a call does not have, and logs them for the key that was sent, if it is one. */
function refusalOf(call: Operation, methods: readonly string[]): RouteHandler {
  return guardedHandler(call, async (exchange, { access }) => {
    if (headerOf(exchange, "authorization") !== null) exchange.principal = await callerOf(access, exchange);
    exchange.headers.allow = methods.join(", ");
    throw methodFault(exchange.method, methods);
  });
}

async function callerOf(access: Access, exchange: Exchange): Promise<Principal | undefined> {
  try {
    return await verifyKey(access, exchange);
  } catch {
    return undefined;
  }
}
