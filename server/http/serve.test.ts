import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { testRuntime } from "#server/testing/runtime";
import { serveClients } from "./serve";
import { servedToClients } from "./served";

/** The port of an ingest node. */
async function startIngestNode(): Promise<number> {
  const service = await testRuntime({ variables: { HOST: "127.0.0.1" } });
  onTestFinished(() => service.close());
  const env = { ...service.env, ROLE: "ingest", PORT: 0 } as const;
  const unused = () => {
    throw new Error("not for feeders");
  };
  const streams = { webSocket: unused, socketIo: { handleRequest: unused, handleUpgrade: unused } };
  const shared = { addressOf: () => "192.0.2.1", keylessCalls: { call: () => undefined } };
  const server = await serveClients(
    { ...shared, env, log: createLog("silent"), metrics: createMetrics() },
    servedToClients({ env, streams, tickForwarder: { answer: async () => new Response("forwarded") } }),
  );
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The first answer to a message, as text. */
async function answerTo(port: number, lines: readonly string[], body = ""): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`${[...lines, "Host: node"].join("\r\n")}\r\n\r\n${body}`);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
    socket.end();
  });
  await once(socket, "close");
  return text;
}

test("an ingest node answers a client that offers HTTP/2, and says where streams are", async () => {
  const port = await startIngestNode();
  const h2c = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"];
  expect(await answerTo(port, ["GET /api/health HTTP/1.1", ...h2c])).toMatch(/^HTTP\/1\.1 200 /);
  expect(await answerTo(port, ["POST /api/v1/ingest/ticks HTTP/1.1", ...h2c, "Content-Length: 2"], "[]")).toContain(
    "omit the Upgrade header",
  );
  const stream = ["GET /api/v1/market/stream HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  expect(await answerTo(port, stream)).toMatch(/^HTTP\/1\.1 404 .*This node only ingests market data/s);
});
