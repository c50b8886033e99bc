import { unserved } from "#lib/http/api";
import type { CallHandler, RouteHandler } from "#lib/http/route";
import { runningParts } from "#lib/runtime";
import { runningPortal } from "./runtime";

/** Answers here where the market runs, and in the portal's process by the market process of this node. */
const whereMarketRuns = (handler: RouteHandler) => (request: Request) => {
  const portal = runningParts() === undefined ? runningPortal() : undefined;
  return portal === undefined ? handler(request) : portal.callMarket(request);
};

/** What the `route.ts` of a call exports for Next: its handler, and refusals of all other methods. Next derives HEAD from GET. */
export function routeOf(handler: CallHandler) {
  const { method } = handler.operation;
  const [call, refusal] = [whereMarketRuns(handler), whereMarketRuns(unserved)];
  return {
    GET: method === "GET" ? call : refusal,
    POST: method === "POST" ? call : refusal,
    PUT: refusal,
    PATCH: refusal,
    DELETE: refusal,
    OPTIONS: refusal,
  };
}
