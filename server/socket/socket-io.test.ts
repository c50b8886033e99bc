import { readFileSync } from "node:fs";
import { io } from "socket.io-client";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import {
  SOCKET_IO_OPENING_CLIENT_MAX_COUNT,
  STREAM_FIRST_SUBSCRIBE_TIMEOUT_S,
  STREAM_MESSAGE_MAX_BYTES,
  STREAM_NO_PROGRESS_TIMEOUT_S,
} from "#lib/contract/limits";
import type { StreamClient } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { DEMO_KEY, freshAddress } from "#server/testing/runtime";
import { type Connect, type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

const REFUSED_VERSION = "`EIO` must be 4, which Socket.IO clients of version 3 or later send.";
const ORIGIN = "https://app.example.com";
let t: StreamService;
let key: string;
let bid = 1.1;

beforeAll(async () => {
  t = await startStreamService();
  key = (await t.issueKey({ origins: [ORIGIN] })).text;
});
afterAll(() => t.close());
afterEach(async () => {
  await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  expect(t.logged).toEqual([]);
});

const connect = (options: Connect = {}) => t.connect({ transport: "socket.io", ...options });
const QUOTE = { stream: "quote", tickers: ["EURUSD"] };

async function tick(): Promise<number> {
  bid = Number((bid + 0.00001).toFixed(5));
  await t.tick("EURUSD", bid, bid + 0.0001);
  return bid;
}

/** A client that sends handwritten packets over Engine.IO's WebSocket. */
async function byHand() {
  const url = `${t.url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`;
  const raw = new WebSocket(url, { headers: { "x-forwarded-for": freshAddress() } });
  const packets: string[] = [];
  raw.on("message", (data) => packets.push(String(data)));
  const closed = new Promise<number>((resolve) => raw.once("close", resolve));
  const seen = (start: string) => vi.waitFor(() => expect(packets.some((packet) => packet.startsWith(start))).toBe(true));
  await seen("0{");
  return { raw, packets, closed, seen, send: (packet: string) => raw.send(packet) };
}

describe("a connection over Socket.IO that shows no key", () => {
  const query = "/socket.io/?EIO=4&transport=polling";

  test("a long-polling connection that is never read is closed at the deadline", async () => {
    const headers = { "x-forwarded-for": freshAddress() };
    const opened = await (await fetch(t.url + query, { headers })).text();
    const { sid } = JSON.parse(opened.slice(1)) as { sid: string };
    await t.clock.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000);
    const later = await fetch(`${t.url}${query}&sid=${sid}`, { headers });
    expect(later.status).toBe(400);
    expect(await later.json()).toMatchObject({ message: "Session ID unknown" });
  });

  test("a client of Socket.IO 2 gets the refusal that the guide names, over both transports, and takes no place", async () => {
    const headers = { "x-forwarded-for": freshAddress() };
    // Its first request, as version 2.5.0 sends it.
    const old = t.url + query.replace("EIO=4", "EIO=3");
    for (let count = 0; count < 2 * SOCKET_IO_OPENING_CLIENT_MAX_COUNT; count += 1) {
      const refused = await fetch(old, { headers });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ code: 40001, data: { parameter: "EIO", detail: REFUSED_VERSION } });
    }
    const raw = new WebSocket(old.replace("http", "ws").replace("polling", "websocket"), { headers });
    expect(await new Promise((resolve) => raw.once("unexpected-response", (_, { statusCode }) => resolve(statusCode)))).toBe(400);
    expect((await fetch(t.url + query, { headers })).status).toBe(200);
    expect(readFileSync("lib/docs/guides/streaming.mdx", "utf8")).toContain(REFUSED_VERSION);
    await t.clock.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000);
  });

  test("a client may open as many as the limit, over both transports, and again after the deadline", async () => {
    const headers = { "x-forwarded-for": freshAddress() };
    const ask = () => fetch(t.url + query, { headers });
    for (let count = 0; count < SOCKET_IO_OPENING_CLIENT_MAX_COUNT; count += 1) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe(`${STREAM_FIRST_SUBSCRIBE_TIMEOUT_S}`);
    expect(await refused.json()).toMatchObject({ code: 42901, message: "rate_limited" });
    const raw = new WebSocket(`${t.url.replace("http", "ws")}${query.replace("polling", "websocket")}`, { headers });
    expect(await new Promise((resolve) => raw.once("unexpected-response", (_, { statusCode }) => resolve(statusCode)))).toBe(429);
    expect((await fetch(t.url + query, { headers: { "x-forwarded-for": freshAddress() } })).status).toBe(200);
    await t.clock.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000);
    expect((await ask()).status).toBe(200);
    await t.clock.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000);
  });
});

