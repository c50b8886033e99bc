import { once } from "node:events";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  AUTH_FAILURES_PER_MINUTE_COUNT,
  STREAM_HANDSHAKES_BURST_COUNT,
  STREAM_TICKET_LIFETIME_S,
  URI_MAX_BYTES,
} from "#lib/contract/limits";
import { STREAM_PATH } from "#lib/contract/stream";
import { operations } from "#lib/operations/declarations";
import type { StreamClient } from "#lib/testing/stream-client";
import { handshakeText, openWire } from "#lib/testing/stream-wire";
import { revokeKey } from "#server/store/access/keys";
import { DEMO_KEY, freshAddress } from "#server/testing/runtime";
import { type Connect, type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

const ORIGIN = "https://app.example.com";
let t: StreamService;
let browserKey: string;

beforeAll(async () => {
  t = await startStreamService();
  browserKey = (await t.issueKey({ origins: [ORIGIN] })).text;
});
afterAll(() => t.close());

/** A ticket, fetched the way a page or a server does. */
async function ticketOf(key: string, origin?: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, ...(origin !== undefined && { origin }) };
  const answer = await fetch(t.url + operations.createStreamTicket.path, { method: "POST", headers });
  return ((await answer.json()) as { data: { ticket: string } }).data.ticket;
}

