import type { IncomingMessage } from "node:http";

/** The path of a request target, without query. */
export function pathOf(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}

/** The percent-decoded path, for comparison with routes; undefined when it cannot be decoded. */
export function decodedPath(target: string): string | undefined {
  const path = pathOf(target);
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** What requires a path to be normalized: dot segments (also percent-encoded), backslashes, fragments. */
const NOT_NORMALIZED = /\/\.|%2e|[\\#]/i;

/**
 * Normalizes a request target the way Next does, so that no other spelling of a path bypasses a decision made by path here. A
 * target in absolute form (`GET http://host/path`, as proxies send it) becomes its path; dot segments are resolved. False when
 * it is neither a path nor a URL.
 */
export function normalizeTarget(request: IncomingMessage): boolean {
  const target = request.url ?? "/";
  if (target.startsWith("/") && !NOT_NORMALIZED.test(target)) return true;
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
