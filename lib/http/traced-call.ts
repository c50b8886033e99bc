import { keyKind } from "#lib/access/principal";
import type { Operation } from "#lib/contract/operation";
import { noteError, traced, type Work } from "#lib/spans";
import { type Exchange, headerOf } from "./exchange";
import { type Answer, faultOf } from "./respond";

type Handler = (exchange: Exchange) => Answer | Promise<Answer>;

function describe({ id, method, path }: Operation, exchange: Exchange): Work {
  const traceparent = headerOf(exchange, "traceparent");
  return {
    name: `${method} ${path}`,
    kind: "server",
    attributes: { "http.request.method": exchange.method, "http.route": path, "spotwire.operation": id },
    ...(traceparent !== null && { parent: { traceparent, tracestate: headerOf(exchange, "tracestate") ?? "" } }),
  };
}

function noteAnswer(work: Work, { status }: Answer, { principal }: Exchange): void {
  work.attributes["http.response.status_code"] = status;
  work.attributes["spotwire.key.kind"] = keyKind(principal);
}

/** Answers a request as a span with route, status, error and the kind of the key; what it asks the database is a part of it. */
export function tracedCall(operation: Operation, exchange: Exchange, handle: Handler): Answer | Promise<Answer> {
  return traced(
    () => describe(operation, exchange),
    (work) => {
      exchange.work = work;
      const answer = handle(exchange);
      if (work === undefined) return answer;
      if (!(answer instanceof Promise)) {
        noteAnswer(work, answer, exchange);
        return answer;
      }
      return answer.then((ready) => {
        noteAnswer(work, ready, exchange);
        return ready;
      });
    },
  );
}

/** Notes why a request was refused. */
export function noteRefusal({ work }: Exchange, error: unknown): void {
  if (work !== undefined) noteError(work, faultOf(error));
}
