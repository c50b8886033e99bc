import type { Principal } from "#lib/access/principal";
import { URI_MAX_BYTES } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import type { SentBody } from "#lib/market/question";
import { requestAddress } from "#lib/request-address";
import { runningParts } from "#lib/runtime";
import type { Work } from "#lib/spans";
import { foreignOrigin } from "./own-origin";
import { requestIdOf } from "./request-id";
import { type AnswerHeaders, jsonHeaders } from "./respond";

/** Address used for requests whose client address is unknown (a host other than our own server). */
const UNKNOWN_ADDRESS = "0.0.0.0";

type GivenHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * What our own server passes to a route handler in addition to the request, so that it need not build the Web-standard objects.
 * Absent under any other host of Next.
 */
export interface ServerContext {
  /** The client's address. */
  readonly address?: string;
  /** The request headers by lower-case name, as node:http provides them. */
  readonly headers?: GivenHeaders;
  /** Path and query as sent. */
  readonly target?: string;
}

/** One request, and the headers of its response, whatever the outcome. */
export interface Exchange {
  /** Null where our own server answers: it builds none. */
  readonly request: Request | null;
  /** Null for a method without a body. */
  readonly sent: SentBody | null;
  readonly method: string;
  readonly address: string;
  readonly path: string;
  /** The text after "?"; empty without one. */
  readonly queryText: string;
  readonly given: GivenHeaders | undefined;
  /** The Origin header; null without one, and for the service's own origin. */
  readonly origin: string | null;
  /** Response headers. */
  readonly headers: AnswerHeaders;
  /** When the request began, by performance.now(). */
  readonly startMs: number;
  /** The caller, once the key is verified. The outcome of the request counts as usage of this key. */
  principal: Principal | undefined;
  /** Units of the plan that it took. */
  units: number;
  /** The request in a trace; undefined while nothing is recorded. */
  work: Work | undefined;
}

/** A request header, or null. */
export function headerOf({ given, request }: Pick<Exchange, "given" | "request">, name: string): string | null {
  if (given === undefined) return request?.headers.get(name) ?? null;
  const value = given[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}

/** What stands in front of links to the docs in an answer: the address of the service, empty where nothing says it. */
export function docsBaseOf(source: Pick<Exchange, "given" | "request">): string {
  return requestAddress((name) => headerOf(source, name), runningParts()?.env.PUBLIC_URL) ?? "";
}

/** Reads what every route needs from a request. Never throws. */
export function openExchange(request: Request, context: ServerContext = {}): Exchange {
  return exchangeOf({ request, body: request.body }, request.method, context.target ?? targetOf(request.url), context);
}

/** The same for a request that our own server received; `body` is null for a method without one. */
export function openBareExchange(
  method: string,
  target: string,
  context: ServerContext,
  body: AsyncIterable<Uint8Array> | null,
): Exchange {
  return exchangeOf({ request: null, body }, method, target, context);
}

/** Reads Host only beside an Origin, which most requests lack. */
function foreignOriginOf(source: Pick<Exchange, "given" | "request">): string | null {
  const origin = headerOf(source, "origin");
  return origin === null ? null : foreignOrigin(origin, headerOf(source, "host"), runningParts()?.env.PUBLIC_URL);
}

interface Received {
  readonly request: Request | null;
  readonly body: AsyncIterable<Uint8Array> | null;
}

function exchangeOf({ request, body }: Received, method: string, target: string, context: ServerContext): Exchange {
  const source = { given: context.headers, request };
  const at = target.indexOf("?");
  const headers = jsonHeaders(requestIdOf(headerOf(source, "x-request-id")));
  headers.vary = "Origin";
  return {
    request,
    sent: body && { body, encoding: headerOf(source, "content-encoding") },
    method,
    address: context.address ?? UNKNOWN_ADDRESS,
    path: at === -1 ? target : target.slice(0, at),
    queryText: at === -1 ? "" : target.slice(at + 1),
    given: context.headers,
    origin: foreignOriginOf(source),
    headers,
    startMs: performance.now(),
    principal: undefined,
    units: 0,
    work: undefined,
  };
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
