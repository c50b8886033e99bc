import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, fetch } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { INGEST_MAX_BYTES } from "#lib/contract/limits";
import { operations } from "#lib/operations/declarations";
import { type CertificateMaker, certificateMaker } from "#lib/testing/certificates";
import { missing } from "#lib/testing/packages";
import { connectSocketIo, connectWebSocket } from "#lib/testing/stream-client";
import { keyHolder, type MadeKey, makeKey, makeLiveKey } from "./commands";
import { createFeeder, INGEST_PATH, type PushedTick } from "./feeder";
import { layWire, recipeOf, type StartedProxy, startCaddy, startNginx } from "./proxies";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

/** Addresses of this machine from which a client can connect to a proxy. */
const ALLOWED_ADDRESS = "127.0.0.2";
const OTHER_ADDRESS = "127.0.0.3";
const SOON = { timeout: 60_000, interval: 50 };
const HOST = "market.example.com";

let product: Product;
let keys: Record<"all" | "ingest" | "fixed", MadeKey>;
let tick: PushedTick;
let certificates: CertificateMaker | undefined;
let proxy: StartedProxy | undefined;

beforeAll(async () => {
  certificates = await certificateMaker();
  product = await startProduct({ ...API_ONLY, LIVE_FEED: "push", TRUSTED_PROXIES: "127.0.0.1" });
  keys = {
    all: await makeLiveKey(product, "market:read,market:stream"),
    ingest: await makeLiveKey(product, "market:ingest"),
    fixed: await makeKey(product, { venue: "live", scopes: "market:read", addresses: ALLOWED_ADDRESS }),
  };
  const feeder = createFeeder(keyHolder(product, keys.ingest));
  const ticks = feeder.ticks("EURUSD", [[108_540, 108_548]]);
  await feeder.push(ticks);
  tick = ticks[0] as PushedTick;
  // Certificates of the tests are for another host.
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
}, SERVER_TIMEOUT_MS);
afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await certificates?.close();
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

const bearer = ({ text }: MadeKey) => ({ authorization: `Bearer ${text}` });
const nodes = () => [new URL(product.baseUrl).host, new URL(product.baseUrl).host];

/** The file that the steps of Scaling write for nginx, with the nodes of the other recipes. */
async function ofScaling(): Promise<string> {
  const steps = await recipeOf("scaling", "bash", "server/deploy/nginx.conf");
  const command = /sed [\s\S]*?nginx\.conf/.exec(steps)?.[0] ?? "";
  return execFileSync("bash", ["-c", command], { encoding: "utf8" }).replace(/127\.0\.0\.1:400\d/g, "127.0.0.1:3000");
}

const RECIPES: readonly (readonly [name: string, program: "nginx" | "caddy", start: () => Promise<StartedProxy>])[] = [
  [
    "nginx for one node (Self-hosting), with TLS",
    "nginx",
    async () => startNginx(await recipeOf("self-hosting", "nginx", "server {"), nodes(), await certificates?.issue(HOST)),
  ],
  [
    "Caddy for one node (Self-hosting)",
    "caddy",
    async () => startCaddy(await recipeOf("self-hosting", "bash", "caddy run"), nodes()),
  ],
  ["nginx for several nodes (Deploy)", "nginx", async () => startNginx(await recipeOf("deploy", "nginx", "server {"), nodes())],
  ["server/deploy/nginx.conf", "nginx", () => startNginx(readFileSync("server/deploy/nginx.conf", "utf8"), nodes())],
  ["server/deploy/Caddyfile (Deploy)", "caddy", async () => startCaddy(await recipeOf("deploy", "bash", "caddy run"), nodes())],
  ["nginx on one machine (Scaling)", "nginx", async () => startNginx(await ofScaling(), nodes())],
  ["Caddy on one machine (Scaling)", "caddy", async () => startCaddy(await recipeOf("scaling", "bash", "caddy run"), nodes())],
];

describe.each(RECIPES)("%s", (_, program, start) => {
  test(
    "passes calls, bodies of the largest size, streams and the address of the client, and nothing for operators",
    async ({ skip }) => {
      const absent = missing(program, "openssl");
      skip(absent !== null, absent ?? "");
      proxy = await start();
      const { url } = proxy;
      const instruments = `${url}${operations.instruments.path}?limit=1`;
      await vi.waitFor(async () => expect((await fetch(instruments, { headers: bearer(keys.all) })).status).toBe(200), SOON);

      const line = `${JSON.stringify({ ...tick, time_msc: Date.now() })}\n`;
      const largest = { method: "POST", headers: bearer(keys.ingest), body: line.padEnd(INGEST_MAX_BYTES, "\n") };
      expect((await fetch(url + INGEST_PATH, largest)).status).toBe(200);

      const shown = { key: keys.all.text, address: "192.0.2.1" };
      const streams = [
        await connectWebSocket(url, shown),
        await connectSocketIo(url, { ...shown, transports: ["websocket"] }),
        await connectSocketIo(url, { ...shown, transports: ["polling"] }),
      ];
      for (const stream of streams) {
        expect(await stream.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] })).toMatchObject({ type: "ack" });
        expect(await stream.next("quote")).toMatchObject({ ticker: "EURUSD" });
        await stream.close();
      }

      const from = async (localAddress: string, headers: Record<string, string> = {}) => {
        const dispatcher = new Agent({ localAddress });
        const { status } = await fetch(instruments, { dispatcher, headers: { ...bearer(keys.fixed), ...headers } });
        await dispatcher.close();
        return status;
      };
      expect(await from(ALLOWED_ADDRESS)).toBe(200);
      expect(await from(OTHER_ADDRESS, { "x-forwarded-for": ALLOWED_ADDRESS })).toBe(403);

      for (const path of ["/metrics", "/api/ready"]) expect((await fetch(url + path)).status, path).toBe(404);
    },
    SERVER_TIMEOUT_MS,
  );
});

const POOLED: readonly (readonly [file: string, program: "nginx" | "caddy", start: (node: string) => Promise<StartedProxy>])[] = [
  ["server/deploy/nginx.conf", "nginx", (node) => startNginx(readFileSync("server/deploy/nginx.conf", "utf8"), [node, node])],
  ["server/deploy/Caddyfile", "caddy", async (node) => startCaddy(await recipeOf("deploy", "bash", "caddy run"), [node, node])],
];

describe.each(POOLED)("%s", (_, program, start) => {
  test(
    "ends an idle connection before the service does, so that no request meets a connection that is being closed",
    async ({ skip }) => {
      const absent = missing(program);
      skip(absent !== null, absent ?? "");
      const wire = await layWire(new URL(product.baseUrl).host);
      onTestFinished(() => wire.close());
      proxy = await start(wire.address);
      const { url } = proxy;
      const push = async () => {
        const body = JSON.stringify({ ...tick, time_msc: Date.now() });
        return (await fetch(url + INGEST_PATH, { method: "POST", headers: bearer(keys.ingest), body })).status;
      };
      await vi.waitFor(async () => expect(await push()).toBe(200), SOON);
      expect(await Promise.all(Array.from({ length: 8 }, push))).toEqual(Array(8).fill(200));
      const side = await wire.ended;
      // The other side does not know of it yet.
      expect({ side, status: await push() }).toEqual({ side: "proxy", status: 200 });
    },
    SERVER_TIMEOUT_MS,
  );
});
