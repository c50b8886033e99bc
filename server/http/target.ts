import type { IncomingMessage } from "node:http";

/** The path of a request target, without query. */
export function pathOf(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}

/** The path as routes are compared with, percent-decoded; undefined when it cannot be. */
export function decodedPath(target: string): string | undefined {
  const path = pathOf(target);
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** What a path is made plain for before it is compared: dot segments also in percent-encoding, backslashes, fragments. */
const UNSETTLED = /\/\.|%2e|[\\#]/i;

/**
 * Makes a target what Next will take it for, so that no other spelling of a path gets around what is decided by path here: a
 * target in absolute form (`GET http://host/path`, as proxies send it) becomes its path, dot segments are resolved. False when
 * it is neither a path nor an address.
 */
export function settleTarget(request: IncomingMessage): boolean {
  const target = request.url ?? "/";
  if (target.startsWith("/") && !UNSETTLED.test(target)) return true;
  if (target.startsWith("/")) {
    if (!URL.canParse(`http://path${target}`)) return false;
    const { pathname, search } = new URL(`http://path${target}`);
    request.url = pathname + search;
    return true;
  }
  if (!URL.canParse(target)) return false;
  const { pathname, search } = new URL(target);
  request.url = pathname + search;
  return request.url.startsWith("/");
}
