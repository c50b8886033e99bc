import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CLOSES } from "#lib/contract/close-codes";
import {
  CONNECTIONS_CLIENT_MAX_COUNT,
  KEYLESS_CLIENT_PER_MINUTE_COUNT,
  PLAN_DEFAULTS,
  REQUEST_HEADERS_TIMEOUT_MS,
  SOCKET_IO_OPENING_CLIENT_MAX_COUNT,
} from "#lib/contract/limits";
import { operations } from "#lib/operations/declarations";
import { makeKey } from "../commands";
import { MEASURED, type Memory, measure } from "../faults/memory";
import { type Product, portalPid, residentBytesOf, SERVER_TIMEOUT_MS, startProduct } from "../server";
import { type Bystander, startBystander } from "./bystander";
import { fuzz } from "./fuzz";
import { startPageFlood } from "./page-flood";
import { floodPongs, processorSecondsOf } from "./pongs";

const MIB = 1_048_576;
/** Of the memory before an attack, so much may be added after it. */
const GROWTH_MAX_SHARE = 0.1;
/** Resident memory that no object needs: V8 enlarges the two halves of its young generation to 16 MiB each when it sees fit. */
const YOUNG_MAX_BYTES = 2 * 16 * MIB;
/** The allocator returns memory at its own pace. */
const BACK_MAX_MS = 60_000;
const CASE_TIMEOUT_MS = 120_000;
/** How often each stream of a flood of pongs is opened again, and the part of a core that they may take, others included. */
const PONG_ROUNDS = 3;
const PONGS_MAX_CORE_SHARE = 0.3;
/** How long the loops over pages last. */
const PAGE_LOOPS_MS = 10_000;
/** Random requests; FUZZED_COUNT sets more, for a long run. */
const FUZZED_COUNT = Number(process.env.FUZZED_COUNT ?? 5_000);
const WARM_UP_COUNT = 1_000;
const WARM_UP_ANSWERS_COUNT = 30;
const SEED = 20_261_122;

let product: Product;
let key: string;
let bystander: Bystander;

beforeAll(async () => {
  product = await startProduct({ ...MEASURED, TRUSTED_PROXIES: "127.0.0.1" });
  key = (await makeKey(product, { venue: "sandbox", scopes: "market:read", plan: "pro" })).text;
}, SERVER_TIMEOUT_MS);
afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

function memory(): Promise<Memory> {
  return measure({ pid: () => product.pid, output: product.output, residentBytes: () => residentBytesOf(product.pid) });
}

