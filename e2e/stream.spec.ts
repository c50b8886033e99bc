import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ReconnectingWebSocket from "partysocket/ws";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { STREAM_PATH, STREAM_PROTOCOL } from "#lib/contract/stream";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { operations } from "#lib/operations/declarations";
import { stranger } from "./client";
import { keyHolder, type MadeKey, makeLiveKey, runCommand } from "./commands";
import { createFeeder, type Feeder } from "./feeder";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { openSocket, type Received, Refused } from "./socket";

const MARKET = "/api/v1/market";
const POINTS = [
  [108_540, 108_548],
  [108_555, 108_562],
] as const;

/** The text of `data` in a pushed message, byte for byte. */
function dataText({ text }: Received): string {
  return text.slice(text.indexOf('"data":') + '"data":'.length, -1);
}

describe("the stream of a product that takes pushed ticks", () => {
  let product: Product;
  let key: MadeKey;
  let feeder: Feeder;
  beforeAll(async () => {
    product = await startProduct({ ...API_ONLY, LIVE_FEED: "push", TRUSTED_PROXIES: "127.0.0.1" });
    key = await makeLiveKey(product, "market:read,market:stream");
    feeder = createFeeder(keyHolder(product, await makeLiveKey(product, "market:ingest")));
  }, SERVER_TIMEOUT_MS);
  afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

  test("sends the same records as REST, byte for byte", async () => {
    const reader = keyHolder(product, key);
    const client = await openSocket(product.baseUrl, { key: key.text });
    for (const stream of ["quote", "snapshot"]) await client.ask("subscribe", { stream, tickers: ["EURUSD"] });
    await client.ask("subscribe", { stream: "kline", tickers: ["EURUSD"], timeframe: "H1" });
    await feeder.push(feeder.ticks("EURUSD", POINTS));
    const isNewest = ({ event, seq }: { event: string; seq: number }) => event === "update" && seq === 2;
    const quote = await client.next("quote", isNewest);
    const snapshot = await client.next("snapshot", isNewest);
    const kline = await client.next("kline", isNewest);
    expect((await reader.call(`${MARKET}/quotes/latest?tickers=EURUSD`)).text).toContain(`{"items":[${dataText(quote)}]}`);
    expect((await reader.call(`${MARKET}/snapshots/latest?tickers=EURUSD`)).text).toContain(`{"items":[${dataText(snapshot)}]}`);
    expect((await reader.call(`${MARKET}/klines?ticker=EURUSD&timeframe=H1&limit=1`)).text).toContain(`[${dataText(kline)}]`);
    client.close();
  });

  test("lets a library reconnect that asks for a ticket each time, and refuses one that keeps its protocols", async () => {
    const url = product.baseUrl.replace("http", "ws") + STREAM_PATH;
    const used = new Set<string>();
    const protocols = async () => {
      const { data } = await keyHolder(product, key).call(`${MARKET}/stream/tickets`, { method: "POST" });
      used.add(String(data.ticket));
      return [STREAM_PROTOCOL, TICKET_PROTOCOL_PREFIX + String(data.ticket)];
    };
    const options = { WebSocket, minReconnectionDelay: 1, maxReconnectionDelay: 1 };
    const heard = (socket: ReconnectingWebSocket, type: "message" | "error") =>
      new Promise<object>((resolve) => socket.addEventListener(type, resolve, { once: true }));
    const asking = new ReconnectingWebSocket(url, protocols, options);
    expect(await heard(asking, "message")).toMatchObject({ data: expect.stringContaining('"welcome"') });
    asking.reconnect();
    expect(await heard(asking, "message")).toMatchObject({ data: expect.stringContaining('"welcome"') });
    asking.close();
    expect(used.size).toBe(2);
    const keeping = new ReconnectingWebSocket(url, await protocols(), { ...options, maxRetries: 1 });
    await heard(keeping, "message");
    keeping.reconnect();
    expect(await heard(keeping, "error")).toMatchObject({ message: expect.stringContaining("401") });
    keeping.close();
  });

  test("sends the current record on subscribe, and what was missed on resume", async () => {
    const first = await openSocket(product.baseUrl, { key: key.text });
    await first.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    const { epoch, seq } = await first.next("quote", ({ event }) => event === "snapshot");
    first.close();
    await first.closed();
    await feeder.push(feeder.ticks("EURUSD", POINTS));
    const second = await openSocket(product.baseUrl, { key: key.text });
    const ack = await second.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], resume: { epoch, seq } });
    expect(ack).toMatchObject({ data: { accepted: ["EURUSD"], resumed: ["EURUSD"] } });
    for (const step of [1, 2]) expect(await second.next("quote")).toMatchObject({ event: "update", epoch, seq: seq + step });
    second.close();
  });

  test("refuses a handshake over HTTP, with the envelope", async () => {
    const reading = await makeLiveKey(product, "market:read");
    const open = (shown: Parameters<typeof openSocket>[1]) => openSocket(product.baseUrl, shown).catch((error) => error);
    expect(await open({})).toMatchObject({ status: 401, body: { message: "unauthorized" } });
    expect(await open({ key: reading.text })).toMatchObject({
      status: 403,
      body: { message: "insufficient_scope", data: { required: "market:stream" } },
    });
    expect(await open({ key: key.text, origin: "https://a.example" })).toMatchObject({ body: { message: "origin_not_allowed" } });
    expect(await open({ query: `?api_key=${key.text}` })).toMatchObject({ status: 401, body: { message: "unauthorized" } });
    expect(await open({ key: product.demoKey ?? "", headers: { "x-forwarded-for": "203.0.113.1" } })).not.toBeInstanceOf(Refused);
  });

  test("ends an open connection when its key is revoked, with the reason", async () => {
    const doomed = await makeLiveKey(product, "market:stream");
    const client = await openSocket(product.baseUrl, { key: doomed.text });
    await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    const revoked = await runCommand(product, "keys", ["revoke", doomed.id]);
    expect(revoked.exitCode).toBe(0);
    expect(await client.closed()).toEqual({ code: 4401, reason: "unauthorized" });
    expect(await client.next("error")).toMatchObject({ message: "unauthorized", data: { close_code: 4401 } });
  });

  test("counts the demo key's connections for each address", async () => {
    const from = (address: string) =>
      openSocket(product.baseUrl, { key: product.demoKey ?? "", headers: { "x-forwarded-for": address } });
    const clients = [await from("203.0.113.9"), await from("203.0.113.9"), await from("203.0.113.10")];
    await expect(from("203.0.113.9")).rejects.toMatchObject({ status: 429, body: { message: "too_many_connections" } });
    clients[0]?.close();
    await clients[0]?.closed();
    // The place is free once the server has seen the end too.
    await expect
      .poll(() =>
        from("203.0.113.9").then(
          (client) => client.close(),
          () => "refused",
        ),
      )
      .toBeUndefined();
    for (const client of clients) client.close();
  });

  test(
    "tells its connections before it goes, and takes them again when it is back",
    async () => {
      const client = await openSocket(product.baseUrl, { key: key.text });
      const { epoch } = await client.next("welcome");
      await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
      const stopped = product.stop();
      expect(await client.next("server_shutdown")).toMatchObject({ reconnect_after_ms: expect.any(Number) });
      expect(await client.closed()).toEqual({ code: 1001, reason: "shutdown" });
      expect(await stopped).toBe(0);
      product = await product.restart();
      const again = await openSocket(product.baseUrl, { key: key.text });
      expect((await again.next("welcome")).epoch).not.toBe(epoch);
      const ack = await again.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], resume: { epoch, seq: 1 } });
      expect(ack).toMatchObject({ data: { accepted: ["EURUSD"], resumed: [] } });
      expect(await again.next("quote")).toMatchObject({ event: "snapshot", data: { bid: 1.08555 } });
      again.close();
    },
    2 * SERVER_TIMEOUT_MS,
  );
});

