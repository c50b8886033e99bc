import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBucketBanks } from "#lib/access/limits/bucket-bank";
import { type BucketStore, createMemoryBucketStore } from "#lib/access/limits/bucket-store";
import { manualClock } from "#lib/clock";
import {
  KEYLESS_CLIENT_PER_MINUTE_COUNT,
  KEYLESS_NETWORK_PER_MINUTE_COUNT,
  KEYLESS_PAGE_UNITS,
  KEYLESS_PER_MINUTE_COUNT,
  KEYLESS_WORK_UNITS,
} from "#lib/contract/limits";
import type { Fault } from "#lib/fault";
import { createApi } from "#lib/http/api";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { createKeylessCalls } from "./keyless-calls";
import { createHttpServer, routeUpgrades } from "./server";

const API = "/api/v1/market/instruments";
const KEY = { authorization: "Bearer sw_live_whatever" };
/** Units at once. */
const [CLIENT, NETWORK, ALL] = [KEYLESS_CLIENT_PER_MINUTE_COUNT, KEYLESS_NETWORK_PER_MINUTE_COUNT, KEYLESS_PER_MINUTE_COUNT].map(
  (perMinute) => perMinute / 6,
) as [number, number, number];

function open() {
  const clock = manualClock(0);
  const refusals: string[] = [];
  const metrics = { refused: (where: string, reason: string) => void refusals.push(`${where} ${reason}`) };
  const addressOf = ({ socket }: IncomingMessage) => socket.remoteAddress ?? "";
  const calls = createKeylessCalls({ buckets: createMemoryBucketStore(clock), addressOf, metrics });
  const ask = (address: string, path = API, headers = {}) =>
    calls.call({ headers, socket: { remoteAddress: address } } as unknown as IncomingMessage, path);
  const passed = async (faults: (Promise<Fault | undefined> | undefined)[]) =>
    (await Promise.all(faults)).filter((fault) => fault === undefined).length;
  /** How many of so many calls pass. */
  const passing = (count: number, addressOf: (index: number) => string, path?: string, headers?: object) =>
    passed(Array.from({ length: count }, (_, index) => ask(addressOf(index), path, headers)));
  /** How many of so many pages pass. */
  const pages = (count: number, address: string, from: "memory" | "portal") =>
    passed(Array.from({ length: count }, () => calls.page(address, from)));
  return { clock, refusals, ask, passing, pages };
}

