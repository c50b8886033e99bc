import type { Access } from "#lib/access/access";
import type { Verdict } from "#lib/access/limits/bucket";
import type { Principal } from "#lib/access/principal";
import type { LoggedRequest, Usage } from "#lib/access/usage/usage";
import { heldTag } from "#lib/content-encoding";
import { type CsvTable, csvOf } from "#lib/contract/csv";
import { ERRORS } from "#lib/contract/errors";
import { isInPath, type Operation, type Parameters, type QueryOf } from "#lib/contract/operation";
import { Fault, isFault } from "#lib/fault";
import { oldestOf } from "#lib/market/oldest";
import type { Call, Reply } from "#lib/market/question";
import { suggestTicker } from "#lib/market/tickers";
import { type Runtime, runningParts, runtime } from "#lib/runtime";
import { recordsWork } from "#lib/spans";
import { admitOrigin } from "./cors";
import { csvEtag, type ItemsFormat, itemsBody, wantedFormat } from "./csv";
import { docsBaseOf, type Exchange, headerOf, openExchange, requireShortTarget, type ServerContext } from "./exchange";
import { applyVerdict, authorize, verifyKey } from "./guards";
import { createQueryParser, type ParsedQuery } from "./query";
import { type Answer, byteLengthOf, failureOf, faultOf, isInParts, successBody, toResponse, withoutBody } from "./respond";
import { noteRefusal, tracedCall } from "./traced-call";

const RETRY_AFTER_S = 1;

/** The input of a question: the market, and the caller and address for the few that need them. */
export interface GuardedCall<Query> extends Call<Query> {
  readonly principal: Principal;
  /** The address of the caller. */
  readonly address: string;
  /** Null for a request without one, and for the service's own. */
  readonly origin: string | null;
  /** The host under which the request reached the service. */
  readonly host: string | null;
  readonly access: Access;
  readonly months: Usage["months"];
  /** The rate limit after this request. */
  readonly verdict: Verdict;
}

/**
 * What a `route.ts` exports for a method. The second argument comes from our server; Next's own is ignored. `answer` does
 * the same without the Web-standard objects. Never throws.
 */
export type RouteHandler = ((request: Request, context?: unknown) => Response | Promise<Response>) & {
  readonly answer: (exchange: Exchange) => Answer | Promise<Answer>;
};

/** The handler of a call of the REST API. */
export type CallHandler = RouteHandler & { readonly operation: Operation };

/** The handler of an operation. */
export type OperationHandler = CallHandler & {
  /** Answers a caller who is already verified: everything after the key. @throws what `answer` makes a failure of */
  readonly serve: (exchange: Exchange, running: Runtime, principal: Principal) => Answer | Promise<Answer>;
};

/** Wraps an answer in the Web-standard objects. */
export function handlerOf(answer: RouteHandler["answer"]): RouteHandler {
  const handle = (request: Request, context?: unknown) =>
    chain(answer(openExchange(request, context as ServerContext | undefined)), toResponse);
  return Object.assign(handle, { answer });
}

/** Continues synchronously when the value is not a promise, so that a request that needs no I/O skips the event loop. */
export function chain<A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Makes the handler of an operation: guards, question, envelope. Every response is an envelope with a request id: a fault
 * keeps its identifier, an unreachable database becomes service_unavailable, and any other error becomes internal_error
 * and is logged.
 */
export function route<P extends Parameters>(
  operation: Operation<P>,
  question: (call: GuardedCall<QueryOf<P>>) => Reply | Promise<Reply>,
): OperationHandler {
  const asked = operation as unknown as Operation;
  const table = csvOf(asked);
  return guardedRoute(operation, (call, exchange, running) => {
    if (table === undefined) return chain(question(call), (reply) => respond(reply, exchange, undefined));
    exchange.headers.vary = "Origin, Accept";
    const format = wantedFormat((call.query as { format?: unknown }).format, asked.lines === true, exchange);
    const asItems = format && { format, table, base: running.env.PUBLIC_URL ?? "" };
    return chain(question(call), (reply) => respond(reply, exchange, asItems));
  });
}