describe("a refusal over Socket.IO", () => {
  const refusals: [why: string, options: () => Connect | Promise<Connect>, code: number, message: string, data?: object][] = [
    ["no key", () => ({ key: null }), 40101, "unauthorized"],
    ["a mistyped key", () => ({ key: `${key.slice(0, -1)}!` }), 40101, "unauthorized"],
    ["a key that is far too long", () => ({ key: "x".repeat(5_000) }), 40101, "unauthorized"],
    ["an unknown ticket", () => ({ ticket: "nonsense" }), 40101, "unauthorized"],
    ["a key in the URL", () => ({ query: `?token=${key}` }), 40101, "unauthorized", { parameter: "token" }],
    [
      "a key without the scope",
      async () => ({ key: (await t.issueKey({ scopes: ["market:read"] })).text }),
      40301,
      "insufficient_scope",
      { required: "market:stream" },
    ],
    ["an origin that is not the key's", () => ({ key, origin: "https://evil.example.com" }), 40302, "origin_not_allowed"],
    [
      "a suspended account",
      async () => ({ key: (await t.issueKey({ account: "suspended", suspended: true })).text }),
      40303,
      "account_suspended",
    ],
  ];
  test.each(refusals)(
    "a Socket.IO refusal has the error identifier as its message and the data of the envelope: %s",
    async (_, options, code, message, data = {}) => {
      const refused = await t.refused({ transport: "socket.io", ...(await options()) });
      expect(refused.body).toMatchObject({ code, message, data });
      expect(refused.body.data.request_id).toEqual(expect.any(String));
      expect(refused.body.data.docs_url).toContain(message.replaceAll("_", "-"));
    },
  );

  test("a Socket.IO refusal keeps a well-formed request id", async () => {
    const headers = { "x-request-id": "my-id_1.2" };
    const refused = await t.refused({ transport: "socket.io", key: null, headers });
    expect(refused.body.data.request_id).toBe("my-id_1.2");
  });

  test("a Socket.IO refusal reports the connection limit of the plan", async () => {
    const options = { key: DEMO_KEY, address: freshAddress(), origin: ORIGIN };
    const clients = [await connect(options), await connect(options)];
    const refused = await t.refused({ transport: "socket.io", ...options });
    expect(refused.body).toMatchObject({ code: 42902, message: "too_many_connections", data: { max: 2 } });
    await Promise.all(clients.map((client) => client.close()));
  });

  test.each(["/", "/other"])("a Socket.IO client is refused in the namespace %s", async (namespace) => {
    const client = io(t.url + namespace, { auth: { key }, transports: ["websocket"], reconnection: false, forceNew: true });
    const error = await new Promise<Error>((resolve) => client.once("connect_error", resolve));
    expect(error.message).toBe(namespace === "/" ? "not_found" : "Invalid namespace");
    client.disconnect();
  });

  test.each([[{ key: { a: 1 } }], [{ key: ["x"] }], [{ key: 7 }], [{ ticket: null }], [null], ["text"], [[]]])(
    "a Socket.IO connect packet with an invalid auth is not accepted: %j",
    async (auth) => {
      const client = await byHand();
      client.send(`40/market,${JSON.stringify(auth)}`);
      await vi.waitFor(() => expect(client.packets.length > 1 || client.raw.readyState !== WebSocket.OPEN).toBe(true));
      expect(client.packets.some((packet) => packet.startsWith("40/market"))).toBe(false);
      client.raw.close();
      await client.closed;
    },
  );
});

