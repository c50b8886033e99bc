import { createHash, timingSafeEqual } from "node:crypto";
import { Fault, isFault } from "#lib/fault";
import { type Readiness, runningParts, runtime } from "#lib/runtime";
import type { Exchange } from "./exchange";
import { readOnly } from "./methods";
import { type Answer, failureOf, withoutBody } from "./respond";
import { handlerOf, type RouteHandler } from "./route";

const HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** Liveness: the process answers. Does not check the database, so that an orchestrator does not kill a process over an outage. */
export const health = readOnly(() => new Response('{"status":"ok"}', { headers: HEADERS }));

/**
 * The refusal of a request at the port of clients: 401 without METRICS_TOKEN where one is set, and 404 where METRICS_PORT is the
 * only way. Undefined for one that may pass, and before the service runs, when there is nothing to read.
 */
function refusalOf({ headers }: Request): Response | undefined {
  const { METRICS_TOKEN: token, METRICS_PORT: port } = runningParts()?.env ?? {};
  if (token === undefined)
    return port === undefined ? undefined : new Response('{"status":"not_found"}', { status: 404, headers: HEADERS });
  if (sameText(headers.get("authorization") ?? "", `Bearer ${token}`)) return undefined;
  return new Response('{"status":"unauthorized"}', { status: 401, headers: { ...HEADERS, "www-authenticate": "Bearer" } });
}

const digest = (text: string) => createHash("sha256").update(text).digest();

/** Takes the same time for every guess. */
const sameText = (given: string, wanted: string) => timingSafeEqual(digest(given), digest(wanted));

/**
 * Readiness: 200 when every part is healthy (`ready`) or the node serves with reduced function (`degraded`), 503 otherwise
 * (`not_ready`). Unhealthy parts are listed by name; what has nothing to judge says why, and not "ok". It tells what was found last, `age_ms` ago, and waits for nothing.
 */
async function readinessAnswer(): Promise<Response> {
  const { checks, idle, serving, ageMs } = await runtimeReadiness();
  const well = Object.values(checks).every((check) => check === null);
  const body = {
    status: well ? "ready" : serving ? "degraded" : "not_ready",
    age_ms: ageMs,
    checks: Object.fromEntries(Object.entries(checks).map(([name, wrong]) => [name, wrong ?? idle[name] ?? "ok"])),
  };
  return new Response(JSON.stringify(body), { status: serving ? 200 : 503, headers: HEADERS });
}

/** Readiness at the port of clients, and at METRICS_PORT, where everybody may read it. */
export const ready = readOnly((request) => refusalOf(request) ?? readinessAnswer());
export const openReady = readOnly(readinessAnswer);

async function runtimeReadiness(): Promise<Readiness> {
  try {
    return await runtime().ready();
  } catch (error) {
    return { checks: { runtime: isFault(error) ? error.message : "not running" }, idle: {}, serving: false, ageMs: 0 };
  }
}

const REPORT_METHODS = ["GET", "HEAD"];

async function statusAnswer({ method, headers }: Exchange): Promise<Answer> {
  Object.assign(headers, { "access-control-allow-origin": "*", "cache-control": "no-store" });
  try {
    if (!REPORT_METHODS.includes(method)) {
      headers.allow = REPORT_METHODS.join(", ");
      const detail = `This path does not accept ${method.slice(0, 20)}.`;
      throw new Fault("method_not_allowed", { detail, allowed: REPORT_METHODS });
    }
    return { status: 200, headers, body: JSON.stringify(await runtime().reports.status()) };
  } catch (error) {
    return failureOf(error, headers, "");
  }
}

/** The state of the service, public and readable from any origin: states, ages and history, no account data. */
export const serviceStatus: RouteHandler = handlerOf(async (exchange) => {
  const answered = await statusAnswer(exchange);
  return exchange.method === "HEAD" ? withoutBody(answered) : answered;
});

/** Prometheus text exposition of this node, with all its processes. */
async function metricsAnswer(): Promise<Response> {
  const { metrics: own, scrape } = runtime();
  return new Response(await scrape(), {
    headers: { "content-type": own.registry.contentType, "cache-control": "no-store" },
  });
}

/** Metrics at the port of clients, and at METRICS_PORT, where everybody may read them. */
export const metrics = readOnly((request) => refusalOf(request) ?? metricsAnswer());
export const openMetrics = readOnly(metricsAnswer);
