import type { IncomingMessage } from "node:http";
import { Fault } from "#lib/fault";
import { methodsOf, notFound } from "#lib/http/api";
import { allowed, METHODS, methodFault } from "#lib/http/methods";

/** What a message is refused for, whatever its path. */
export interface MessageRefusal {
  readonly fault: Fault;
  /** The Allow header. */
  readonly allow?: string;
  /** The status HTTP names for it, where the error's own is another. */
  readonly status?: number;
}

function refusal(detail: string, parameter: string, status?: number): MessageRefusal {
  return { fault: new Fault("invalid_parameter", { detail, parameter }), ...(status !== undefined && { status }) };
}

function countOfHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && /^host$/i.test(rawHeaders[i] ?? "")) count += 1;
  return count;
}

/** Every path under /api, in any case and with extra slashes. Next only recognizes the documented spelling. */
const API = /^\/+api(?:\/|$)/i;
const MCP = "/mcp";
/** The portal's own API and its sign-in. */
const PORTAL_APIS = ["/api/portal/", "/api/auth/"];
const isPortalApi = (path: string) => PORTAL_APIS.some((prefix) => path.startsWith(prefix));

/** True for all of /api but the portal's own. */
export function isApi(path: string): boolean {
  return API.test(path) && !isPortalApi(path);
}

/** The methods of a path; undefined where there is none. */
function methodsAt(path: string): readonly string[] | undefined {
  if (path === MCP) return allowed(["POST"]);
  if (isPortalApi(path)) return METHODS;
  return isApi(path) ? methodsOf(path) : ["GET", "HEAD"];
}

/**
 * The refusal of a method that no path has, such as TRACE, which returns what proxies added to a request.
 * @param path undefined for a request without one, such as CONNECT
 */
export function methodRefusal(method: string, path: string | undefined): MessageRefusal {
  const methods = path === undefined ? [] : methodsAt(path);
  if (methods === undefined) return { fault: notFound() };
  return { fault: methodFault(method, methods), allow: methods.join(", ") };
}

/** True for a method that Next knows; it answers any other with an empty body. */
export function isPageMethod(method: string | undefined): boolean {
  return METHODS.some((name) => name === (method ?? "GET"));
}

/** An expectation that Node does not know (RFC 9110, 10.1.1). */
export const EXPECTATION_REFUSAL = refusal("The only expectation that is supported is 100-continue.", "Expect", 417);

/**
 * What is wrong with a message itself; undefined when it may be handled. Two readings of one message are how requests are
 * smuggled past a proxy (RFC 9112, 3.2 and 6.1).
 */
export function messageRefusal(request: IncomingMessage): MessageRefusal | undefined {
  const { httpVersionMinor, headers } = request;
  if (httpVersionMinor === 0 && headers["transfer-encoding"] !== undefined)
    return refusal("HTTP/1.0 has no Transfer-Encoding.", "Transfer-Encoding");
  const hosts = countOfHosts(request);
  if (hosts === 0 && httpVersionMinor > 0) return refusal("HTTP/1.1 requires a Host header.", "Host");
  if (hosts > 1) return refusal("Only one Host header is allowed.", "Host");
  return undefined;
}