describe("calls without a key", () => {
  test("of one client have a rate, after which they are told when to come back", async () => {
    const { clock, refusals, ask, passing } = open();
    expect(await passing(CLIENT + 1, () => "192.0.2.1")).toBe(CLIENT);
    expect(await ask("192.0.2.1")).toMatchObject({ id: "rate_limited", data: { retry_after: 1 } });
    expect(await ask("192.0.2.2")).toBeUndefined();
    expect(new Set(refusals)).toEqual(new Set(["keyless client"]));
    clock.set(1_000);
    expect(await ask("192.0.2.1")).toBeUndefined();
  });

  test("of one network have a rate, and so have all together, with a reserve for networks that rarely ask", async () => {
    const { refusals, ask, passing } = open();
    expect(await passing(NETWORK + 5, (index) => `192.0.2.${index % 250}`)).toBe(NETWORK);
    expect(refusals).toEqual(Array(5).fill("keyless network"));
    await passing(ALL - NETWORK, (index) => `10.${(index >> 6) % 256}.0.${index % 64}`);
    expect(await ask("198.51.100.1", "/api/health")).toBeUndefined();
    expect(await passing(NETWORK, () => "198.51.100.1")).toBeLessThan(NETWORK / 5);
    expect(refusals).toContain("keyless rare");
    expect(await passing(ALL, (index) => `11.${index % 256}.${(index >> 8) % 256}.1`)).toBeLessThan(ALL);
    expect(refusals).toContain("keyless all");
  });

  test("that take some work cost more, with a key too; what a key opens costs nothing with a key, a token or a ticket", async () => {
    const { ask, passing } = open();
    expect(await passing(CLIENT, () => "192.0.2.1", "/metrics", KEY)).toBe(CLIENT / KEYLESS_WORK_UNITS);
    expect(await ask("192.0.2.1")).toMatchObject({ id: "rate_limited" });
    expect(await ask("192.0.2.1", API, KEY)).toBeUndefined();
    expect(await ask("192.0.2.1", API, { "sec-websocket-protocol": "market.v1, ticket.abc" })).toBeUndefined();
    for (const authorization of ["Bearer x", "Basic sw_live_", "sw_live_", "Bearer"])
      expect(await ask("192.0.2.1", API, { authorization })).toMatchObject({ id: "rate_limited" });
  });

  test("pages count too: one that has to be rendered costs more than one from memory", async () => {
    const { ask, refusals, pages } = open();
    expect(await pages(CLIENT, "192.0.2.1", "portal")).toBe(CLIENT / KEYLESS_PAGE_UNITS);
    expect(await pages(CLIENT, "192.0.2.2", "memory")).toBe(CLIENT);
    expect(await ask("192.0.2.2")).toMatchObject({ id: "rate_limited" });
    expect(await pages(CLIENT, "192.0.2.3", "portal")).toBe(0);
    expect(new Set(refusals)).toEqual(new Set(["keyless client", "keyless network"]));
  });

  test("are counted once by processes that share the buckets", async () => {
    const banks = createBucketBanks(manualClock(0));
    const process = (buckets: BucketStore) =>
      createKeylessCalls({ buckets, addressOf: () => "192.0.2.1", metrics: { refused: () => undefined } });
    const [one, other] = [process(banks.strangers), process(banks.strangers)];
    let passed = 0;
    for (let count = 0; count < CLIENT; count += 1)
      for (const calls of [one, other])
        if ((await calls.call({ headers: {} } as IncomingMessage, API)) === undefined) passed += 1;
    expect(passed).toBe(CLIENT);
  });
});

describe("a server that has too many calls without a key", () => {
  async function start(): Promise<Server> {
    const keylessCalls = createKeylessCalls({
      buckets: createMemoryBucketStore(manualClock(0)),
      addressOf: () => "192.0.2.1",
      metrics: createMetrics(),
    });
    const refusal = { docsBase: "", log: createLog("silent") };
    const server = createHttpServer({
      api: createApi([]),
      direct: { "/api/health": () => new Response("well") },
      socketIo: (_, response) => response.end(),
      pages: (_, response) => response.end("a page"),
      authRateLimit: () => undefined,
      keylessCalls,
      addressOf: () => "192.0.2.1",
      keepAliveMs: 0,
      docsBase: "",
      log: refusal.log,
      metrics: createMetrics(),
    });
    const streams = {
      webSocket: (_: IncomingMessage, socket: { destroy(): unknown }) => void socket.destroy(),
      socketIo: { handleRequest: () => undefined, handleUpgrade: () => undefined },
    };
    routeUpgrades(server, { streams, pages: () => false, keylessCalls, refusal });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    for (let count = 0; count < CLIENT; count += 1) await keylessCalls.call({ headers: {} } as IncomingMessage, API);
    return server;
  }

  async function ask(server: Server, path: string, ...lines: string[]): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`);
    await once(socket, "close");
    return text;
  }

  test("refuses calls and handshakes with the envelope and Retry-After, and still serves pages", async () => {
    const server = await start();
    const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
    for (const answer of [
      await ask(server, API, "Connection: close"),
      await ask(server, "/api/health", "Connection: close"),
      await ask(server, "/api/nowhere", "Connection: close"),
      await ask(server, "/api/v1/market/stream", ...upgrade),
    ]) {
      expect(answer).toMatch(/^HTTP\/1\.1 429 /);
      expect(answer).toMatch(/^retry-after: 1\r$/im);
      expect(answer).toContain('"message":"rate_limited"');
    }
    expect(await ask(server, "/", "Connection: close")).toContain("a page");
  });
});
