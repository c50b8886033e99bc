import type { Access } from "#lib/access/access";
import type { Principal } from "#lib/access/principal";
import type { LoggedRequest } from "#lib/access/usage/request-log";
import { ERRORS } from "#lib/contract/errors";
import type { Operation, Parameters, QueryOf } from "#lib/contract/operation";
import { Fault, isFault } from "#lib/fault";
import type { Call, Reply } from "#lib/market/question";
import { suggestTicker } from "#lib/market/tickers";
import { type Runtime, runningParts, runtime } from "#lib/runtime";
import { admitOrigin } from "./cors";
import { type Exchange, headerOf, openExchange, requireShortTarget, type ServerContext } from "./exchange";
import { applyVerdict, authorize, verifyKey } from "./guards";
import { createQueryParser, type ParsedQuery } from "./query";
import { type Answer, failureOf, faultOf, successBody, toResponse, withoutBody } from "./respond";

const RETRY_AFTER_S = 1;

/** What a question is told: of the market, and for the few that need it who asks, from where. */
export interface GuardedCall<Query> extends Call<Query> {
  readonly principal: Principal;
  /** Null for a request that carries none. */
  readonly origin: string | null;
  readonly access: Access;
}

/**
 * What a `route.ts` exports for a method. Its second argument is our server's, or Next's own, which is not read. `answer` is
 * the same without the Web-standard objects around it; it never throws.
 */
export type RouteHandler = ((request: Request, context?: unknown) => Response | Promise<Response>) & {
  readonly answer: (exchange: Exchange) => Answer | Promise<Answer>;
};

/** Puts the Web-standard objects around an answer. */
export function handlerOf(answer: RouteHandler["answer"]): RouteHandler {
  const handle = (request: Request, context?: unknown) =>
    chain(answer(openExchange(request, context as ServerContext | undefined)), toResponse);
  return Object.assign(handle, { answer });
}

/** Goes on at once where the value is there, so that a request that needs no waiting takes no turn. */
function chain<A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Makes the handler of an operation: guards, question, envelope. Whatever happens, the answer is an envelope with a request
 * id: a fault answers as its identifier, a database that is away as service_unavailable, anything else as internal_error
 * with one line in the log.
 */
export function route<P extends Parameters>(
  operation: Operation<P>,
  question: (call: GuardedCall<QueryOf<P>>) => Reply | Promise<Reply>,
): RouteHandler {
  const parse = createQueryParser(operation as unknown as Operation);
  const asked = operation as unknown as Operation;

  /** The guards in their order. The query is read before the bucket, for its cost, and refused after it. */
  function guarded(exchange: Exchange, running: Runtime): Answer | Promise<Answer> {
    const { access, clock } = running;
    requireShortTarget(exchange);
    if (running.draining()) throw new Fault("service_unavailable", { detail: "Shutting down.", retry_after: RETRY_AFTER_S });
    return chain(verifyKey(access, exchange), (principal) => {
      exchange.principal = principal;
      const permitted = attempt(() => authorize(principal, asked, exchange));
      if (!permitted.ok)
        // Refused before the bucket: the answer says what is left all the same.
        return chain(access.take(principal, 0, exchange.address), (verdict) => {
          applyVerdict(verdict, principal.plan.name, exchange.headers);
          throw permitted.error;
        });
      const query = attempt(() => parse(exchange.queryText));
      const cost = query.ok ? asked.cost(query.value.query as never) : 1;
      return chain(access.take(principal, cost, exchange.address), (verdict) => {
        applyVerdict(verdict, principal.plan.name, exchange.headers);
        const call = callOf<QueryOf<P>>(query, principal, exchange, running, clock.now());
        return chain(question(call), (reply) => respond(reply, exchange));
      });
    });
  }

  // No function is made in here: named ones cost more than the guards do.
  return handlerOf((exchange) => {
    if (exchange.origin !== null) admitOrigin(exchange.headers, exchange.origin);
    try {
      const running = runtime();
      const answer = guarded(exchange, running);
      if (answer instanceof Promise) return settle(answer, exchange, operation.id);
      return counted(answer, exchange, operation.id, 0);
    } catch (error) {
      return refused(error, exchange, operation.id);
    }
  });
}