/** Makes the handler of an operation whose answer is not that of a question: the same guards, and `answer` after them. */
export function guardedRoute<P extends Parameters>(
  operation: Operation<P>,
  answer: (call: GuardedCall<QueryOf<P>>, exchange: Exchange, running: Runtime) => Answer | Promise<Answer>,
): OperationHandler {
  const parse = createQueryParser(operation as unknown as Operation);
  const asked = operation as unknown as Operation;

  /** The guards after the key, in order. The query is parsed before the rate limit, which needs its cost, but refused after it. */
  function serve(exchange: Exchange, running: Runtime, principal: Principal): Answer | Promise<Answer> {
    const { access, usage } = running;
    exchange.principal = principal;
    const query = attempt(() => parse(queryOf(asked, exchange)));
    const cost = isLook(exchange) ? 0 : query.ok ? asked.cost(query.value.query as never) : 1;
    const units = asked.countedIn === "ticks" ? 0 : cost;
    const admitted = attempt(() => {
      authorize(principal, asked, exchange);
      usage.months.require(principal, units);
    });
    if (!admitted.ok)
      // Refused before the rate limit. The response still carries the rate-limit headers.
      return chain(access.take(principal, 0, exchange.address), (verdict) => {
        applyVerdict(verdict, 0, principal.plan.name, exchange.headers);
        throw admitted.error;
      });
    const taken = takerOf(asked, cost, access)(principal, cost, exchange.address);
    return chain(taken, (verdict) => {
      applyVerdict(verdict, cost, principal.plan.name, exchange.headers);
      exchange.units = units;
      const call = callOf<QueryOf<P>>(query, principal, exchange, running, verdict);
      return answer(call, exchange, running);
    });
  }

  const handler = guardedHandler(asked, (exchange, running) =>
    chain(verifyKey(running.access, exchange), (principal) => serve(exchange, running, principal)),
  );
  return Object.assign(handler, { serve });
}

/**
 * Makes the handler of a call, which counts and traces it: what `guarded` answers, and what it throws as a failure.
 * Before it, requests that are too long and those of a node that shuts down are refused.
 */
export function guardedHandler(
  operation: Operation,
  guarded: (exchange: Exchange, running: Runtime) => Answer | Promise<Answer>,
): CallHandler {
  // No closures are created here: they would cost more than the guards.
  const handle = (exchange: Exchange) => {
    if (exchange.origin !== null) admitOrigin(exchange.headers, exchange.origin);
    try {
      const running = runtime();
      requireShortTarget(exchange);
      if (running.draining()) throw new Fault("service_unavailable", { detail: "Shutting down.", retry_after: RETRY_AFTER_S });
      const answer = guarded(exchange, running);
      if (answer instanceof Promise) return settle(answer, exchange, operation.id);
      return counted(answer, exchange, operation.id, null);
    } catch (error) {
      return refused(error, exchange, operation.id);
    }
  };
  const handler = handlerOf((exchange) => (recordsWork() ? tracedCall(operation, exchange, handle) : handle(exchange)));
  return Object.assign(handler, { operation });
}

/**
 * True for HEAD on a link, which costs nothing: LibreOffice sends OPTIONS and two HEAD before the GET of each load, and its users
 * have loaded once. @param exchange one whose principal is known
 */
export const isLook = ({ method, principal }: Exchange): boolean => method === "HEAD" && principal?.link !== undefined;

/** The text of the query, with the parameter that is a part of the path. */
function queryOf(operation: Operation, { path, queryText }: Exchange): string {
  if (!isInPath(operation, "id")) return queryText;
  return `id=${/[^/]*(?=\/?$)/.exec(path)?.[0] ?? ""}&${queryText}`;
}

/** What counts a request: units of the plan, pushed ticks, or the bucket of requests that cost nothing. */
function takerOf({ countedIn }: Operation, cost: number, access: Access): Access["take"] {
  if (countedIn === "ticks") return access.takeTicks;
  return cost > 0 ? access.take : (principal, _, address) => access.takeFree(principal, address);
}

async function settle(answer: Promise<Answer>, exchange: Exchange, operation: string): Promise<Answer> {
  try {
    return counted(await answer, exchange, operation, null);
  } catch (error) {
    return refused(error, exchange, operation);
  }
}

/** Counts a response for the process and for the key, says how long it took to make, and returns it. `fault` is null for a success. */
export function counted(answer: Answer, exchange: Exchange, operation: string, fault: Fault | null): Answer {
  const code = fault === null ? 0 : ERRORS[fault.id].code;
  const latencyMs = performance.now() - exchange.startMs;
  answer.headers["server-timing"] = `service;dur=${latencyMs.toFixed(2)}`;
  const parts = runningParts();
  parts?.metrics.request(operation, code, latencyMs / 1000);
  const { principal, units } = exchange;
  if (principal !== undefined && parts?.usage.count(principal, operation, code, latencyMs, units))
    parts.usage.log(
      noted(exchange, principal, {
        operation,
        status: answer.status,
        code,
        detail: fault?.message ?? null,
        latencyMs,
        atMs: parts.clock.now(),
      }),
    );
  return answer;
}

const numberOf = (text: string | undefined) => (text === undefined ? null : Number(text));

/** The request as its account's log has it. */
function noted(
  exchange: Exchange,
  { accountId, keyId, link }: Principal,
  outcome: Pick<LoggedRequest, "operation" | "status" | "code" | "detail" | "latencyMs" | "atMs">,
): LoggedRequest {
  const { method, address, origin, headers } = exchange;
  const rate = (what: "cost" | "limit" | "remaining") => numberOf(headers[`x-ratelimit-${what}`]);
  // What a link stands for says more than its token, which is a secret.
  const { path, queryText } = link ?? exchange;
  return {
    accountId,
    keyId,
    requestId: headers["x-request-id"] ?? "",
    method,
    path: queryText === "" ? path : `${path}?${queryText}`,
    address,
    origin,
    userAgent: headerOf(exchange, "user-agent") ?? "",
    cost: rate("cost"),
    limit: rate("limit"),
    remaining: rate("remaining"),
    ...outcome,
  };
}

