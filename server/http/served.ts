import { GET as health } from "#app/api/health/route";
import { GET as ready } from "#app/api/ready/route";
import { GET as asyncApi } from "#app/asyncapi.json/route";
import { GET as grafana } from "#app/grafana.json/route";
import { GET as scrape } from "#app/metrics/route";
import { GET as openApi } from "#app/openapi.json/route";
import { GET as serviceStatus } from "#app/status.json/route";
import { SERVICE_STATUS_PATH } from "#lib/contract/service-status";
import type { Env } from "#lib/env";
import { createApi } from "#lib/http/api";
import { readOnly } from "#lib/http/methods";
import { openMetrics, openReady } from "#lib/http/operational";
import type { CallHandler } from "#lib/http/route";
import { handlers } from "#lib/operations/handlers";
import { handler as link } from "#lib/operations/link/answer";
import { FORWARDED_TICKS_PATH, type TickForwarder } from "#server/cluster/tick-forwarder";
import type { Portal } from "#server/portal/process";
import { hasPortal } from "#server/processes/pool-shares";
import type { Served } from "./serve";

const CALLS: readonly CallHandler[] = [...Object.values(handlers), link];

/** Answers the whole REST interface, without Next. */
export const createRestApi = () => createApi(CALLS);

/** Loaded on the first call, because its dependencies slow the start down. */
async function mcp(request: Request, context?: unknown): Promise<Response> {
  const { POST } = await import("#app/mcp/route");
  return POST(request, context);
}

const DOCUMENTS = {
  "/openapi.json": readOnly(openApi),
  "/asyncapi.json": readOnly(asyncApi),
  "/grafana.json": readOnly(grafana),
  "/mcp": mcp,
};

interface MarketParts extends Required<Pick<Served, "streams">>, Pick<Served, "portal" | "attempts"> {
  readonly env: Pick<Env, "ROLE">;
  readonly tickForwarder: Pick<TickForwarder, "answer">;
}

interface WorkerParts extends Required<Pick<Served, "streams">> {
  readonly env: Pick<Env, "PORTAL" | "ROLE">;
  /** Passes requests on to the market process, for which an edge worker has no state: pages, and those to operators. */
  readonly passOn: Pick<Portal, "handle" | "upgrade"> & { readonly operate: Portal["handle"] };
}

/** What the market process has for clients; on an ingest node for feeders alone. */
export function servedToClients({ env, streams, portal, attempts, tickForwarder }: MarketParts): Served {
  const operational = {
    "/api/health": health,
    "/api/ready": ready,
    "/metrics": scrape,
    [FORWARDED_TICKS_PATH]: tickForwarder.answer,
  };
  if (env.ROLE !== "ingest") {
    const direct = { ...operational, ...DOCUMENTS, [SERVICE_STATUS_PATH]: serviceStatus };
    return { calls: CALLS, direct, streams, portal, attempts };
  }
  const elsewhere = "This node only ingests market data; send client requests to an edge node.";
  const calls = CALLS.filter(({ operation }) => operation.scope === "market:ingest");
  return { calls, direct: operational, elsewhere };
}

/** What the market process has at a port for operators alone: without a token, so the port must be private. */
export const SERVED_TO_OPERATORS: Served = {
  calls: [],
  direct: { "/api/health": health, "/api/ready": openReady, "/metrics": openMetrics },
  elsewhere: "This port serves /metrics, /api/ready and /api/health.",
};

/** What an edge worker has for clients, at the port that it shares with the others. */
export function servedByWorker({ env, streams, passOn }: WorkerParts): Served {
  const { operate } = passOn;
  return {
    calls: CALLS,
    direct: { "/api/health": health, ...DOCUMENTS },
    passed: { "/api/ready": operate, "/metrics": operate, [SERVICE_STATUS_PATH]: operate },
    streams,
    portal: hasPortal(env) ? passOn : undefined,
  };
}

/** What the market process has for the other processes of its node: what they pass on, and what they do not have. */
export function servedToProcesses({ streams, portal, attempts, tickForwarder }: Omit<MarketParts, "env">): Served {
  const direct = {
    "/api/ready": ready,
    "/metrics": scrape,
    [FORWARDED_TICKS_PATH]: tickForwarder.answer,
    [SERVICE_STATUS_PATH]: serviceStatus,
    ...DOCUMENTS,
  };
  return { calls: CALLS, direct, streams, portal, attempts, inner: true };
}