/** Sends handwritten bytes and returns the answer. */
async function speak(text: string) {
  const wire = await openWire(t.url);
  wire.write(text);
  const answer = await wire.answer();
  wire.socket.destroy();
  return {
    ...answer,
    envelope: answer.headers["content-type"]?.startsWith("application/json") ? JSON.parse(answer.body) : undefined,
  };
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

describe("a handshake", () => {
  test("a handshake with a key opens with or without the subprotocol, and the response names the subprotocol if one was chosen", async () => {
    for (const [protocols, taken] of [
      [["market.v1"], "market.v1"],
      [["other", "market.v1"], "market.v1"],
      [["market.v1", "market.v1.msgpack"], "market.v1"],
      [[], ""],
    ] as const) {
      const client = await t.connect({ protocols });
      expect(client.raw.protocol).toBe(taken);
      expect(await client.next("welcome")).toMatchObject({ venue: "live" });
      await client.close();
    }
  });

  test("a handshake selects MessagePack only for a client that offers it, before JSON if it comes first", async () => {
    for (const protocols of [
      ["market.v1.msgpack"],
      ["market.v1.msgpack", "market.v1"],
      ["market.v1.cbor", "market.v1.msgpack"],
    ]) {
      const client = await t.connect({ transport: "msgpack", protocols });
      expect(client.raw.protocol).toBe("market.v1.msgpack");
      expect(await client.next("welcome")).toMatchObject({ venue: "live", protocol: "market.v1" });
      await client.close();
    }
  });

  test("a handshake that offers only unknown subprotocols opens without one, so that its client closes it", async () => {
    await expect(t.connect({ protocols: ["market.v1.cbor"] })).rejects.toThrow("Server sent no subprotocol");
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });

  test("a handshake at the address with a slash behind it opens", async () => {
    const wire = await openWire(t.url);
    wire.write(handshakeText({ authorization: `Bearer ${DEMO_KEY}` }, `${STREAM_PATH}/`));
    const { status } = await wire.answer();
    wire.socket.destroy();
    expect(status).toBe(101);
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });

  test("a handshake that asks for compression gets none", async () => {
    const wire = await openWire(t.url);
    const extensions = { "sec-websocket-extensions": "permessage-deflate; client_max_window_bits" };
    wire.write(handshakeText({ authorization: `Bearer ${DEMO_KEY}`, ...extensions }));
    const { status, headers } = await wire.answer();
    wire.socket.destroy();
    expect([status, headers["sec-websocket-extensions"]]).toEqual([101, undefined]);
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });

  const refusals: [why: string, options: () => Connect | Promise<Connect>, status: number, message: string, data?: object][] = [
    ["no key", () => ({ key: null }), 401, "unauthorized"],
    ["a mistyped key", () => ({ key: `${browserKey.slice(0, -1)}!` }), 401, "unauthorized"],
    ["an unknown key", () => ({ key: DEMO_KEY.replace("sw_test_", "sw_live_") }), 401, "unauthorized"],
    ["a key of another scheme", () => ({ key: null, headers: { authorization: `Basic ${browserKey}` } }), 401, "unauthorized"],
    [
      "a key without the scope",
      async () => ({ key: (await t.issueKey({ scopes: ["market:read"] })).text }),
      403,
      "insufficient_scope",
      { required: "market:stream" },
    ],
    [
      "an origin that is not the key's",
      () => ({ key: browserKey, origin: "https://evil.example.com" }),
      403,
      "origin_not_allowed",
    ],
    ["any origin, for a key without allowed origins", () => ({ origin: ORIGIN }), 403, "origin_not_allowed"],
    [
      "an address that is not the key's",
      async () => ({ key: (await t.issueKey({ addresses: ["203.0.113.0/24"] })).text, address: "198.51.100.9" }),
      403,
      "address_not_allowed",
    ],
    ["the origin null", () => ({ key: browserKey, origin: "null" }), 403, "origin_not_allowed"],
    [
      "a suspended account",
      async () => ({ key: (await t.issueKey({ account: "suspended", suspended: true })).text }),
      403,
      "account_suspended",
    ],
    ["a key in the query", () => ({ key: null, query: `?api_key=${browserKey}` }), 401, "unauthorized", { parameter: "api_key" }],
    ["a key in the query besides a valid one", () => ({ query: `?x=${browserKey}` }), 401, "unauthorized", { parameter: "x" }],
    ["an unknown ticket", () => ({ ticket: "nonsense" }), 401, "unauthorized"],
    ["an empty ticket", () => ({ ticket: "" }), 401, "unauthorized"],
  ];
  test.each(refusals)(
    "a handshake with %s is refused before the upgrade, with the error envelope",
    async (_, options, status, message, data = {}) => {
      const before = await t.connections();
      const refused = await t.refused({ headers: { "x-request-id": "mine" }, ...(await options()) });
      expect(refused.status).toBe(status);
      expect(refused.body).toMatchObject({ code: status * 100 + (refused.body.code % 100), message, data });
      expect(refused.headers["content-type"]).toMatch(/^application\/json/);
      expect(refused.headers["x-request-id"]).toBe(refused.body.data.request_id);
      expect(refused.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
      expect(await t.connections()).toBe(before);
    },
  );

  test("a handshake over either transport is refused from any address but those of the key", async () => {
    const { text: key } = await t.issueKey({ addresses: ["203.0.113.0/24"] });
    for (const transport of ["websocket", "socket.io"] as const) {
      expect(await t.refused({ key, transport, address: "203.0.114.1" })).toMatchObject({ body: { code: 40304 } });
      await (await t.connect({ key, transport, address: "203.0.113.1" })).close();
    }
  });

  test("a handshake keeps a well-formed request id, which also becomes the connection id", async () => {
    const headers = { "x-request-id": "my-id_1.2" };
    const client = await t.connect({ headers });
    expect((await client.next("welcome")).connection_id).toBe("my-id_1.2");
    await client.close();
    expect((await t.refused({ key: null, headers })).body.data.request_id).toBe("my-id_1.2");
    expect((await t.refused({ key: null, headers: { "x-request-id": "a b" } })).body.data.request_id).toMatch(/^req_/);
  });

  test("handshakes beyond the connection limit of the plan are refused, counted over all keys of the account, until a connection closes", async () => {
    const keys = [await t.issueKey({ account: "crowded", plan: "free" }), await t.issueKey({ account: "crowded", plan: "free" })];
    const key = (index: number) => keys[index]?.text ?? "";
    const clients = [await t.connect({ key: key(0) }), await t.connect({ key: key(1) })];
    expect(await t.refused({ key: key(0) })).toMatchObject({ status: 429, body: { code: 42902, data: { max: 2 } } });
    expect(await t.refused({ key: key(1), transport: "socket.io" })).toMatchObject({ body: { code: 42902 } });
    await clients[0]?.close();
    await vi.waitFor(async () => (await t.connect({ key: key(1) })).close());
    await clients[1]?.close();
  });

  test("handshakes in progress count towards the limit: many at once get no more slots than the plan allows", async () => {
    const { text: key } = await t.issueKey({ plan: "standard" });
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => t.connect({ key })));
    const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(opened).toHaveLength(5);
    await Promise.all(opened.map((client) => client.close()));
  });

  test("handshakes with the demo key count towards the client's address", async () => {
    const [here, there] = [freshAddress(), freshAddress()];
    const connect = (address: string) => t.connect({ key: DEMO_KEY, address, origin: "https://anywhere.example" });
    const clients = [await connect(here), await connect(here)];
    expect(await t.refused({ key: DEMO_KEY, address: here })).toMatchObject({ status: 429, body: { code: 42902 } });
    clients.push(await connect(there));
    expect(await clients[2]?.next("welcome")).toMatchObject({ venue: "sandbox", limits: { connections: 2 } });
    await Promise.all(clients.map((client) => client.close()));
  });

  test("handshakes of an account are rate limited", async () => {
    const { text: key } = await t.issueKey({ plan: "free" });
    const burst = STREAM_HANDSHAKES_BURST_COUNT + 2;
    for (let count = 0; count < burst; count += 1) {
      const client = await t.connect({ key });
      await client.close();
      await vi.waitFor(async () => expect(await t.connections()).toBe(0), { interval: 2 });
    }
    const refused = await t.refused({ key });
    expect(refused).toMatchObject({ status: 429, body: { code: 42901, data: { retry_after: expect.any(Number) } } });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    await t.advance(Number(refused.headers["retry-after"]) * 1000);
    await (await t.connect({ key })).close();
  });

  test("an address with too many failed attempts is blocked, except for valid keys", async () => {
    const address = freshAddress();
    for (let count = 0; count < AUTH_FAILURES_PER_MINUTE_COUNT; count += 1) await t.refused({ ticket: `t${count}`, address });
    expect(await t.refused({ ticket: "onemore", address })).toMatchObject({ status: 429, body: { code: 42901 } });
    await (await t.connect({ key: browserKey, address })).close();
  });

  test("handshakes over both transports are refused while the service drains", async () => {
    t.drain(true);
    const refused = await t.refused();
    expect(refused).toMatchObject({ status: 503, body: { code: 50302, message: "service_unavailable" } });
    expect(refused.headers["retry-after"]).toBe("1");
    expect(await t.refused({ transport: "socket.io" })).toMatchObject({ body: { code: 50302 } });
    t.drain(false);
  });

  test("a handshake is refused when the drain began while its key was looked up", async () => {
    const { text: key } = await t.issueKey();
    const query = t.db.pool.query.bind(t.db.pool) as (...args: unknown[]) => unknown;
    const reading = vi.spyOn(t.db.pool, "query").mockImplementation((...args: unknown[]) => {
      t.drain(true);
      return query(...args) as never;
    });
    const refused = await t.refused({ key }).finally(() => {
      t.drain(false);
      reading.mockRestore();
    });
    expect(refused).toMatchObject({ status: 503, body: { code: 50302 } });
  });
});

