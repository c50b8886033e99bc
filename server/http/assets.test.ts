import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compressAssets } from "#server/cli/compress-assets";
import { serveAssets } from "./assets";

const SCRIPT = `console.log(${JSON.stringify("prices ".repeat(1_000))});`;

describe("built files", () => {
  let folder: string;
  let server: Server;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "spotwire-assets-"));
    await writeFile(path.join(folder, "page.js"), SCRIPT);
    await writeFile(path.join(folder, "small.css"), "a{}");
    await writeFile(path.join(folder, "..secret.txt"), "secret");
    await compressAssets(folder);
    const pages: RequestListener = ({ url }, response) => void response.end(`page ${url}`);
    server = createServer(serveAssets({ folder, pages }));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  function get(url: string, encoding = "identity", method = "GET") {
    const { port } = server.address() as AddressInfo;
    return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port, path: url, method, headers: { "accept-encoding": encoding } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
          );
        },
      );
      asked.on("error", reject).end();
    });
  }

  test.each([
    ["br", "br", (bytes: Buffer) => brotliDecompressSync(bytes)],
    ["gzip, deflate", "gzip", (bytes: Buffer) => gunzipSync(bytes)],
    ["identity", undefined, (bytes: Buffer) => bytes],
  ])("built files are served in the encoding that the client accepts: %s", async (accepted, sent, decode) => {
    const { status, headers, body } = await get("/_next/static/page.js", accepted);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "cache-control": "public,max-age=31536000,immutable",
      "content-type": "text/javascript",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    });
    expect(headers["content-encoding"]).toBe(sent);
    expect(decode(body).toString()).toBe(SCRIPT);
  });

  test("a small built file is served as it is", async () => {
    const { headers, body } = await get("/_next/static/small.css", "br, gzip");
    expect(headers["content-encoding"]).toBeUndefined();
    expect(body.toString()).toBe("a{}");
  });

  test.each([
    ["/_next/static/nothing.js", "GET"],
    ["/_next/static/../../package.json", "GET"],
    ["/_next/static/%2e%2e/package.json", "GET"],
    ["/_next/static/%ff", "GET"],
    ["/docs", "GET"],
    ["/_next/static/page.js", "POST"],
  ])("anything but a built file goes to the pages, with its URL unchanged: %s %s", async (url, method) => {
    expect((await get(url, "br", method)).body.toString()).toBe(`page ${url}`);
  });
});