async function settle(answer: Promise<Answer>, exchange: Exchange, operation: string): Promise<Answer> {
  try {
    return counted(await answer, exchange, operation, 0);
  } catch (error) {
    return refused(error, exchange, operation);
  }
}

/** Counts an answer for the process and for the key it was given to, and gives it back. `code` is the envelope's, 0 for success. */
export function counted(answer: Answer, exchange: Exchange, operation: string, code: number): Answer {
  const latencyMs = performance.now() - exchange.startMs;
  const parts = runningParts();
  parts?.metrics.request(operation, code, latencyMs / 1000);
  const { principal } = exchange;
  if (principal !== undefined && parts?.usage.count(principal, operation, code, latencyMs))
    parts.usage.log(noted(exchange, principal, { operation, status: answer.status, code, latencyMs, atMs: parts.clock.now() }));
  return answer;
}

/** The line of a request in its account's log. */
function noted(
  exchange: Exchange,
  { accountId, keyId }: Principal,
  outcome: Pick<LoggedRequest, "operation" | "status" | "code" | "latencyMs" | "atMs">,
): LoggedRequest {
  const { method, address, origin, path, queryText, headers } = exchange;
  return {
    accountId,
    keyId,
    requestId: headers["x-request-id"] ?? "",
    method,
    path: queryText === "" ? path : `${path}?${queryText}`,
    address,
    origin,
    userAgent: headerOf(exchange, "user-agent") ?? "",
    ...outcome,
  };
}

function refused(error: unknown, exchange: Exchange, operation: string): Answer {
  return counted(fail(error, exchange, operation, runningParts()), exchange, operation, ERRORS[faultOf(error).id].code);
}

type Attempt<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: unknown };

function attempt<Value>(work: () => Value): Attempt<Value> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** The call a question is given. @throws Fault of the query, with the ticker that was probably meant. */
function callOf<Query>(
  query: Attempt<ParsedQuery>,
  principal: Principal,
  { request, headers, origin }: Exchange,
  { markets, access }: Runtime,
  nowMs: number,
): GuardedCall<Query> {
  const { venue, mayRead } = principal;
  const market = markets[venue];
  if (!query.ok) throw withSuggestion(query.error, (tickers) => suggestTicker({ market, mayRead }, tickers));
  const { ignored } = query.value;
  if (ignored !== undefined) headers["x-ignored-params"] = ignored;
  return { query: query.value.query as Query, market, mayRead, nowMs, request, principal, origin, access };
}

function withSuggestion(error: unknown, suggest: (tickers: readonly string[]) => string | undefined): unknown {
  if (!isFault(error) || error.id !== "invalid_ticker") return error;
  const suggestion = suggest(error.data.tickers ?? []);
  return suggestion === undefined ? error : new Fault(error.id, { ...error.data, suggestion });
}

/** The answer of a reply; HEAD has the headers of GET and no body. */
function respond(reply: Reply, exchange: Exchange): Answer {
  const { headers, method } = exchange;
  const body = "data" in reply ? successBody(reply.data) : reply.body;
  const lasting = "data" in reply ? undefined : reply.lasting;
  headers["cache-control"] = lasting === undefined ? "no-store" : `private, max-age=${lasting.maxAgeS}, immutable`;
  if (lasting !== undefined) {
    headers.etag = lasting.etag;
    // The same address answers each key from its own venue: a browser's cache must not mix them up.
    headers.vary = "Origin, Authorization";
    if (matches(headerOf(exchange, "if-none-match"), lasting.etag)) return { status: 304, headers, body: null };
  }
  if (method !== "HEAD") return { status: 200, headers, body };
  headers["content-length"] = String(typeof body === "string" ? Buffer.byteLength(body) : body.byteLength);
  return { status: 200, headers, body: null };
}

/** True when a client's copy is current; a proxy may have weakened the tag on its way. */
function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}

function fail(error: unknown, { headers, method }: Exchange, operation: string, running: Runtime | undefined): Answer {
  if (!isFault(error)) running?.log.error({ err: error, request_id: headers["x-request-id"], operation }, "request failed");
  const answer = failureOf(error, headers, running?.env.PUBLIC_URL ?? "");
  return method === "HEAD" ? withoutBody(answer) : answer;
}