describe("an internal error", () => {
  test("an internal error during a handshake is answered as internal_error and logged with the request id", async () => {
    const { text: key } = await t.issueKey();
    await t.db.pool.query("ALTER TABLE plan RENAME COLUMN rest_burst TO moved");
    const refused = [await t.refused({ key }), await t.refused({ key, transport: "socket.io" })];
    await t.db.pool.query("ALTER TABLE plan RENAME COLUMN moved TO rest_burst");
    for (const { body } of refused) {
      expect(body).toMatchObject({ code: 50001, message: "internal_error" });
      expect(t.logged).toContainEqual(expect.objectContaining({ request_id: body.data.request_id }));
    }
  });
});

describe("a ticket", () => {
  const open = (ticket: string, origin?: string) => t.connect({ ticket, ...(origin !== undefined && { origin }) });
  const refuse = (ticket: string, origin?: string) => t.refused({ ticket, ...(origin !== undefined && { origin }) });

  test.each([
    ["market.v1", "websocket"],
    ["market.v1.msgpack", "msgpack"],
  ] as const)("a ticket opens one connection, once, and the response selects %s", async (protocol, transport) => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    const client = await t.connect({ transport, ticket, origin: ORIGIN });
    expect(client.raw.protocol).toBe(protocol);
    expect(await refuse(ticket, ORIGIN)).toMatchObject({ status: 401, body: { code: 40101 } });
    await client.close();
  });

  test("two handshakes with the same ticket at the same time open one connection", async () => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    const outcomes = await Promise.allSettled([open(ticket, ORIGIN), open(ticket, ORIGIN)]);
    const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(opened).toHaveLength(1);
    await opened[0]?.close();
  });

  test("a ticket expires after one minute", async () => {
    const [early, late] = [await ticketOf(browserKey, ORIGIN), await ticketOf(browserKey, ORIGIN)];
    await t.advance(STREAM_TICKET_LIFETIME_S * 1000 - 1);
    await (await open(early, ORIGIN)).close();
    await t.advance(1);
    expect(await refuse(late, ORIGIN)).toMatchObject({ status: 401, body: { code: 40101 } });
  });

  test("a ticket works for its own origin only, and an attempt from another origin uses it up", async () => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    expect(await refuse(ticket, "https://evil.example.com")).toMatchObject({ status: 403, body: { code: 40302 } });
    expect(await refuse(ticket, ORIGIN)).toMatchObject({ status: 401 });
    expect(await refuse(await ticketOf(browserKey, ORIGIN))).toMatchObject({ status: 403, body: { code: 40302 } });
    expect(await refuse(await ticketOf(browserKey), ORIGIN)).toMatchObject({ status: 403, body: { code: 40302 } });
    await (await open(await ticketOf(browserKey))).close();
  });

  test("a ticket is made for, and opens a connection from, addresses of its key only", async () => {
    const address = "203.0.113.7";
    const { text, record } = await t.issueKey();
    const tickets = [await ticketOf(text), await ticketOf(text), await ticketOf(text)];
    await t.db.prisma.apiKey.update({ where: { id: record.id }, data: { addresses: [address] } });
    for (const [index, transport] of (["websocket", "socket.io"] as const).entries())
      expect(await t.refused({ ticket: tickets[index] ?? "", transport })).toMatchObject({ body: { code: 40304 } });
    await (await t.connect({ ticket: tickets[2] ?? "", address })).close();
    const { text: walled } = await t.issueKey({ addresses: [address] });
    const headers = { authorization: `Bearer ${walled}` };
    const refused = await fetch(t.url + operations.createStreamTicket.path, { method: "POST", headers });
    expect(refused.status).toBe(403);
  });

  test("a ticket of a revoked key is refused, and a ticket gets the current scopes of its key", async () => {
    const { text, record } = await t.issueKey();
    const [first, second] = [await ticketOf(text), await ticketOf(text)];
    await t.db.prisma.apiKey.update({ where: { id: record.id }, data: { scopes: ["market:read"] } });
    expect(await refuse(first)).toMatchObject({ status: 403, body: { code: 40301 } });
    await revokeKey(t.keyContext, record.id);
    expect(await refuse(second)).toMatchObject({ status: 401, body: { code: 40101 } });
  });

  test("a ticket sent together with a key is ignored, and never returned as the subprotocol", async () => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    const both = await t.connect({ key: browserKey, ticket, origin: ORIGIN });
    await both.close();
    const answer = await speak(handshakeText({ Origin: ORIGIN, "Sec-WebSocket-Protocol": `ticket.${ticket}` }));
    expect(answer.headers["sec-websocket-protocol"]).toBeUndefined();
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });

  test.each(["websocket", "socket.io"] as const)(
    "a client that sends the address of the service as its origin opens a %s",
    async (transport) => {
      const { text } = await t.issueKey({ origins: [] });
      const client = await t.connect({ transport, key: text, origin: t.url });
      expect(await client.next("welcome")).toMatchObject({ venue: "live" });
      await client.close();
      const ticket = await ticketOf(text, t.url);
      await (await t.connect({ transport, ticket, origin: t.url })).close();
    },
  );

  test("a ticket opens Socket.IO as well", async () => {
    const client = await t.connect({ transport: "socket.io", ticket: await ticketOf(browserKey, ORIGIN), origin: ORIGIN });
    expect(await client.next("welcome")).toMatchObject({ venue: "live" });
    await client.close();
  });
});

