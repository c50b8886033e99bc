import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Failure } from "#lib/contract/envelope";
import { createMarketCall } from "./call-market";

let folder: string;
let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const call = (target: string, init?: RequestInit) =>
  createMarketCall(path.join(folder, "market.sock"))(new Request(`http://spotwire.test${target}`, init));

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "call-"));
  server = createServer((request, response) => answer(request, response));
  await once(server.listen(path.join(folder, "market.sock")), "listening");
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

test("target, method, headers and body reach the market process, and its answer comes back as it is", async () => {
  answer = async (request, response) => {
    const body = await text(request);
    const { method, url, headers } = request;
    response.writeHead(418, { "content-type": "text/plain", "content-encoding": "gzip", "x-request-id": "req_1" });
    response.end(gzipSync(`${method} ${url} ${headers.host} ${headers["x-spotwire-address"]} ${body}`));
  };
  const headers = { host: "spotwire.test", "x-spotwire-address": "203.0.113.7", connection: "keep-alive" };
  const response = await call("/api/v1/ingest/ticks?a=%2F&b=1", { method: "POST", headers, body: "line" });
  expect([response.status, response.headers.get("x-request-id"), response.headers.get("connection")]).toEqual([
    418,
    "req_1",
    null,
  ]);
  expect(gunzipSync(await response.arrayBuffer()).toString()).toBe(
    "POST /api/v1/ingest/ticks?a=%2F&b=1 spotwire.test 203.0.113.7 line",
  );
});

test.each([204, 304])("an answer without a body, %i, comes back without one", async (status) => {
  answer = (_, response) => response.writeHead(status).end();
  const response = await call("/api/v1/market/klines");
  expect([response.status, response.body]).toEqual([status, null]);
});

test("a market process that does not answer is service_unavailable, under the id of the request", async () => {
  answer = (request) => request.socket.destroy();
  const response = await call("/api/v1/market/klines", { headers: { "x-request-id": "req_lost" } });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  const failure = Failure.parse(await response.json());
  expect(failure).toMatchObject({ message: "service_unavailable", data: { detail: "The market process does not answer." } });
});
