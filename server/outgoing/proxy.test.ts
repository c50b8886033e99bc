import { readFile } from "node:fs/promises";
import http, { createServer as createHttpServer, type IncomingMessage, type Server } from "node:http";
import https, { createServer as createHttpsServer, request } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { certificateMaker } from "#lib/testing/certificates";
import { connectThroughProxies, OutgoingAgent, proxyFor } from "./proxy";
import { createSend } from "./webhooks";

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

/** A proxy that connects every name to one port of this machine, and says what it was asked for. */
async function openProxy(port: () => number) {
  const asked: string[] = [];
  let status = 200;
  const server = createHttpServer();
  server.on("connect", ({ url }: IncomingMessage, client: Socket) => {
    asked.push(url ?? "");
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const far = connect(port(), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connected\r\n\r\n");
      far.pipe(client).pipe(far);
    });
    far.on("error", () => client.destroy());
    client.on("error", () => far.destroy());
  });
  await listen(server);
  return {
    asked,
    url: `http://127.0.0.1:${portOf(server)}`,
    answer: (next: number) => {
      status = next;
    },
    close: () => server.close(),
  };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ["https://api.example.com/x", "http://secure:1"],
  ["wss://api.example.com", "http://secure:1"],
  ["http://api.example.com", "http://plain:1"],
  ["ws://api.example.com", "http://plain:1"],
  ["https://feed.inside.example", ""],
  ["https://10.0.0.5:8443", ""],
  ["https://localhost:3000", ""],
  ["http://127.0.0.9", ""],
  ["http://[::1]:80", ""],
])("%s goes through %o", (address, proxy) => {
  vi.stubEnv("HTTPS_PROXY", "http://secure:1");
  vi.stubEnv("HTTP_PROXY", "http://plain:1");
  vi.stubEnv("NO_PROXY", ".inside.example,10.0.0.5");
  expect(proxyFor(address)).toBe(proxy);
});

test("fetch and plain requests of a process go through the proxies of its settings, and nothing changes where there are none", async () => {
  const far = createHttpServer((_, response) => response.end("far"));
  await listen(far);
  const proxy = await openProxy(() => portOf(far));
  const kept = [getGlobalDispatcher(), http.globalAgent, https.globalAgent] as const;
  try {
    connectThroughProxies({});
    expect([getGlobalDispatcher(), http.globalAgent, https.globalAgent]).toEqual(kept);
    vi.stubEnv("HTTP_PROXY", proxy.url);
    connectThroughProxies({ HTTP_PROXY: proxy.url, NO_PROXY: "near.example" });
    expect(await (await fetch("http://far.example/x")).text()).toBe("far");
    const text = await new Promise((resolve) => {
      http.get("http://other.example/x", (response) => response.setEncoding("utf8").once("data", resolve));
    });
    expect(text).toBe("far");
    expect(proxy.asked).toEqual(["far.example:80", "other.example:80"]);
    expect(await (await fetch(`http://127.0.0.1:${portOf(far)}`)).text()).toBe("far");
    expect(proxy.asked).toHaveLength(2);
  } finally {
    setGlobalDispatcher(kept[0]);
    [http.globalAgent, https.globalAgent] = [kept[1], kept[2]];
    far.closeAllConnections();
    far.close();
    proxy.close();
  }
});

const certificates = await certificateMaker();

describe.skipIf(certificates === undefined)("through a proxy (needs openssl)", () => {
  let far: Server;
  let ca: string;
  let proxy: Awaited<ReturnType<typeof openProxy>>;

  beforeAll(async () => {
    const made = await certificates?.issue("far.example");
    if (made === undefined) throw new Error("no certificate");
    ca = made.ca;
    const files = { cert: await readFile(made.certFile), key: await readFile(made.keyFile) };
    far = createHttpsServer(files, ({ headers, method }, response) => response.end(`${method} ${headers.host}`));
    new WebSocketServer({ server: far }).on("connection", (socket) => socket.send("hello"));
    await listen(far);
    proxy = await openProxy(() => portOf(far));
  });
  afterAll(async () => {
    far.close();
    proxy.close();
    await certificates?.close();
  });
  afterEach(() => proxy.asked.splice(0));

  test("HTTPS asks the proxy for the name, and speaks TLS with the far side", async () => {
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    const body = await new Promise<string>((resolve, reject) => {
      request("https://far.example/x", { agent: new OutgoingAgent(), ca }, (response) => {
        response.setEncoding("utf8").once("data", resolve);
      })
        .once("error", reject)
        .end();
    });
    expect(body).toBe("GET far.example");
    expect(proxy.asked).toEqual(["far.example:443"]);
  });

  test("a WebSocket does so, too", async () => {
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    const socket = new WebSocket("wss://far.example:5036/stream", { agent: new OutgoingAgent(), ca });
    const text = await new Promise<string>((resolve, reject) => {
      socket.once("message", (data) => resolve(data.toString())).once("error", reject);
    });
    socket.terminate();
    expect(text).toBe("hello");
    expect(proxy.asked).toEqual(["far.example:5036"]);
  });

  test("a proxy that refuses is an answer, not a hang", async () => {
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    proxy.answer(407);
    const socket = new WebSocket("wss://far.example", { agent: new OutgoingAgent(), ca });
    const status = await new Promise((resolve) => {
      socket.once("unexpected-response", (_, { statusCode }) => resolve(statusCode)).once("error", () => resolve("error"));
    });
    proxy.answer(200);
    expect(status).toBe(407);
  });

  test("a webhook asks it for the address that was checked, not for the name, which could be resolved to another one", async () => {
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    const send = createSend({
      userAgent: "Acme-Webhooks/1",
      allowedHosts: [],
      ports: [443],
      resolve: async () => ["93.184.216.34"],
    });
    const { globalAgent } = https;
    https.globalAgent = new OutgoingAgent() as never;
    try {
      const message = { url: "https://far.example/hook", secret: "whsec_c2VjcmV0", id: "m1", body: "{}", nowMs: 0 };
      // Its certificate is of an authority that the machine does not know: TLS was spoken with the far side, for its name.
      expect((await send(message)).problem).toMatch(/certificate of the receiver is not trusted/);
    } finally {
      https.globalAgent = globalAgent;
    }
    expect(proxy.asked).toEqual(["93.184.216.34:443"]);
  });
});