describe("a malformed handshake", () => {
  let key: string;
  beforeAll(async () => {
    key = (await t.issueKey()).text;
  });

  const rubbish: [why: string, headers: Record<string, string | undefined>][] = [
    ["no Sec-WebSocket-Key", { "Sec-WebSocket-Key": undefined }],
    ["a short Sec-WebSocket-Key", { "Sec-WebSocket-Key": "abc" }],
    ["no Sec-WebSocket-Version", { "Sec-WebSocket-Version": undefined }],
    ["an old Sec-WebSocket-Version", { "Sec-WebSocket-Version": "7" }],
    ["an invalid Sec-WebSocket-Protocol", { "Sec-WebSocket-Protocol": "a,,b" }],
  ];
  test.each(rubbish)("a malformed handshake is refused with 400 and the error envelope: %s", async (_, headers) => {
    const answer = await speak(handshakeText({ ...bearer(key), ...headers }));
    expect(answer).toMatchObject({ status: 400, envelope: { code: 40001, message: "invalid_parameter" } });
    expect(answer.headers["x-request-id"]).toBe(answer.envelope.data.request_id);
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });

  test("a handshake with a method other than GET is refused", async () => {
    const answer = await speak(handshakeText(bearer(key), STREAM_PATH, "POST"));
    expect(answer.envelope).toMatchObject({ data: { detail: expect.any(String) } });
    expect([400, 405]).toContain(answer.status);
  });

  test("a handshake on any other path is refused with 404 and the error envelope", async () => {
    for (const path of ["/", "/api/v1/market/quotes/latest", "/api/v1/market/streams", "/socket", "/_next/webpack-hmr"])
      expect(await speak(handshakeText(bearer(key), path))).toMatchObject({ status: 404, envelope: { code: 40402 } });
  });

  test("a request that offers an upgrade to HTTP/2 gets its plain answer", async () => {
    const headers = { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "AAMAAABkAAQAoAAAAAIAAAAA" };
    const answer = await speak(handshakeText({ ...headers, ...bearer(key) }, "/api/v1/market/instruments"));
    expect(answer).toMatchObject({ status: 200, envelope: { code: 0, message: "success" } });
    expect(await speak(handshakeText(headers, "/api/v1/market/instruments"))).toMatchObject({ status: 401 });
    const withBody = await speak(`${handshakeText({ ...headers, "Content-Length": "2" }, "/api/v1/market/instruments")}{}`);
    expect(withBody).toMatchObject({ status: 400, envelope: { code: 40001 } });
  });

  test("a plain GET of the stream path is answered with 426 Upgrade Required", async () => {
    const answer = await fetch(t.url + STREAM_PATH, { headers: bearer(key) });
    expect([answer.status, answer.headers.get("upgrade")]).toEqual([426, "websocket"]);
  });

  test("a handshake whose query is too long is refused with 414", async () => {
    const answer = await speak(handshakeText(bearer(key), `${STREAM_PATH}?x=${"a".repeat(URI_MAX_BYTES)}`));
    expect(answer).toMatchObject({ status: 414, envelope: { code: 41401 } });
  });
});

