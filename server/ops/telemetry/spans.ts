import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { WORK_ENDED, WORK_STARTED, type Work } from "#lib/spans";

const KINDS: Readonly<Record<Work["kind"], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/** Starts a span for each work that is announced, with the work around it, or the caller's span, as its parent. Returns how to stop. */
export function recordSpans(tracer: Tracer): () => void {
  const contexts = new AsyncLocalStorage<Context>();
  const propagator = new W3CTraceContextPropagator();
  const spans = new WeakMap<Work, Span>();

  function begin(work: Work): Context {
    const around = contexts.getStore() ?? ROOT_CONTEXT;
    if (work.partOnly && trace.getSpan(around) === undefined) return around;
    const parent = work.parent === undefined ? around : propagator.extract(around, work.parent, defaultTextMapGetter);
    const span = tracer.startSpan(work.name, { kind: KINDS[work.kind] }, parent);
    spans.set(work, span);
    return trace.setSpan(parent, span);
  }

  function end(message: unknown): void {
    const work = message as Work;
    const span = spans.get(work);
    if (span === undefined) return;
    span.setAttributes(work.attributes);
    if (work.problem !== undefined) span.setAttribute("error.type", work.problem).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  const started = channel(WORK_STARTED);
  const ended = channel(WORK_ENDED);
  started.bindStore(contexts, (message) => begin(message as Work));
  ended.subscribe(end);
  return () => {
    started.unbindStore(contexts);
    ended.unsubscribe(end);
  };
}
