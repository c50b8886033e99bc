import { once } from "node:events";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { revokeKey } from "#lib/access/keys";
import {
  AUTH_FAILURES_PER_MINUTE_COUNT,
  STREAM_HANDSHAKES_BURST_COUNT,
  STREAM_TICKET_LIFETIME_S,
  URI_MAX_BYTES,
} from "#lib/contract/limits";
import { operations } from "#lib/contract/operations";
import { STREAM_PATH } from "#lib/contract/stream";
import type { StreamClient } from "#lib/testing/stream-client";
import { handshakeText, openWire } from "#lib/testing/stream-wire";
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

/** A ticket as a page or a server fetches it. */
async function ticketOf(key: string, origin?: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, ...(origin !== undefined && { origin }) };
  const answer = await fetch(t.url + operations.createStreamTicket.path, { method: "POST", headers });
  return ((await answer.json()) as { data: { ticket: string } }).data.ticket;
}

/** What is written by hand, and what comes back. */
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
  test("opens with a key, with or without the subprotocol, and says which was taken", async () => {
    for (const [protocols, taken] of [
      [["market.v1"], "market.v1"],
      [["other", "market.v1"], "market.v1"],
      [[], ""],
    ] as const) {
      const client = await t.connect({ protocols });
      expect(client.raw.protocol).toBe(taken);
      expect(await client.next("welcome")).toMatchObject({ venue: "live" });
      await client.close();
    }
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
    ["any origin, for a key without one", () => ({ origin: ORIGIN }), 403, "origin_not_allowed"],
    ["the origin null", () => ({ key: browserKey, origin: "null" }), 403, "origin_not_allowed"],
    [
      "a suspended account",
      async () => ({ key: (await t.issueKey({ account: "suspended", suspended: true })).text }),
      403,
      "account_suspended",
    ],
    ["a key in the query", () => ({ key: null, query: `?api_key=${browserKey}` }), 401, "unauthorized", { parameter: "api_key" }],
    ["a key in the query beside a good one", () => ({ query: `?x=${browserKey}` }), 401, "unauthorized", { parameter: "x" }],
    ["an unknown ticket", () => ({ ticket: "nonsense" }), 401, "unauthorized"],
    ["an empty ticket", () => ({ ticket: "" }), 401, "unauthorized"],
  ];
  test.each(refusals)(
    "is refused before the upgrade, in the envelope, with %s",
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

  test("keeps a well-formed request id, also for the name of the connection", async () => {
    const headers = { "x-request-id": "my-id_1.2" };
    const client = await t.connect({ headers });
    expect((await client.next("welcome")).connection_id).toBe("my-id_1.2");
    await client.close();
    expect((await t.refused({ key: null, headers })).body.data.request_id).toBe("my-id_1.2");
    expect((await t.refused({ key: null, headers: { "x-request-id": "a b" } })).body.data.request_id).toMatch(/^req_/);
  });

  test("is refused past the connections of the plan, counted over all keys of the account, and again let in after a close", async () => {
    const keys = [await t.issueKey({ account: "crowded", plan: "free" }), await t.issueKey({ account: "crowded", plan: "free" })];
    const key = (index: number) => keys[index]?.text ?? "";
    const clients = [await t.connect({ key: key(0) }), await t.connect({ key: key(1) })];
    expect(await t.refused({ key: key(0) })).toMatchObject({ status: 429, body: { code: 42902, data: { max: 2 } } });
    expect(await t.refused({ key: key(1), transport: "socket.io" })).toMatchObject({ body: { code: 42902 } });
    await clients[0]?.close();
    await vi.waitFor(async () => (await t.connect({ key: key(1) })).close());
    await clients[1]?.close();
  });

  test("counts from its beginning: many at once get no more places than the plan has", async () => {
    const { text: key } = await t.issueKey({ plan: "standard" });
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => t.connect({ key })));
    const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(opened).toHaveLength(5);
    await Promise.all(opened.map((client) => client.close()));
  });

  test("of the demo key counts for its client's address", async () => {
    const [here, there] = [freshAddress(), freshAddress()];
    const connect = (address: string) => t.connect({ key: DEMO_KEY, address, origin: "https://anywhere.example" });
    const clients = [await connect(here), await connect(here)];
    expect(await t.refused({ key: DEMO_KEY, address: here })).toMatchObject({ status: 429, body: { code: 42902 } });
    clients.push(await connect(there));
    expect(await clients[2]?.next("welcome")).toMatchObject({ venue: "sandbox", limits: { connections: 2 } });
    await Promise.all(clients.map((client) => client.close()));
  });

  test("comes too often for an account that opens and closes without end", async () => {
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

  test("is blocked for an address that failed too often, whatever it shows but a key that was good before", async () => {
    const address = freshAddress();
    await (await t.connect({ key: browserKey, address })).close();
    for (let count = 0; count < AUTH_FAILURES_PER_MINUTE_COUNT; count += 1) await t.refused({ ticket: `t${count}`, address });
    expect(await t.refused({ ticket: "onemore", address })).toMatchObject({ status: 429, body: { code: 42901 } });
    await (await t.connect({ key: browserKey, address })).close();
  });

  test("is refused while the service drains, over both transports", async () => {
    t.drain(true);
    const refused = await t.refused();
    expect(refused).toMatchObject({ status: 503, body: { code: 50302, message: "service_unavailable" } });
    expect(refused.headers["retry-after"]).toBe("1");
    expect(await t.refused({ transport: "socket.io" })).toMatchObject({ body: { code: 50302 } });
    t.drain(false);
  });

  test("is refused when the drain began while its key was looked up", async () => {
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

describe("what goes wrong inside", () => {
  test("is answered as internal_error, and logged under the id of the request", async () => {
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

  test("opens one connection, once, and is answered with market.v1", async () => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    const client = await open(ticket, ORIGIN);
    expect(client.raw.protocol).toBe("market.v1");
    expect(await refuse(ticket, ORIGIN)).toMatchObject({ status: 401, body: { code: 40101 } });
    await client.close();
  });

  test("opens one connection of two that bring it at once", async () => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    const outcomes = await Promise.allSettled([open(ticket, ORIGIN), open(ticket, ORIGIN)]);
    const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(opened).toHaveLength(1);
    await opened[0]?.close();
  });

  test("lasts a minute by the clock", async () => {
    const [early, late] = [await ticketOf(browserKey, ORIGIN), await ticketOf(browserKey, ORIGIN)];
    await t.advance(STREAM_TICKET_LIFETIME_S * 1000 - 1);
    await (await open(early, ORIGIN)).close();
    await t.advance(1);
    expect(await refuse(late, ORIGIN)).toMatchObject({ status: 401, body: { code: 40101 } });
  });

  test("is good for its own origin alone, and used up by another", async () => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    expect(await refuse(ticket, "https://evil.example.com")).toMatchObject({ status: 403, body: { code: 40302 } });
    expect(await refuse(ticket, ORIGIN)).toMatchObject({ status: 401 });
    expect(await refuse(await ticketOf(browserKey, ORIGIN))).toMatchObject({ status: 403, body: { code: 40302 } });
    expect(await refuse(await ticketOf(browserKey), ORIGIN)).toMatchObject({ status: 403, body: { code: 40302 } });
    await (await open(await ticketOf(browserKey))).close();
  });

  test("dies with its key, and follows what the key may do now", async () => {
    const { text, record } = await t.issueKey();
    const [first, second] = [await ticketOf(text), await ticketOf(text)];
    await t.db.prisma.apiKey.update({ where: { id: record.id }, data: { scopes: ["market:read"] } });
    expect(await refuse(first)).toMatchObject({ status: 403, body: { code: 40301 } });
    await revokeKey(t.keyContext, record.id);
    expect(await refuse(second)).toMatchObject({ status: 401, body: { code: 40101 } });
  });

  test("is not read beside a key, and is never given back as the subprotocol", async () => {
    const ticket = await ticketOf(browserKey, ORIGIN);
    const both = await t.connect({ key: browserKey, ticket, origin: ORIGIN });
    await both.close();
    const answer = await speak(handshakeText({ Origin: ORIGIN, "Sec-WebSocket-Protocol": `ticket.${ticket}` }));
    expect(answer.headers["sec-websocket-protocol"]).toBeUndefined();
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });

  test("opens Socket.IO as well", async () => {
    const client = await t.connect({ transport: "socket.io", ticket: await ticketOf(browserKey, ORIGIN), origin: ORIGIN });
    expect(await client.next("welcome")).toMatchObject({ venue: "live" });
    await client.close();
  });
});

describe("what is no handshake", () => {
  let key: string;
  beforeAll(async () => {
    key = (await t.issueKey()).text;
  });

  const rubbish: [why: string, headers: Record<string, string | undefined>][] = [
    ["no key of the protocol", { "Sec-WebSocket-Key": undefined }],
    ["a short key of the protocol", { "Sec-WebSocket-Key": "abc" }],
    ["no version", { "Sec-WebSocket-Version": undefined }],
    ["an old version", { "Sec-WebSocket-Version": "7" }],
    ["a subprotocol that is no token", { "Sec-WebSocket-Protocol": "a,,b" }],
  ];
  test.each(rubbish)("is refused in the envelope with 400: %s", async (_, headers) => {
    const answer = await speak(handshakeText({ ...bearer(key), ...headers }));
    expect(answer).toMatchObject({ status: 400, envelope: { code: 40001, message: "invalid_parameter" } });
    expect(answer.headers["x-request-id"]).toBe(answer.envelope.data.request_id);
    await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  });

  test("is refused for another method than GET", async () => {
    const answer = await speak(handshakeText(bearer(key), STREAM_PATH, "POST"));
    expect(answer.envelope).toMatchObject({ data: { detail: expect.any(String) } });
    expect([400, 405]).toContain(answer.status);
  });

  test("is refused in the envelope under any other path", async () => {
    for (const path of ["/", "/api/v1/market/quotes/latest", "/api/v1/market/streams", "/socket", "/_next/webpack-hmr"])
      expect(await speak(handshakeText(bearer(key), path))).toMatchObject({ status: 404, envelope: { code: 40402 } });
  });

  test("is answered plainly when another protocol is offered", async () => {
    const headers = { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "AAMAAABkAAQAoAAAAAIAAAAA" };
    const answer = await speak(handshakeText({ ...headers, ...bearer(key) }, "/api/v1/market/instruments"));
    expect(answer).toMatchObject({ status: 200, envelope: { code: 0, message: "success" } });
    expect(await speak(handshakeText(headers, "/api/v1/market/instruments"))).toMatchObject({ status: 401 });
    const withBody = await speak(`${handshakeText({ ...headers, "Content-Length": "2" }, "/api/v1/market/instruments")}{}`);
    expect(withBody).toMatchObject({ status: 400, envelope: { code: 40001 } });
  });

  test("is told to upgrade when the stream is asked for as a page", async () => {
    const answer = await fetch(t.url + STREAM_PATH, { headers: bearer(key) });
    expect([answer.status, answer.headers.get("upgrade")]).toEqual([426, "websocket"]);
  });

  test("with a query that is longer than is read is refused", async () => {
    const answer = await speak(handshakeText(bearer(key), `${STREAM_PATH}?x=${"a".repeat(URI_MAX_BYTES)}`));
    expect(answer).toMatchObject({ status: 414, envelope: { code: 41401 } });
  });
});

describe("a client in a hurry", () => {
  test("may send its first message with the handshake, or before it is answered", async () => {
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
  test("in the middle of its handshake leaves no place taken", async () => {
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
    ["a handshake of a wrong path", () => handshakeText({}, "/nowhere")],
    ["a handshake that is malformed", () => handshakeText({ ...bearer(browserKey), "Sec-WebSocket-Key": "abc" })],
    ["a plain request with an upgrade", () => handshakeText({ Upgrade: "h2c" }, "/api/v1/market/instruments")],
  ])("without closing its half is not waited for after %s", async (_, text) => {
    const connected = once(t.server, "connection");
    const wire = await openWire(t.url);
    const [farSide] = (await connected) as [Socket];
    wire.write(text());
    await wire.answer();
    await wire.ended;
    await vi.waitFor(() => expect(farSide.destroyed).toBe(true), { timeout: 2_000 }).finally(() => wire.socket.destroy());
  });
});
