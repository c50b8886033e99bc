import type { LinkPrincipal } from "#lib/access/principal";
import type { Operation } from "#lib/contract/operation";
import { Fault } from "#lib/fault";
import { type Exchange, headerOf } from "#lib/http/exchange";
import { applyVerdict } from "#lib/http/guards";
import { createQueryParser } from "#lib/http/query";
import type { Answer, AnswerHeaders } from "#lib/http/respond";
import { chain, guardedHandler, isLook } from "#lib/http/route";
import { operations } from "../declarations";
import { handlers } from "../handlers";
import { linkOperation } from "./declaration";

/** The address opens the data, so nothing may pass it on or keep the answer: no page that follows, no search engine, no cache. */
const SECRET_ADDRESS: AnswerHeaders = { "referrer-policy": "no-referrer", "x-robots-tag": "noindex, nofollow" };
/** DuckDB reads a file in ranges. */
const SENDING_HEADERS = ["range", "accept-encoding"] as const;
const ELEMENT = /\[.*$/;

/**
 * Refuses a parameter that would change the call: an answer to another question than the one that was asked is a mistake
 * nobody notices. Any other one is ignored, as everywhere: some programs add one to get past their cache.
 * @throws Fault invalid_parameter
 */
function requireUnchanged({ link }: LinkPrincipal, queryText: string): void {
  const { query } = operations[link.operation];
  const names = [...new URLSearchParams(queryText).keys()].map((name) => name.replace(ELEMENT, ""));
  const parameter = names.find((name) => Object.hasOwn(query, name));
  if (parameter === undefined) return;
  throw new Fault("invalid_parameter", {
    parameter,
    detail: `\`${parameter}\` cannot be changed: a link always makes the same call. Create another link.`,
  });
}

/**
 * The call of a link as its operation sees it. Path and query come from the link. Of the caller's headers only those are passed on that
 * say how the bytes of a file are sent.
 */
function callOf(exchange: Exchange, { link }: LinkPrincipal): Exchange {
  const given = Object.fromEntries(SENDING_HEADERS.map((name) => [name, headerOf(exchange, name) ?? undefined]));
  return { ...exchange, request: null, given, path: link.path, queryText: link.queryText };
}

/** Takes back what only a caller with a key can use: caching, and the address of the next page. */
function uncached(answer: Answer): Answer {
  const { etag, link, ...headers } = answer.headers;
  return { ...answer, headers: { ...headers, "cache-control": "no-store", vary: "Origin" } };
}

/**
 * Makes the handler of links. After the token and the limit of the link, the call passes the same guards as one with the key of
 * the link, and is answered by the handler of its operation.
 */
function linkRoute() {
  const operation = linkOperation as unknown as Operation;
  const parse = createQueryParser(operation);
  return guardedHandler(operation, (exchange, running) => {
    const { address, headers, queryText } = exchange;
    Object.assign(headers, SECRET_ADDRESS);
    const { query, ignored } = parse(queryText);
    return chain(running.access.verifyLink(query.token as string, address), async (principal) => {
      exchange.principal = principal;
      // Its own limit counts calls. The units are those of the operation, below.
      if (!isLook(exchange)) applyVerdict(await running.access.takeLink(principal, address), 0, principal.plan.name, headers);
      requireUnchanged(principal, queryText);
      if (ignored !== undefined) headers["x-ignored-params"] = ignored;
      const call = callOf(exchange, principal);
      try {
        return uncached(await handlers[principal.link.operation].serve(call, running, principal));
      } finally {
        exchange.units = call.units;
      }
    });
  });
}

export const handler = linkRoute();
