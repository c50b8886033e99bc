import { Fault } from "#lib/fault";
import { runningParts } from "#lib/runtime";
import { requestIdOf } from "./request-id";
import { failure, jsonHeaders, toResponse } from "./respond";

/** The methods that a route file of Next can export. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

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
 * Refuses a method that a path does not serve, which Next would answer with an empty body: with the envelope, and the others in
 * Allow. OPTIONS names them without a refusal.
 * @param own the methods that the path serves
 * @param docsBase the base URL of links to the documentation
 */
export function refuseMethod({ method, headers }: Request, own: readonly string[], docsBase: string): Response {
  const requestId = requestIdOf(headers.get("x-request-id"));
  const methods = allowed(own);
  const allow = methods.join(", ");
  if (method === "OPTIONS")
    return new Response(null, { status: 204, headers: { allow, "x-request-id": requestId, "cache-control": "no-store" } });
  const { id, data } = methodFault(method, methods);
  return toResponse(failure(id, data, { ...jsonHeaders(requestId), allow }, docsBase));
}

/** A handler that only reads: methods other than GET and HEAD are refused. */
export function readOnly(
  read: (request: Request) => Response | Promise<Response>,
): (request: Request) => Response | Promise<Response> {
  return (request) =>
    request.method === "GET" || request.method === "HEAD"
      ? read(request)
      : refuseMethod(request, ["GET"], runningParts()?.env.PUBLIC_URL ?? "");
}
