import type { IncomingMessage } from "node:http";
import { Fault } from "#lib/fault";

/** The methods that some path has. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

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

/** The methods that no path has: TRACE returns what proxies added to a request, CONNECT is for proxies. */
export function methodRefusal(method: string): MessageRefusal {
  return {
    fault: new Fault("method_not_allowed", { detail: `This server does not accept ${method}.` }),
    allow: METHODS.join(", "),
  };
}

/** True for a method that Next knows; it answers any other with an empty body. */
export function isPageMethod(method: string | undefined): boolean {
  return METHODS.includes(method ?? "GET");
}

/** An expectation that Node does not know (RFC 9110, 10.1.1). */
export const EXPECTATION_REFUSAL = refusal("The only expectation that is supported is 100-continue.", "Expect", 417);

/**
 * What is wrong with a message itself; undefined when it may be handled. Two readings of one message are how requests are
 * smuggled past a proxy (RFC 9112, 3.2 and 6.1).
 */
export function messageRefusal(request: IncomingMessage): MessageRefusal | undefined {
  const { method, httpVersionMinor, headers } = request;
  if (method === "TRACE") return methodRefusal(method);
  if (httpVersionMinor === 0 && headers["transfer-encoding"] !== undefined)
    return refusal("HTTP/1.0 has no Transfer-Encoding.", "Transfer-Encoding");
  const hosts = countOfHosts(request);
  if (hosts === 0 && httpVersionMinor > 0) return refusal("HTTP/1.1 requires a Host header.", "Host");
  if (hosts > 1) return refusal("Only one Host header is allowed.", "Host");
  return undefined;
}
