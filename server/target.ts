import type { IncomingMessage } from "node:http";

/** The path of a request target, without query. */
export function pathOf(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}

/** Brings a target in absolute form (`GET http://host/path`, as proxies send it) to its path; false when it is neither. */
export function settleTarget(request: IncomingMessage): boolean {
  const target = request.url ?? "/";
  if (target.startsWith("/")) return true;
  if (!URL.canParse(target)) return false;
  const { pathname, search } = new URL(target);
  request.url = pathname + search;
  return request.url.startsWith("/");
}
