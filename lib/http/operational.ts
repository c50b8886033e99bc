import type { ServiceStatus } from "#lib/contract/service-status";
import { isFault } from "#lib/fault";
import { type Runtime, runtime } from "#lib/runtime";
import { requestIdOf } from "./request-id";
import { failureOf, jsonHeaders, toResponse } from "./respond";

const HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** Live: the process answers. Says nothing of its parts, so that an orchestrator does not kill it for a database's sake. */
export function health(): Response {
  return new Response('{"status":"ok"}', { headers: HEADERS });
}

/** Ready to be sent traffic: 200 when every part is well, 503 with what is wrong otherwise. */
export async function ready(): Promise<Response> {
  let checks: Record<string, string | null>;
  try {
    checks = await runtime().ready();
  } catch (error) {
    checks = { runtime: isFault(error) ? error.message : "not running" };
  }
  const well = Object.values(checks).every((check) => check === null);
  const body = {
    status: well ? "ready" : "not_ready",
    checks: Object.fromEntries(Object.entries(checks).map(([name, wrong]) => [name, wrong ?? "ok"])),
  };
  return new Response(JSON.stringify(body), { status: well ? 200 : 503, headers: HEADERS });
}

/** Public, for pages of any site: states, ages and history, nothing of any account. */
export function healthReport(report: (running: Runtime) => Promise<ServiceStatus>): () => Promise<Response> {
  const headers = { ...HEADERS, "access-control-allow-origin": "*" };
  return async () => {
    try {
      return new Response(JSON.stringify(await report(runtime())), { headers });
    } catch (error) {
      return toResponse(failureOf(error, { ...jsonHeaders(requestIdOf(null)), "access-control-allow-origin": "*" }, ""));
    }
  };
}

/** Prometheus text exposition of this process. */
export async function metrics(): Promise<Response> {
  const { registry } = runtime().metrics;
  return new Response(await registry.metrics(), {
    headers: { "content-type": registry.contentType, "cache-control": "no-store" },
  });
}