/** The value of a line of /metrics; 0 before the first count. */
async function counted(line: string): Promise<number> {
  const text = await (await fetch(`${product.baseUrl}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length) ?? 0,
  );
}
const refused = (where: string, reason: string) => counted(`spotwire_refused_total{where="${where}",reason="${reason}"}`);

/** Lets strangers do something; afterwards the memory is back, and a client with a key has noticed nothing wrong. */
async function withstands(name: string, attack: () => Promise<void>): Promise<void> {
  const before = await memory();
  bystander = startBystander(product.baseUrl, key);
  const stopped = () => bystander.stop();
  // One that went on would use up the limits of the next case.
  await attack().catch((error: unknown) => stopped().then(() => Promise.reject(error)));
  const { answers, wrong, worstMs } = await stopped();
  let after = await memory();
  const isBack = () =>
    after.liveBytes < before.liveBytes * (1 + GROWTH_MAX_SHARE) &&
    after.residentBytes < before.residentBytes * (1 + GROWTH_MAX_SHARE) + YOUNG_MAX_BYTES;
  for (const untilMs = Date.now() + BACK_MAX_MS; !isBack() && Date.now() < untilMs; ) after = await memory();
  const change = (of: "liveBytes" | "residentBytes") => `${Math.round(before[of] / MIB)} → ${Math.round(after[of] / MIB)} MiB`;
  const shown = `live ${change("liveBytes")}, resident ${change("residentBytes")}`;
  process.stdout.write(`  ${name}: ${shown}; a client got ${answers} answers, the slowest after ${Math.round(worstMs)} ms\n`);
  expect(wrong).toEqual([]);
  expect(answers).toBeGreaterThan(0);
  expect(isBack(), shown).toBe(true);
}

async function readPages(path: string, count: number, connections: number): Promise<void> {
  let left = count;
  const read = async () => {
    while (left > 0) {
      left -= 1;
      const response = await fetch(product.baseUrl + path);
      expect(response.status).toBe(200);
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: connections }, read));
}

describe("a portal that fails", () => {
  test.each([
    ["ends", "SIGKILL"],
    ["hangs", "SIGSTOP"],
  ] as const)(
    "when its process %s, no call notices, and the pages come back",
    async (_, signal) => {
      const before = await portalPid(product);
      const client = startBystander(product.baseUrl, key);
      process.kill(before, signal);
      const beganMs = performance.now();
      await vi.waitFor(async () => expect((await fetch(`${product.baseUrl}/signin`)).status).toBe(200), { interval: 100 });
      process.stdout.write(`  ${signal}: pages are back after ${Math.round(performance.now() - beganMs)} ms\n`);
      const { answers, wrong } = await client.stop();
      expect(wrong).toEqual([]);
      expect(answers).toBeGreaterThan(0);
      expect(await portalPid(product)).not.toBe(before);
    },
    CASE_TIMEOUT_MS,
  );
});

describe("strangers without a key", () => {
  test(
    "reading the status page again and again leaves no memory behind",
    async () => {
      // The first pages compile the code and fill the caches.
      await readPages("/status", 60, 4);
      await withstands("status pages", () => readPages("/status", 200, 4));
    },
    CASE_TIMEOUT_MS,
  );

  test.each([
    ["that no page has", undefined],
    ["that need Next", () => `/signin?next=${Math.random()}`],
  ] as const)(
    "576 loops over paths %s, from nine addresses of one network, keep nobody else from signing in or reading pages",
    (_, pathOf) =>
      withstands("page loops", async () => {
        const paths = ["/signin", "/api/auth/csrf", "/", "/status", "/docs/quickstart"];
        const headers = { "x-forwarded-for": "203.0.113.9" };
        const read = async (path: string) => {
          const response = await fetch(product.baseUrl + path, { headers });
          await response.text();
          return response.status;
        };
        for (const path of paths) await read(path);
        const flood = startPageFlood(product.baseUrl, pathOf);
        const statuses = new Map<string, number>();
        let slowestMs = 0;
        for (const untilMs = Date.now() + PAGE_LOOPS_MS; Date.now() < untilMs; )
          for (const path of paths) {
            const beganMs = performance.now();
            const seen = `${path} ${await read(path)}`;
            slowestMs = Math.max(slowestMs, performance.now() - beganMs);
            statuses.set(seen, (statuses.get(seen) ?? 0) + 1);
          }
        const flooded = await flood.stop();
        const shown = JSON.stringify({ others: Object.fromEntries(statuses), loops: Object.fromEntries(flooded) });
        process.stdout.write(`  ${shown}; the slowest page of others after ${Math.round(slowestMs)} ms\n`);
        expect([...statuses.keys()].sort()).toEqual(paths.map((path) => `${path} 200`).sort());
      }),
    CASE_TIMEOUT_MS,
  );

  test(
    "opening Socket.IO connections again and again ends at the limit of a client",
    () =>
      withstands("Socket.IO", async () => {
        const before = await refused("socket.io", "too_many_openings");
        const agent = new Agent({ keepAlive: true, maxSockets: 20 });
        const open = () =>
          new Promise<number>((resolve, reject) => {
            const headers = { "x-forwarded-for": "198.51.100.9" };
            get(`${product.baseUrl}/socket.io/?EIO=4&transport=polling`, { agent, headers }, (answer) => {
              answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
            }).on("error", reject);
          });
        const statuses = await Promise.all(Array.from({ length: 2_000 }, open));
        agent.destroy();
        expect(statuses.filter((status) => status === 200)).toHaveLength(SOCKET_IO_OPENING_CLIENT_MAX_COUNT);
        expect(new Set(statuses)).toEqual(new Set([200, 429]));
        expect((await refused("socket.io", "too_many_openings")) - before).toBe(2_000 - SOCKET_IO_OPENING_CLIENT_MAX_COUNT);
      }),
    CASE_TIMEOUT_MS,
  );

  test(
    "holding thousands of connections ends at the limit of a client, and calls without a key at their rate",
    () =>
      withstands("connections and calls", async () => {
        const { hostname, port } = new URL(product.baseUrl);
        const before = await refused("tcp", "too_many_of_client");
        const held: Socket[] = [];
        let closed = 0;
        // Not from the trusted proxy, whose connections do not count.
        for (let index = 0; index < CONNECTIONS_CLIENT_MAX_COUNT + 50; index += 1) {
          const socket = connect({ port: Number(port), host: hostname, localAddress: "127.0.0.2" });
          socket
            .on("error", () => undefined)
            .on("close", () => {
              closed += 1;
            });
          held.push(socket);
        }
        await vi.waitFor(() => expect(closed).toBeGreaterThanOrEqual(50));
        expect((await refused("tcp", "too_many_of_client")) - before).toBe(50);
        for (const socket of held) socket.destroy();
        const agent = new Agent({ keepAlive: true, maxSockets: 20 });
        const ask = () =>
          new Promise<number>((resolve, reject) => {
            const headers = { "x-forwarded-for": "198.51.100.10" };
            get(product.baseUrl + operations.instruments.path, { agent, headers }, (answer) => {
              answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
            }).on("error", reject);
          });
        const refusedBefore = await refused("keyless", "client");
        const statuses = await Promise.all(Array.from({ length: KEYLESS_CLIENT_PER_MINUTE_COUNT }, ask));
        agent.destroy();
        expect(new Set(statuses)).toEqual(new Set([401, 429]));
        const count = statuses.filter((status) => status === 429).length;
        expect((await refused("keyless", "client")) - refusedBefore).toBe(count);
      }),
    CASE_TIMEOUT_MS,
  );

  test(
    "pongs that answer no ping end each stream of the demo key at the rate of messages, and are not read any further",
    () =>
      withstands("pongs", async () => {
        const streams = PLAN_DEFAULTS.demo.streamConnections;
        const flooded = 'spotwire_stream_closes_total{reason="flooding"}';
        const [before, from] = [await counted(flooded), await processorSecondsOf(product.pid)];
        const beganMs = performance.now();
        const { closes, bytes } = await floodPongs(product.baseUrl, product.demoKey ?? "", { streams, times: PONG_ROUNDS });
        const tookS = (performance.now() - beganMs) / 1000;
        const busyS = (await processorSecondsOf(product.pid)) - from;
        const shown = `${closes.length} streams, ${(bytes / MIB).toFixed(1)} MiB in ${tookS.toFixed(1)} s`;
        process.stdout.write(`  ${shown}: ${(busyS * 1000).toFixed(0)} ms of processor time\n`);
        expect(closes).toEqual(Array(streams * PONG_ROUNDS).fill(CLOSES.flooding.code));
        expect((await counted(flooded)) - before).toBe(closes.length);
        expect(busyS).toBeLessThan(tookS * PONGS_MAX_CORE_SHARE);
      }),
    CASE_TIMEOUT_MS,
  );

  test.each(["/docs/search.json", "/openapi.json", "/", "/api/v1/market/instruments"])(
    "pipelining thousands of requests for %s without reading an answer ends the connections",
    async (path) => {
      // The first answers load what is loaded on demand.
      for (let index = 0; index < WARM_UP_ANSWERS_COUNT; index += 1) await (await fetch(product.baseUrl + path)).text();
      await withstands(`pipelined ${path}`, async () => {
        const before = await refused("http", "too_many_pipelined");
        const { hostname, port } = new URL(product.baseUrl);
        const sockets: Socket[] = [];
        for (let index = 0; index < 10; index += 1) {
          const socket = connect(Number(port), hostname);
          socket.on("error", () => undefined).pause();
          socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(2_000));
          sockets.push(socket);
        }
        await vi.waitFor(async () => expect((await refused("http", "too_many_pipelined")) - before).toBe(10), { interval: 50 });
        for (const socket of sockets) socket.destroy();
      });
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "half-sent requests are answered with 408 when their time is over, and connections that sent nothing are closed",
    () =>
      withstands("half-sent requests", async () => {
        const { hostname, port } = new URL(product.baseUrl);
        const beganMs = performance.now();
        /** What a connection receives that sends this and nothing more. */
        const received = (sent: string) => {
          const socket = connect(Number(port), hostname);
          let text = "";
          socket
            .on("error", () => undefined)
            .on("data", (chunk) => {
              text += chunk;
            });
          if (sent !== "") socket.write(sent);
          return new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
        };
        const half = Array.from({ length: 500 }, () => received("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "));
        // A browser that connected ahead of need would take an answer for that of its next request.
        const silent = Array.from({ length: 20 }, () => received(""));
        for (const text of await Promise.all(half)) expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":40001/);
        expect(new Set(await Promise.all(silent))).toEqual(new Set([""]));
        process.stdout.write(
          `  500 half-sent requests were ended after ${Math.round(performance.now() - beganMs)} ms, the limit is ${REQUEST_HEADERS_TIMEOUT_MS} ms\n`,
        );
      }),
    CASE_TIMEOUT_MS,
  );

  test(
    `${FUZZED_COUNT} random requests get no server error and no answer without the envelope`,
    async () => {
      const wrong: string[] = [];
      let answered = 0;
      const send = (count: number, seed: number) =>
        fuzz({
          baseUrl: product.baseUrl,
          seed,
          count,
          key: product.demoKey ?? "",
          onAnswer({ asked, status, type, body }) {
            answered += 1;
            const empty = body === "" && (status === 204 || status === 304 || asked.startsWith("HEAD "));
            const isApi = / \/api\/v1/.test(asked);
            const enveloped = type.startsWith("application/json") && /^\{"code":\d+,"message":"/.test(body);
            if (status >= 500) wrong.push(`${status}: ${asked}: ${body.slice(0, 200)}`);
            else if (isApi && !enveloped && !empty) wrong.push(`${status} ${type}: ${asked}: ${body.slice(0, 200)}`);
          },
        });
      // The first ones load what is loaded on demand.
      await send(WARM_UP_COUNT, SEED - 1);
      await withstands("random requests", () => send(FUZZED_COUNT, SEED));
      expect(answered).toBe(WARM_UP_COUNT + FUZZED_COUNT);
      expect(wrong.slice(0, 10)).toEqual([]);
    },
    CASE_TIMEOUT_MS,
  );
});