describe("an early message", () => {
  test("a client may send its first message with the handshake, or before the handshake is answered", async () => {
    const { text: key } = await t.issueKey();
    const ping = Buffer.from(JSON.stringify({ id: "early", method: "ping" }));
    const frame = Buffer.concat([Buffer.from([0x81, 0x80 | ping.length, 0, 0, 0, 0]), ping]);
    for (const together of [true, false]) {
      const wire = await openWire(t.url);
      let text = "";
      wire.socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
      });
      if (together) wire.write(Buffer.concat([Buffer.from(handshakeText(bearer(key))), frame]));
      else {
        wire.write(handshakeText(bearer(key)));
        wire.write(frame);
      }
      await vi.waitFor(() => expect(text).toMatch(/"welcome".*"id":"early"/s));
      wire.socket.destroy();
    }
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });
});

describe("a client that vanishes", () => {
  test("a client that vanishes during its handshake leaves no slot taken", async () => {
    const { text: key } = await t.issueKey({ plan: "free" });
    for (const vanish of ["destroy", "resetAndDestroy", "end"] as const) {
      for (let count = 0; count < 4; count += 1) {
        const wire = await openWire(t.url);
        wire.write(handshakeText(bearer(key)));
        wire.socket[vanish]();
        await wire.ended;
        wire.socket.destroy();
      }
      await vi.waitFor(async () => expect(await t.connections()).toBe(0));
    }
    const clients: StreamClient[] = [];
    await vi.waitFor(async () => clients.push(await t.connect({ key })));
    clients.push(await t.connect({ key }));
    await Promise.all(clients.map((client) => client.close()));
  });

  test.each([
    ["a handshake without a key", () => handshakeText()],
    ["a handshake on a wrong path", () => handshakeText({}, "/nowhere")],
    ["a malformed handshake", () => handshakeText({ ...bearer(browserKey), "Sec-WebSocket-Key": "abc" })],
    ["a plain request that offers an upgrade", () => handshakeText({ Upgrade: "h2c" }, "/api/v1/market/instruments")],
  ])("a refused connection is closed without waiting for the client to close its side: %s", async (_, text) => {
    const connected = once(t.server, "connection");
    const wire = await openWire(t.url);
    const [farSide] = (await connected) as [Socket];
    wire.write(text());
    await wire.answer();
    await wire.ended;
    await vi.waitFor(() => expect(farSide.destroyed).toBe(true)).finally(() => wire.socket.destroy());
  });
});