describe("closed klines", () => {
  const START_MS = Date.UTC(2026, 0, 7, 12);
  let folder: string;
  let product: Product;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spotwire replay "));
    // An hour, played in a minute: enough is left when a slow machine follows it late.
    const lines = Array.from({ length: 1_800 }, (_, index) => {
      const bid = (108_500 + ((index * 37) % 50)) / 100_000;
      return `${START_MS + index * 2_000},${bid.toFixed(5)},${(bid + 0.00008).toFixed(5)}`;
    });
    await writeFile(join(folder, "ticks.csv"), `time_msc,bid,ask\n${lines.join("\n")}\n`);
    product = await startProduct({
      ...API_ONLY,
      LIVE_FEED: "replay",
      REPLAY_FILES: `EURUSD=${join(folder, "ticks.csv")}`,
      REPLAY_PACE: "60",
      REPLAY_SHIFT: "none",
    });
  }, SERVER_TIMEOUT_MS);
  afterAll(async () => {
    await product?.dispose();
    await rm(folder, { recursive: true, force: true });
  }, SERVER_TIMEOUT_MS);

  test(
    "are pushed as REST gives them later, byte for byte, also from the database after a restart",
    async () => {
      const key = await makeLiveKey(product, "market:read,market:stream");
      const client = await openSocket(product.baseUrl, { key: key.text });
      for (const timeframe of ["M1", "M5"]) await client.ask("subscribe", { stream: "kline", tickers: ["EURUSD"], timeframe });
      const closed: Received<"kline">[] = [];
      while (closed.filter(({ timeframe }) => timeframe === "M5").length < 1 || closed.length < 6)
        closed.push(await client.next("kline", (message) => message.closed && message.event === "update"));
      const rows = async (reader = keyHolder(product, key)) => {
        const asked = ["M1", "M5"].map((timeframe) => reader.call(`${MARKET}/klines?ticker=EURUSD&timeframe=${timeframe}`));
        return (await Promise.all(asked)).map(({ text }) => text).join("");
      };
      const now = await rows();
      for (const message of closed) expect(now).toContain(dataText(message));
      expect(new Set(closed.map(({ timeframe, data }) => `${timeframe} ${data.time}`)).size).toBe(closed.length);
      client.close();
      await product.stop();
      // Without the feed, which would play the recording once more.
      product = await product.restart({ LIVE_FEED: "none" });
      const later = await rows(keyHolder(product, key));
      for (const message of closed) expect(later).toContain(dataText(message));
    },
    2 * SERVER_TIMEOUT_MS,
  );

  test("LIVE_FEED names a provider: its prices are quotes of the live venue, and a wrong key is reported", {
    tags: ["slow"],
    timeout: 2 * SERVER_TIMEOUT_MS,
  }, async () => {
    const token = join(folder, "token");
    await writeFile(token, "right\n");
    const provider = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    const asked: string[][] = [];
    provider.on("connection", (peer) =>
      peer.on("message", (text) => {
        const { authorization, eventData } = JSON.parse(text.toString());
        if (authorization !== "right") return peer.send('{"messageType":"E","response":{"code":401,"message":"no"}}');
        asked.push(eventData.tickers);
        const data = ["Q", "eurusd", new Date().toISOString(), 1e6, 1.1, 1.1, 1e6, 1.1002];
        return peer.send(JSON.stringify({ messageType: "A", service: "fx", data }));
      }),
    );
    await once(provider, "listening");
    const settings = { LIVE_FEED: "tiingo", FEED_URL: `ws://127.0.0.1:${(provider.address() as AddressInfo).port}` };
    const [key, feederKey] = [await makeLiveKey(product, "market:read"), await makeLiveKey(product, "market:ingest")];
    await product.stop();
    product = await product.restart({ ...settings, LIVE_FEED: "tiingo,push", TIINGO_TOKEN_FILE: token });
    const reader = keyHolder(product, key);
    const quote = async () => (await reader.call(`${MARKET}/quotes/latest?tickers=EURUSD`)).data;
    await vi.waitUntil(async () => JSON.stringify(await quote()).includes('"bid":1.1'), { timeout: 60_000, interval: 50 });
    const { data } = await reader.call(`${MARKET}/status?tickers=EURUSD`);
    expect(JSON.stringify(data)).toContain('"provider_source":"tiingo"');
    expect(asked[0]).toContain("xauusd");
    // Pushes are the second in the list.
    const body = JSON.stringify({ ticker: "EURUSD", time_msc: Date.now(), bid: 1.2, ask: 1.2001 });
    const pushed = await keyHolder(product, feederKey).call(operations.ingestTicks.path, { method: "POST", body });
    expect(pushed).toMatchObject({ data: { accepted: 0, reasons: { standby: 1 } } });
    await product.stop();
    product = await product.restart({ ...settings, TIINGO_TOKEN_FILE: "", TIINGO_TOKEN: "wrong-and-marked" });
    const ready = async () => (await fetch(`${product.baseUrl}/api/ready`)).text();
    // While the market is closed, a wrong token is no failure of the service, and only the log names it.
    await vi.waitUntil(() => product.output().includes("Check TIINGO_TOKEN"), { timeout: 60_000, interval: 50 });
    expect((await ready()) + product.output()).not.toContain("wrong-and-marked");
    provider.close();
  });
});

describe("the stream's address", () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct(API_ONLY);
  }, SERVER_TIMEOUT_MS);
  afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

  test("explains in a browser's address bar that it is a WebSocket", async () => {
    const answer = await stranger(product.baseUrl, "203.0.113.20", product.demoKey).call(`${MARKET}/stream`);
    expect(answer).toMatchObject({ status: 426, message: "upgrade_required" });
    expect(answer.headers.get("upgrade")).toBe("websocket");
  });

  test("serves its AsyncAPI document", async () => {
    const document = await (await fetch(`${product.baseUrl}/asyncapi.json`)).json();
    expect(document).toMatchObject({ asyncapi: expect.stringMatching(/^3\./), channels: expect.any(Object) });
  });
});