describe("a Socket.IO client", () => {
  test("a Socket.IO client limited to polling gets everything in order", async () => {
    await tick();
    const client = await connect({ transports: ["polling"] });
    expect(client.io.io.engine.transport.name).toBe("polling");
    await client.ask("subscribe", QUOTE);
    const { seq } = await client.next("quote");
    for (let index = 1; index <= 50; index += 1) await tick();
    for (let index = 1; index <= 50; index += 1) expect(await client.next("quote")).toMatchObject({ seq: seq + index });
    await client.close();
  });

  test("a Socket.IO client loses no record while it switches from polling to WebSocket", async () => {
    await tick();
    const client = await connect({ transports: ["polling", "websocket"] });
    await client.ask("subscribe", { ...QUOTE, snapshot: false });
    const { engine } = client.io.io;
    for (let after = 0; after < 50; after += engine.transport.name === "websocket" ? 1 : 0) {
      await tick();
      await new Promise((resolve) => setImmediate(resolve));
      expect(bid).toBeLessThan(2);
    }
    await tick();
    await fence(client);
    const sequences = client.received.flatMap((message) => (message.type === "quote" ? [message.seq] : []));
    const [first = 0] = sequences;
    expect(sequences).toEqual(sequences.map((_, index) => first + index));
    expect(sequences.at(-1)).toBe(t.markets.live.recent.seq("quote:EURUSD"));
    await client.close();
  });

  test("the callback of a subscribe receives the ack before the first record arrives", async () => {
    await tick();
    const client = await connect();
    const before = await new Promise((resolve) => client.io.emit("subscribe", QUOTE, () => resolve([...client.received])));
    expect((before as { type: string }[]).map(({ type }) => type)).not.toContain("quote");
    await client.next("quote");
    await client.close();
  });

  test("parameters and callback are optional; without a callback the answer is an ack event", async () => {
    const client = await connect();
    for (const args of [[], [undefined], [null], [{}], [{ any: "thing" }]]) {
      client.io.emit("list", ...args);
      expect(await client.next("ack")).toMatchObject({ id: null, method: "list" });
      expect(await new Promise((resolve) => client.io.emit("list", ...args, resolve))).toMatchObject({ type: "ack" });
    }
    client.io.emit("subscribe", QUOTE, "more", 7);
    expect(await client.next("ack")).toMatchObject({ method: "subscribe", data: { accepted: ["EURUSD"] } });
    await client.close();
  });

  test("an invalid message is answered with an error, to the callback or as an error event", async () => {
    const client = await connect();
    const cases: [event: string, args: unknown[], code: number][] = [
      ["depth", [QUOTE], 40001],
      ["subscribe", [], 40002],
      ["subscribe", ["EURUSD"], 40001],
      ["subscribe", [Buffer.from("x")], 40002],
      ["ping", [7], 40001],
    ];
    for (const [event, args, code] of cases) {
      client.io.emit(event, ...args);
      expect(await client.next("error")).toMatchObject({ id: null, code, data: { request_id: expect.any(String) } });
    }
    await t.advance(5_000);
    await fence(client);
    for (const [event, args, code] of cases)
      expect(await new Promise((resolve) => client.io.emit(event, ...args, resolve))).toMatchObject({ type: "error", code });
    await client.close();
  });

  test("a message over 16 KiB closes its Socket.IO connection, and no other", async () => {
    for (const transports of [["websocket"], ["polling"]] as const) {
      const [client, neighbour] = [await connect({ transports }), await connect()];
      client.send("ping", { pad: "x".repeat(STREAM_MESSAGE_MAX_BYTES) });
      expect(await client.closed).toMatchObject({ after: "retry" });
      await fence(neighbour);
      await neighbour.close();
    }
  });

  test("Socket.IO accepts requests from any origin, and the allowed origins of the key decide", async () => {
    const answer = await fetch(`${t.url}/socket.io/?EIO=4&transport=polling`, { headers: { origin: ORIGIN } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    const client = await connect({ key, origin: ORIGIN, transports: ["polling"] });
    await client.close();
  });
});

describe("a hostile Socket.IO client", () => {
  const garbage = [
    "",
    "4",
    "49",
    "9",
    "4a",
    "42",
    "42/market",
    '42/market,["a"',
    "42/market,{}",
    "42/market,[]",
    "42/market,[1]",
  ];
  const more = [
    '451-/market,["subscribe",{"_placeholder":true,"num":0}]',
    '4599999999-/market,["x"]',
    '43/market,1["x"]',
    "44/market,{}",
  ];
  const reserved = ["connect", "disconnect", "disconnecting", "error", "newListener", "__proto__"];
  test.each([...garbage, ...more, ...reserved.map((name) => `42/market,["${name}"]`)])(
    "malformed Socket.IO packets do not affect other clients: %j",
    async (packet) => {
      const [client, neighbour] = [await byHand(), await connect()];
      client.send(`40/market,{"key":"${DEMO_KEY}"}`);
      await client.seen('42/market,["welcome"');
      client.send(packet);
      client.send("2/market,[]");
      await neighbour.ask("subscribe", { ...QUOTE, snapshot: false });
      const next = await tick();
      expect(await neighbour.next("quote")).toMatchObject({ data: { bid: next } });
      client.raw.close();
      await Promise.all([client.closed, neighbour.close()]);
    },
  );

  test("leaving the namespace releases the slot and closes the connection", async () => {
    const client = await byHand();
    client.send(`40/market,{"key":"${DEMO_KEY}"}`);
    await client.seen('42/market,["welcome"');
    client.send("41/market,");
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
    let open = true;
    void client.closed.then(() => {
      open = false;
    });
    await vi.waitFor(() => expect(open).toBe(false)).finally(() => client.raw.close());
  });

  test("each entry into the namespace takes a slot, up to the limit of the plan", async () => {
    const client = await byHand();
    for (let count = 0; count < 4; count += 1) client.send(`40/market,{"key":"${DEMO_KEY}"}`);
    await vi.waitFor(() => expect(client.packets.filter((packet) => packet.startsWith("44/market")).length).toBe(2));
    expect(await t.connections()).toBe(2);
    client.raw.close();
    await client.closed;
  });

  test("a client that stops polling is slow after ten seconds, and its slot is released", async () => {
    const address = `${t.url}/socket.io/?EIO=4&transport=polling`;
    const headers = { "x-forwarded-for": freshAddress() };
    const handshake = await (await fetch(address, { headers })).text();
    const own = `${address}&sid=${JSON.parse(handshake.slice(1)).sid}`;
    const post = async (body: string) => expect((await fetch(own, { method: "POST", headers, body })).status).toBe(200);
    await post(`40/market,{"key":"${DEMO_KEY}"}`);
    await vi.waitFor(async () => expect(await (await fetch(own, { headers })).text()).toContain('"welcome"'));
    await post('42/market,["ping"]');
    const before = await t.counted("closes");
    await t.advance(STREAM_NO_PROGRESS_TIMEOUT_S * 1000 - 500);
    expect(await t.connections()).toBe(1);
    await t.advance(1_000);
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
    expect(await t.counted("closes")).toBe(before + 1);
  });

  test("a Socket.IO client that vanishes while it connects leaves no slot taken", async () => {
    const { text } = await t.issueKey({ plan: "free" });
    for (let count = 0; count < 6; count += 1) {
      const client = await byHand();
      client.send(`40/market,{"key":"${text}"}`);
      client.raw.terminate();
      await client.closed;
    }
    const clients: StreamClient[] = [];
    await vi.waitFor(async () => clients.push(await connect({ key: text })));
    clients.push(await connect({ key: text }));
    await Promise.all(clients.map((client) => client.close()));
  });
});
