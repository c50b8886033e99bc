import { allowed, METHODS, refuseMethod } from "#lib/http/methods";
import { runningPortal } from "./runtime";

type Method = (typeof METHODS)[number];

/** Lets pages of any site read an answer that holds nothing of the reader. */
export const OPEN_TO_PAGES = { "access-control-allow-origin": "*" };

/** Refuses a method that a path of the portal does not serve; see refuseMethod. */
export function refuseOther(request: Request, own: readonly string[]): Response {
  return refuseMethod(request, own, runningPortal()?.env.PUBLIC_URL ?? "");
}

/** Handlers that refuse every method that a route file does not serve. Next derives HEAD from GET itself. */
export function otherMethods<const Own extends Partial<Record<Method, unknown>>>(own: Own) {
  const refuse = (request: Request) => refuseOther(request, Object.keys(own));
  const others = METHODS.filter((method) => !(method in own)).map((method) => [method, refuse]);
  return Object.fromEntries(others) as Readonly<Record<Exclude<Method, keyof Own>, typeof refuse>>;
}

/** A handler of OPTIONS that lets pages of any site send what the path serves, with any header. */
export function preflightOf(own: readonly string[]): () => Response {
  const methods = allowed(own).join(", ");
  const headers = {
    ...OPEN_TO_PAGES,
    allow: methods,
    "access-control-allow-methods": methods,
    "access-control-allow-headers": "*",
  };
  return () => new Response(null, { status: 204, headers });
}

/** Handlers of a JSON document that names the URL of the service as the reader reached it, and that pages of any site may read. */
export function openDocument(read: () => Promise<object>) {
  // A shared cache must not keep the host that one reader asked for.
  const headers = { ...OPEN_TO_PAGES, "cache-control": "private, no-cache" };
  const answer = async () => Response.json(await read(), { headers });
  const own = { GET: answer, OPTIONS: preflightOf(["GET"]) };
  return { ...otherMethods(own), ...own };
}
