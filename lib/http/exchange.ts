import { URI_MAX_BYTES } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import { requestIdOf } from "./request-id";
import { type AnswerHeaders, jsonHeaders } from "./respond";

/** Address counted for requests whose client is not told (a host other than our own server). */
const UNKNOWN_ADDRESS = "0.0.0.0";

/**
 * What our own server tells a route handler beside the request: reading it from here saves building the Web-standard
 * objects. Under another host of Next all of it is absent.
 */
export interface ServerContext {
  /** The client's address. */
  readonly address?: string;
  /** Value of a request header by its lower-case name. */
  readonly header?: (name: string) => string | undefined;
  /** Path and query as they were sent. */
  readonly target?: string;
}

/** One request and the headers its answer will bear, whatever comes of it. */
export interface Exchange {
  readonly request: Request;
  readonly method: string;
  readonly address: string;
  readonly path: string;
  /** The text behind "?", empty without one. */
  readonly queryText: string;
  readonly header: (name: string) => string | null;
  readonly headers: AnswerHeaders;
  readonly origin: string | null;
}

/** Reads what every route needs of a request. Never throws. */
export function openExchange(request: Request, context: ServerContext = {}): Exchange {
  const header = context.header ? readBy(context.header) : (name: string) => request.headers.get(name);
  const target = context.target ?? targetOf(request.url);
  const at = target.indexOf("?");
  const headers = jsonHeaders(requestIdOf(header("x-request-id")));
  headers.vary = "Origin";
  return {
    request,
    method: request.method,
    address: context.address ?? UNKNOWN_ADDRESS,
    path: at === -1 ? target : target.slice(0, at),
    queryText: at === -1 ? "" : target.slice(at + 1),
    header,
    headers,
    origin: header("origin"),
  };
}

function readBy(header: (name: string) => string | undefined): (name: string) => string | null {
  return (name) => header(name) ?? null;
}

/** Path and query of an absolute URL. */
function targetOf(url: string): string {
  const path = url.indexOf("/", url.indexOf("://") + 3);
  return path === -1 ? "/" : url.slice(path);
}

/** @throws Fault uri_too_long */
export function requireShortTarget({ path, queryText }: Pick<Exchange, "path" | "queryText">): void {
  if (path.length + queryText.length < URI_MAX_BYTES) return;
  throw new Fault("uri_too_long", { detail: `Path and query together are at most ${URI_MAX_BYTES} bytes.`, max: URI_MAX_BYTES });
}
