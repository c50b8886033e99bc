import { Fault } from "#lib/fault";
import { runtime } from "#lib/runtime";
import { requestIdOf } from "./request-id";
import { failure, jsonHeaders, toResponse } from "./respond";

/** The methods that a route file of Next can export. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
/** One of them. */
export type Method = (typeof METHODS)[number];
type Handler = (request: Request) => Response;

/** The methods of a path for the Allow header: those with a handler, HEAD where there is GET, and OPTIONS. */
export function allowed(own: readonly string[]): string[] {
  return METHODS.filter((method) => own.includes(method) || method === "OPTIONS" || (method === "HEAD" && own.includes("GET")));
}

/** The fault for a method that a path does not have. */
export function methodFault(method: string, methods: readonly string[]): Fault {
  const detail = `This path does not accept ${method.slice(0, 20)}.`;
  return new Fault("method_not_allowed", { detail, allowed: methods.filter((name) => name !== "OPTIONS") });
}

/**
 * Handlers for all methods that a route file does not serve, which Next would answer with an empty body: they refuse with the
 * envelope and name the others in Allow. OPTIONS names them without a refusal. Next derives HEAD from GET itself.
 * @param own the handlers of the file
 * @param docsBase the base URL of links to the documentation
 */
export function refusedMethods<const Own extends Partial<Record<Method, unknown>>>(
  own: Own,
  docsBase: () => string,
): Readonly<Record<Exclude<Method, keyof Own>, Handler>> {
  const methods = allowed(Object.keys(own));
  const answer: Handler = (request) => {
    const requestId = requestIdOf(request.headers.get("x-request-id"));
    const allow = methods.join(", ");
    if (request.method === "OPTIONS")
      return new Response(null, { status: 204, headers: { allow, "x-request-id": requestId, "cache-control": "no-store" } });
    const { id, data } = methodFault(request.method, methods);
    return toResponse(failure(id, data, { ...jsonHeaders(requestId), allow }, baseOf(docsBase)));
  };
  const others = METHODS.filter((method) => !(method in own)).map((method) => [method, answer]);
  return Object.fromEntries(others) as Record<Exclude<Method, keyof Own>, Handler>;
}

/** Empty before the service runs. */
function baseOf(docsBase: () => string): string {
  try {
    return docsBase();
  } catch {
    return "";
  }
}

/** A handler that only reads: methods other than GET and HEAD are refused. */
export function readOnly(
  read: (request: Request) => Response | Promise<Response>,
): (request: Request) => Response | Promise<Response> {
  const { POST: refuse } = refusedMethods({ GET: read }, () => runtime().env.PUBLIC_URL ?? "");
  return (request) => (request.method === "GET" || request.method === "HEAD" ? read(request) : refuse(request));
}
