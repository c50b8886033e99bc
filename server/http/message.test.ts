import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApi } from "#lib/http/api";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { createHttpServer } from "./server";

let server: Server;

beforeAll(async () => {
  server = createHttpServer({
    api: createApi({}),
    direct: { "/api/health": () => new Response("well") },
    socketIo: (_, response) => response.end(),
    pages: (_, response) => response.end("a page"),
    authRateLimit: () => undefined,
    keylessCalls: () => undefined,
    addressOf: () => "192.0.2.1",
    log: createLog("silent"),
    metrics: createMetrics(),
    hsts: "max-age=31536000",
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

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

const refused: readonly [why: string, lines: readonly string[], status: number, code: number, parameter?: string][] = [
  ["TRACE of a page", ["TRACE / HTTP/1.1", "Host: a"], 405, 40501],
  ["a method that no path has", ["PROPFIND /api/portal/keys HTTP/1.1", "Host: a"], 405, 40501],
  ["CONNECT", ["CONNECT a:443 HTTP/1.1", "Host: a:443"], 405, 40501],
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
      expect(answer.text).toMatch(/^content-type: application\/json/im);
      if (status === 405) expect(answer.text).toMatch(/^allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS$/im);
      expect(JSON.parse(answer.text.slice(answer.text.indexOf("\r\n\r\n")))).toMatchObject({
        code,
        data: { request_id: expect.stringMatching(/^req_/), ...(parameter !== undefined && { parameter }) },
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
