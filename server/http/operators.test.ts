import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createMemoryBucketStore } from "#lib/access/limits/bucket-store";
import { metrics, ready } from "#lib/http/operational";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { readEnv } from "#server/env";
import { testRuntime } from "#server/testing/runtime";
import { createKeylessCalls } from "./keyless-calls";
import { hstsOf, serveClients } from "./serve";
import { SERVED_TO_OPERATORS } from "./served";

const TOKEN = "a token of operators";
const PATHS = [
  ["/metrics", metrics],
  ["/api/ready", ready],
] as const;

async function start(variables: Record<string, string>) {
  const service = await testRuntime({ variables });
  onTestFinished(() => service.close());
  return service;
}

/** The status at the port of clients. */
async function statusOf(handler: (request: Request) => Response | Promise<Response>, authorization?: string): Promise<number> {
  const headers = authorization === undefined ? {} : { authorization };
  return (await handler(new Request("http://node/", { headers }))).status;
}

test("/metrics and /api/ready need no token where none is set", async () => {
  await start({});
  expect(await statusOf(metrics)).toBe(200);
  expect(await statusOf(ready)).not.toBe(401);
});

test("with METRICS_TOKEN, /metrics and /api/ready refuse everybody else with 401, and tell nothing", async () => {
  await start({ METRICS_TOKEN: TOKEN });
  for (const [, handler] of PATHS) {
    for (const given of [undefined, "", "Bearer ", `Bearer ${TOKEN}x`, TOKEN, `Basic ${TOKEN}`])
      expect(await statusOf(handler, given)).toBe(401);
    const refused = await handler(new Request("http://node/"));
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    expect(await refused.text()).toBe('{"status":"unauthorized"}');
    expect(await statusOf(handler, `Bearer ${TOKEN}`)).not.toBe(401);
  }
});

test("with METRICS_PORT, that port serves /metrics, /api/ready and /api/health and nothing else, and the port of clients serves neither", async () => {
  const service = await start({ METRICS_PORT: "9464" });
  for (const [, handler] of PATHS) expect(await statusOf(handler)).toBe(404);
  const shared = { metrics: createMetrics(), addressOf: () => "192.0.2.1" };
  const keylessCalls = createKeylessCalls({ ...shared, buckets: createMemoryBucketStore(service.clock) });
  const operators = { ...shared, keylessCalls, env: service.env, log: createLog("silent") };
  const server = await serveClients(operators, SERVED_TO_OPERATORS, 0);
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  expect(await status("/metrics")).toBe(200);
  expect(await status("/api/health")).toBe(200);
  expect([200, 503]).toContain(await status("/api/ready"));
  expect([404, 405]).toContain(await status("/api/v1/market/instruments"));
  expect(await status("/")).toBe(404);
  const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAoAAAAAIAAAAA" };
  const [offering] = (await once(get({ port, host: "127.0.0.1", path: "/metrics", headers }), "response")) as [IncomingMessage];
  expect(offering.statusCode).toBe(200);
});

test("with METRICS_PORT and METRICS_TOKEN, the port of clients takes the token", async () => {
  await start({ METRICS_PORT: "9464", METRICS_TOKEN: TOKEN });
  expect(await statusOf(metrics, `Bearer ${TOKEN}`)).toBe(200);
  expect(await statusOf(metrics)).toBe(401);
});

test("browsers are asked to stay with HTTPS where clients use it, and for subdomains only where the operator says so", () => {
  const env = (variables: Record<string, string>) => hstsOf(readEnv(variables));
  expect(env({ PUBLIC_URL: "http://market.example.com", HSTS_SUBDOMAINS: "on" })).toBeUndefined();
  expect(env({})).toBeUndefined();
  expect(env({ PUBLIC_URL: "https://market.example.com" })).toBe("max-age=31536000");
  expect(env({ PUBLIC_URL: "HTTPS://Market.Example.com:443/" })).toBe("max-age=31536000");
  expect(env({ PUBLIC_URL: "https://market.example.com", HSTS_SUBDOMAINS: "on" })).toBe("max-age=31536000; includeSubDomains");
});
