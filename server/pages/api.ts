import { unserved } from "#lib/http/api";
import { accountRoutes } from "#server/pages/api/account";
import { adminAccountRoutes } from "#server/pages/api/admin-accounts";
import { adminDataRoutes } from "#server/pages/api/admin-data";
import { adminMarketRoutes } from "#server/pages/api/admin-market";
import { billingRoutes } from "#server/pages/api/billing";
import { connectionRoutes } from "#server/pages/api/connections";
import { keyRoutes } from "#server/pages/api/keys";
import { linkRoutes } from "#server/pages/api/links";
import { organisationRoutes } from "#server/pages/api/organisation";
import { secondFactorRoutes } from "#server/pages/api/second-factors";
import { signInRoutes } from "#server/pages/api/sign-in";
import { usageRoutes } from "#server/pages/api/usage";
import { webhookRoutes } from "#server/pages/api/webhooks";
import { refuseOther } from "./methods";
import type { PortalRoute } from "./route";

/** All routes of the portal's JSON API. */
export const PORTAL_ROUTES = [
  ...signInRoutes,
  ...accountRoutes,
  ...organisationRoutes,
  ...secondFactorRoutes,
  ...keyRoutes,
  ...connectionRoutes,
  ...linkRoutes,
  ...usageRoutes,
  ...webhookRoutes,
  ...adminAccountRoutes,
  ...billingRoutes,
  ...adminMarketRoutes,
  ...adminDataRoutes,
];

/** The name of a route, as `"GET /keys"`. */
export type PortalRouteName = (typeof PORTAL_ROUTES)[number]["name"];

const BASE = "/api/portal";

/** One path with what it serves, by method. */
interface PortalPath {
  readonly parts: readonly string[];
  readonly served: ReadonlyMap<string, PortalRoute>;
}

const isParam = (part: string) => part.startsWith("[");

/** The paths of these routes. Fixed ones come first, as Next has it: /keys/use is not the key "use". */
function pathsOf(routes: readonly PortalRoute[]): readonly PortalPath[] {
  const paths = new Map<string, Map<string, PortalRoute>>();
  for (const route of routes) {
    const [method = "", path = ""] = route.name.split(" ");
    paths.set(path, (paths.get(path) ?? new Map()).set(method, route));
  }
  return [...paths]
    .map(([path, served]) => ({ parts: path.split("/"), served }))
    .sort((a, b) => Number(a.parts.some(isParam)) - Number(b.parts.some(isParam)));
}

const PATHS = pathsOf(PORTAL_ROUTES);

/** The parameters of a path, as they were sent; undefined for another path. */
function paramsOf(parts: readonly string[], sent: readonly string[]): Record<string, string> | undefined {
  if (parts.length !== sent.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const text = sent[at] ?? "";
    if (isParam(part) && text !== "") params[part.slice(1, -1)] = text;
    else if (part !== text) return undefined;
  }
  return params;
}

/**
 * Answers all requests under /api/portal. Paths are matched segment by segment, as sent: an encoded slash does not separate segments,
 * and only parameters may be percent-encoded. Unknown paths get the same response as elsewhere under /api.
 */
export function portalApi(request: Request): Response | Promise<Response> {
  const { method, url } = request;
  const sent = new URL(url).pathname.slice(BASE.length).split("/");
  for (const { parts, served } of PATHS) {
    const params = paramsOf(parts, sent);
    if (params === undefined) continue;
    const route = served.get(method === "HEAD" ? "GET" : method);
    return route === undefined ? refuseOther(request, [...served.keys()]) : route.answer(request, params);
  }
  return unserved(request);
}
