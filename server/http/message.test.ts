import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApi } from "#lib/http/api";
import { readOnly } from "#lib/http/methods";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { createHttpServer } from "./server";

const DOCS_BASE = "https://prices.example.com";
let server: Server;
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
  server = createHttpServer({
    api: createApi([]),
    direct: { "/api/health": readOnly(() => new Response("well")) },
    socketIo: (_, response) => response.end(),
    pages: (_, response) => response.end("a page"),
    authRateLimit: () => undefined,
    keylessCalls: () => undefined,
    addressOf: () => "192.0.2.1",
    log: createLog("silent"),
    metrics: createMetrics(),
    docsBase: DOCS_BASE,
    hsts: "max-age=31536000",
    keepAliveMs: 0,
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await t.close();
});

/** Sends a head as it is; resolves to the whole answer once the server has closed the connection. */
async function ask(...lines: string[]): Promise<{ status: number; text: string }> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await once(socket, "close");
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
}

/** The body of an answer that is an envelope. */
function envelopeOf(text: string): unknown {
  expect(text).toMatch(/^content-type: application\/json/im);
  return JSON.parse(text.slice(text.indexOf("\r\n\r\n")));
}

const PAGE_METHODS = "GET, HEAD";
const CALL_METHODS = "GET, HEAD, OPTIONS";
const PORTAL_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const CALL = "/api/v1/market/quotes/latest?tickers=EURUSD";

const notAllowed: readonly [line: string, allow: string][] = [
  ["TRACE /", PAGE_METHODS],
  [`TRACE ${CALL}`, CALL_METHODS],
  ["TRACE /api/v1/market/stream/tickets", "POST, OPTIONS"],
  ["TRACE /api/health", CALL_METHODS],
  ["PROPFIND /api/portal/keys", PORTAL_METHODS],
  ["FROB /mcp", "POST, OPTIONS"],
  ["CONNECT a:443", ""],
  ["FROB /markets", PAGE_METHODS],
  [`FROB ${CALL}`, CALL_METHODS],
  ["get /", PAGE_METHODS],
];

describe("a method that a path does not have", () => {
  test.each(notAllowed)("%s is refused with 40501, and Allow names those that it has: %s", async (line, allow) => {
    const { status, text } = await ask(`${line} HTTP/1.1`, "Host: a", "Connection: close");
    expect(status).toBe(405);
    expect(/^allow: ?(.*)$/im.exec(text)?.[1]).toBe(allow);
    expect(envelopeOf(text)).toMatchObject({ code: 40501, data: { request_id: expect.stringMatching(/^req_/) } });
  });
});

describe("a path under /api", () => {
  test.each([
    "/api",
    "/api/",
    "/API/v1/market/instruments",
    "//api/v1/market/instruments",
    "/Api/portal/keys",
    "/api/v1",
    "/api/x",
  ])("%s is no page: where nothing is, the envelope says so", async (path) => {
    const { status, text } = await ask(`GET ${path} HTTP/1.1`, "Host: a", "Connection: close");
    expect(status).toBe(404);
    expect(envelopeOf(text)).toMatchObject({ code: 40402 });
    const unknown = await ask(`FROB ${path} HTTP/1.1`, "Host: a", "Connection: close");
    expect(unknown.status).toBe(404);
    expect(unknown.text).not.toMatch(/^allow:/im);
  });

  test("/apiary is a page", async () => {
    expect((await ask("GET /apiary HTTP/1.1", "Host: a", "Connection: close")).text).toMatch(/a page$/);
  });
});

const refused: readonly [why: string, lines: readonly string[], status: number, code: number, parameter?: string][] = [
  ["bytes that are no request line", ["FROB"], 400, 40001],
  ["an unknown expectation", ["GET / HTTP/1.1", "Host: a", "Expect: miracles"], 417, 40001, "Expect"],
  ["a missing Host", ["GET / HTTP/1.1"], 400, 40001, "Host"],
  ["two Hosts", ["GET / HTTP/1.1", "Host: a", "hOST: b"], 400, 40001, "Host"],
  ["chunks in HTTP/1.0", ["POST / HTTP/1.0", "Host: a", "Transfer-Encoding: chunked"], 400, 40001, "Transfer-Encoding"],
];

describe("a message that two readers may read in two ways", () => {
  test.each(refused)(
    "%s is refused with the envelope and the end of the connection",
    async (_, lines, status, code, parameter) => {
      const answer = await ask(...lines);
      expect(answer.status).toBe(status);
      expect(envelopeOf(answer.text)).toMatchObject({
        code,
        data: {
          request_id: expect.stringMatching(/^req_/),
          docs_url: expect.stringMatching(new RegExp(`^${DOCS_BASE}/docs/errors`)),
          ...(parameter !== undefined && { parameter }),
        },
      });
    },
  );

  test("HTTP/1.0 without a Host is answered", async () => {
    expect((await ask("GET / HTTP/1.0")).text).toMatch(/a page$/);
  });

  test.each(["/", "/api/health", "/%ff"])("%s carries the headers that hold for every answer", async (path) => {
    const { text } = await ask(`GET ${path} HTTP/1.1`, "Host: a", "Connection: close");
    expect(text).toMatch(/^x-content-type-options: nosniff$/im);
    expect(text).toMatch(/^strict-transport-security: max-age=31536000$/im);
  });
});