function refused(error: unknown, exchange: Exchange, operation: string): Answer {
  noteRefusal(exchange, error);
  return counted(fail(error, exchange, operation, runningParts()), exchange, operation, faultOf(error));
}

type Attempt<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: unknown };

function attempt<Value>(work: () => Value): Attempt<Value> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}

/**
 * The input of the question, made as one literal: spreads of other objects cost more than everything before it.
 * @throws Fault of the query, with a suggestion for a mistyped ticker
 */
function callOf<Query>(
  query: Attempt<ParsedQuery>,
  principal: Principal,
  exchange: Exchange,
  { markets, access, clock, usage }: Runtime,
  verdict: Verdict,
): GuardedCall<Query> {
  const { sent, headers, origin } = exchange;
  const { venue, mayRead, tickers, plan } = principal;
  const market = markets[venue];
  if (!query.ok) throw withSuggestion(query.error, (tickers) => suggestTicker({ market, mayRead }, tickers));
  const { ignored } = query.value;
  if (ignored !== undefined) headers["x-ignored-params"] = ignored;
  const nowMs = clock.now();
  return {
    query: query.value.query as Query,
    market,
    mayRead,
    tickers,
    nowMs,
    oldestMs: oldestOf(plan.historyDays, nowMs),
    sent,
    admitTicks: sent === null ? undefined : (ticks) => admitTicks(ticks, principal, exchange, access),
    admitDays: principal.perAddress ? access.takeDemoDays : undefined,
    principal,
    address: exchange.address,
    origin,
    host: headerOf(exchange, "host"),
    access,
    months: usage.months,
    verdict,
  };
}

async function admitTicks(ticks: number, principal: Principal, exchange: Exchange, access: Access): Promise<void> {
  applyVerdict(await access.takeTicks(principal, ticks, exchange.address), ticks, principal.plan.name, exchange.headers);
}

function withSuggestion(error: unknown, suggest: (tickers: readonly string[]) => string | undefined): unknown {
  if (!isFault(error) || error.id !== "invalid_ticker") return error;
  const suggestion = suggest(error.data.tickers ?? []);
  return suggestion === undefined ? error : new Fault(error.id, { ...error.data, suggestion });
}

function jsonBody(reply: Reply): string | Uint8Array<ArrayBuffer> {
  return "body" in reply ? reply.body : successBody(reply.data);
}

/** How the items of a response are written without the envelope; `base` is the URL of the service, empty where it is unknown. */
interface AsItems {
  readonly format: ItemsFormat;
  readonly table: CsvTable;
  readonly base: string;
}

/** The Cache-Control of an answer that only the caller may keep. @param maxAgeS 0 where the caller must revalidate it each time */
export const cachingOf = (maxAgeS: number) => (maxAgeS === 0 ? "private, no-cache" : `private, max-age=${maxAgeS}, immutable`);

/** The response to a reply, as JSON unless told otherwise. HEAD gets the headers of GET and no body. */
function respond(reply: Reply, exchange: Exchange, asItems: AsItems | undefined): Answer {
  const { headers, method } = exchange;
  const lasting = "body" in reply ? reply.lasting : undefined;
  headers["cache-control"] = lasting === undefined ? "no-store" : cachingOf(lasting.maxAgeS);
  if (lasting !== undefined) {
    const tag = asItems === undefined ? lasting.etag : csvEtag(lasting.etag);
    const held = heldTag(tag, headerOf(exchange, "if-none-match"), headerOf(exchange, "accept-encoding"));
    headers.etag = held ?? tag;
    // The same URL answers each key from its own venue, so a browser cache must keep them apart.
    headers.vary += ", Authorization";
    if (held !== undefined) return { status: 304, headers, body: null };
  }
  const body = asItems === undefined ? jsonBody(reply) : itemsBody(reply, asItems.format, asItems, exchange);
  const answer = { status: 200, headers, body } as Answer;
  if (method !== "HEAD") return answer;
  if (!isInParts(answer)) headers["content-length"] = String(byteLengthOf(answer));
  return withoutBody(answer);
}

function fail(error: unknown, exchange: Exchange, operation: string, running: Runtime | undefined): Answer {
  const { headers, method } = exchange;
  if (!isFault(error)) running?.log.error({ err: error, request_id: headers["x-request-id"], operation }, "request failed");
  const answer = failureOf(error, headers, docsBaseOf(exchange));
  return method === "HEAD" ? withoutBody(answer) : answer;
}
