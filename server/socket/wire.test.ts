import { once } from "node:events";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import {
  STREAM_FIRST_SUBSCRIBE_TIMEOUT_S,
  STREAM_MESSAGE_MAX_BYTES,
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_EXCESS_MAX_COUNT,
  STREAM_PING_INTERVAL_S,
  STREAM_PONG_TIMEOUT_S,
} from "#lib/contract/limits";
import { SOCKET_IO_NAMESPACE } from "#lib/contract/stream";
import type { StreamClient } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { openWire } from "#lib/testing/stream-wire";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

const TEXT = 0x1;
const CONTINUATION = 0x0;
const FINAL = 0x80;
const MASKED = 0x80;
const NO_MASK_KEY = Buffer.alloc(4);

/** Frames at once that do not end a connection yet. */
const FRAMES_MAX_COUNT = STREAM_MESSAGES_BURST_COUNT + STREAM_MESSAGES_EXCESS_MAX_COUNT;

/** A connection that is not read any more is cut after two seconds. */

/** The encodings of the raw WebSocket. */
const RAW_TRANSPORTS = ["websocket", "msgpack"] as const;

let t: StreamService;
/** A client that must stay unaffected by the others. */
let neighbour: StreamClient;
let bid = 1.1;

beforeAll(async () => {
  t = await startStreamService();
});
afterAll(() => t.close());

beforeEach(async () => {
  neighbour = await t.connect();
  await neighbour.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], snapshot: false });
});
/** Neither the process nor the neighbour is affected. */
afterEach(async () => {
  bid = Number((bid + 0.00001).toFixed(5));
  await t.tick("EURUSD", bid, bid + 0.0001);
  expect(await neighbour.next("quote")).toMatchObject({ data: { bid } });
  await neighbour.close();
  await vi.waitFor(async () => expect(await t.connections()).toBe(0));
  expect(t.logged).toEqual([]);
});

/** One frame as a client sends it, with a mask that leaves the payload unchanged. */
function frame(payload: Buffer | string, { opcode = TEXT, final = true, masked = true, reserved = 0 } = {}): Buffer {
  const data = Buffer.from(payload as string);
  const mask = masked ? MASKED : 0;
  const head =
    data.length < 126 ? Buffer.from([0, mask | data.length]) : Buffer.from([0, mask | 126, data.length >> 8, data.length & 0xff]);
  head[0] = (final ? FINAL : 0) | reserved | opcode;
  return Buffer.concat([head, ...(masked ? [NO_MASK_KEY] : []), data]);
}

const PING = JSON.stringify({ id: 1, method: "ping" });

describe("a frame that breaks the protocol of WebSockets", () => {
  const broken: [why: string, bytes: () => Buffer, code: number][] = [
    ["is not masked", () => frame(PING, { masked: false }), 1002],
    ["has a reserved bit", () => frame(PING, { reserved: 0x40 }), 1002],
    ["has an unknown opcode", () => frame(PING, { opcode: 0x3 }), 1002],
    ["continues no message", () => frame(PING, { opcode: CONTINUATION }), 1002],
    ["begins a message inside another", () => Buffer.concat([frame("{", { final: false }), frame("}")]), 1002],
    ["is a ping in fragments", () => frame("x", { opcode: 0x9, final: false }), 1002],
    ["is not UTF-8", () => frame(Buffer.from([0xc3, 0x28])), 1007],
    ["claims a length of 4 GiB", () => Buffer.from([FINAL | TEXT, MASKED | 127, 0, 0, 0, 1, 0, 0, 0, 0]), 1009],
    ["claims a length beyond the number range", () => Buffer.from([FINAL | TEXT, MASKED | 127, 0xff, 0, 0, 0, 0, 0, 0, 0]), 1009],
    ["closes with an invalid code", () => frame(Buffer.from([0, 1]), { opcode: 0x8 }), 1002],
  ];
  test.each(broken)("a frame that violates the WebSocket protocol ends its connection: it %s", async (_, bytes, code) => {
    const client = await t.connect();
    await client.next("welcome");
    client.socket.write(bytes());
    expect(await client.closed).toMatchObject({ code, after: "terminal" });
  });
});

describe("random bytes", () => {
  /** Bytes, some of which start like a frame. */
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc
      .tuple(fc.constantFrom(0x01, 0x81, 0x82, 0x88, 0x89, 0x8a, 0x00, 0x80), fc.uint8Array({ maxLength: 125 }))
      .map(([first, rest]) => Uint8Array.from([first, MASKED | rest.length, ...NO_MASK_KEY, ...rest])),
  );

  test.each(RAW_TRANSPORTS)(
    "random bytes on an open connection over %s end it or are answered, and affect no other client",
    async (transport) => {
      await fc.assert(
        fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 5 }), async (pieces) => {
          const client = await t.connect({ transport });
          for (const piece of pieces) client.socket.write(piece);
          // Ends any message that the bytes started; a connection that is still open answers with a close.
          client.socket.end();
          await client.closed;
        }),
        { numRuns: 60 },
      );
      await fence(neighbour);
    },
  );

  test("random bytes instead of a request are refused or cut off, and affect no other client", async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (piece) => {
        const wire = await openWire(t.url);
        wire.write(Buffer.from(piece));
        wire.socket.end();
        await wire.ended;
        wire.socket.destroy();
      }),
      { numRuns: 60 },
    );
    await fence(neighbour);
  });
});

describe.each(RAW_TRANSPORTS)("a message over %s", (transport) => {
  /** The message in the encoding of the connection. */
  const written = (message: object) =>
    transport === "msgpack" ? Buffer.from(encode(message)) : Buffer.from(JSON.stringify(message));
  const binary = transport === "msgpack";

  test("a message may have 16 KiB, in one frame or in several", async () => {
    const client = await t.connect({ transport });
    const padded = (length: number) => written({ id: 1, method: "ping", pad: "x".repeat(length) });
    // A long text has more bytes around it than a short one.
    const full = padded(STREAM_MESSAGE_MAX_BYTES - (padded(1_000).length - 1_000));
    expect(full).toHaveLength(STREAM_MESSAGE_MAX_BYTES);
    client.raw.send(full, { binary });
    expect(await client.next("ack")).toMatchObject({ id: 1, method: "ping" });
    for (const [index, part] of [full.subarray(0, 5), full.subarray(5, 9_000), full.subarray(9_000)].entries())
      client.raw.send(part, { fin: index === 2, binary });
    expect(await client.next("ack")).toMatchObject({ id: 1, method: "ping" });
    await client.close();
  });

  test("a message over 16 KiB ends its connection, even in fragments", async () => {
    for (const parts of [1, 4]) {
      const client = await t.connect({ transport });
      const part = "x".repeat(Math.ceil((STREAM_MESSAGE_MAX_BYTES + 1) / parts));
      for (let index = 1; index <= parts; index += 1) client.raw.send(part, { fin: index === parts, binary });
      expect(await client.closed).toMatchObject({ code: 1009, after: "terminal" });
    }
  });

  test("a message of a megabyte ends its connection before it is read completely", async () => {
    const client = await t.connect({ transport });
    client.raw.send("x".repeat(1_048_576), { binary });
    expect(await client.closed).toMatchObject({ code: 1009, after: "terminal" });
  });

  test("a message in too many fragments ends its connection", async () => {
    const client = await t.connect({ transport });
    for (let index = 0; index < 1_000; index += 1) client.raw.send("x", { fin: false, binary });
    expect(await client.closed).toMatchObject({ after: "terminal" });
  });

  test("a message in a frame of the wrong kind is refused with an error that names the right one, and the connection stays open", async () => {
    const client = await t.connect({ transport });
    client.raw.send(PING, { binary: !binary });
    const detail = expect.stringContaining(binary ? "send MessagePack in binary messages" : "send JSON text");
    expect(await client.next("error")).toMatchObject({ id: null, code: 40001, message: "invalid_parameter", data: { detail } });
    await fence(client);
    await client.close();
  });

  test("a message that is cut short is answered with an error, and the next one is read", async () => {
    const client = await t.connect({ transport });
    client.raw.send(written({ id: 1, method: "ping" }).subarray(0, -1), { binary });
    expect(await client.next("error")).toMatchObject({ id: null, code: 40001, message: "invalid_parameter" });
    client.raw.send(written({ id: 2, method: "ping" }), { binary });
    expect(await client.next("ack")).toMatchObject({ id: 2 });
    await client.close();
  });

  test("an unfinished message does not extend the time limit of the first subscribe", async () => {
    const client = await t.connect({ transport });
    client.raw.send("{", { fin: false, binary });
    await t.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000 + 250, [neighbour]);
    expect(await client.closed).toMatchObject({ code: 4400 });
  });
});

describe("a connection that goes silent", () => {
  test("a silent connection is pinged every 20 seconds and cut after 60 seconds without a pong", async () => {
    const client = await t.connect({ pongs: false });
    await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], snapshot: false });
    let pings = 0;
    client.raw.on("ping", () => {
      pings += 1;
    });
    await t.advance(STREAM_PONG_TIMEOUT_S * 1000 - 250, [client, neighbour]);
    expect(pings).toBe(2);
    await t.advance(500, [neighbour]);
    expect(await client.closed).toMatchObject({ code: 1006, after: "retry" });
    await vi.waitFor(async () => expect(await t.connections()).toBe(1));
  });

  test("a connection without a subscribe within 10 seconds is closed with an error", async () => {
    const client = await t.connect();
    await client.ask("ping");
    await t.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000 - 250, [client, neighbour]);
    await t.advance(500, [neighbour]);
    expect(await client.next("error")).toMatchObject({ id: null, code: 40002, data: { close_code: 4400 } });
    expect(await client.closed).toMatchObject({ code: 4400, reason: "protocol_abuse", after: "terminal" });
  });

  test("a Socket.IO connection may stay without a subscription", async () => {
    const client = await t.connect({ transport: "socket.io" });
    await t.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 2_000, [client, neighbour]);
    await client.close();
  });

  test("a connection that does not answer its close is cut", async () => {
    const client = await t.connect();
    client.socket.pause();
    await t.advance(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000 + 250, [neighbour]);
    await vi.waitFor(async () => expect(await t.connections()).toBe(1));
    client.socket.resume();
    await client.closed;
  });
});

describe("frames of a client that are no messages", () => {
  test("pings of a client are answered, and too many of them end the connection", async () => {
    const client = await t.connect();
    const pong = new Promise((resolve) => client.raw.once("pong", resolve));
    client.raw.ping();
    await pong;
    for (let count = 0; count < 100; count += 1) client.raw.ping();
    expect(await client.next("error")).toMatchObject({ message: "rate_limited", data: { close_code: 4029 } });
    expect(await client.closed).toMatchObject({ code: 4029, after: "retry" });
  });

  test.each([
    ["pongs that answer no ping", 4029, (raw: WebSocket) => raw.pong()],
    ["large pongs", 4029, (raw: WebSocket) => raw.pong("x".repeat(125))],
    ["pings and pongs by turns", 4029, (raw: WebSocket, count: number) => (count % 2 === 0 ? raw.ping() : raw.pong())],
    // None of them can be read.
    ["empty messages", 4400, (raw: WebSocket) => raw.send("")],
    [
      "messages in empty fragments",
      4400,
      (raw: WebSocket) => {
        for (const fin of [false, false, true]) raw.send("", { fin });
      },
    ],
  ])("%s end the connection as soon as there are too many, and what still comes is not parsed", async (_, code, send) => {
    const client = await t.connect();
    let parsed = 0;
    client.raw.on("pong", () => {
      parsed += 1;
    });
    for (let count = 0; count < 20 * FRAMES_MAX_COUNT; count += 1) send(client.raw, count);
    expect(await client.closed).toMatchObject({ code });
    // The answers to pings show how much was read.
    expect(parsed).toBeLessThanOrEqual(FRAMES_MAX_COUNT + 1);
    await vi.waitFor(async () => expect(await t.connections()).toBe(1));
  });

  test("a pong that answers a ping does not count", async () => {
    const client = await t.connect();
    await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], snapshot: false });
    const pinged = once(client.raw, "ping");
    await t.advance(STREAM_PING_INTERVAL_S * 1000 + 250, [neighbour]);
    await pinged;
    for (let count = 0; count < STREAM_MESSAGES_BURST_COUNT; count += 1) client.send("ping", undefined, count);
    for (let count = 0; count < STREAM_MESSAGES_BURST_COUNT; count += 1)
      expect(await client.next("ack")).toMatchObject({ code: 0 });
    await client.close();
  });
});

describe("packets of Socket.IO that are no messages", () => {
  /** Opens the WebSocket below Socket.IO, as any program can. */
  async function openBelow(): Promise<WebSocket> {
    const raw = new WebSocket(`${t.url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`, {
      headers: { "x-forwarded-for": "198.51.100.7" },
    });
    await once(raw, "message");
    return raw;
  }
  /** Connects to the namespace with the key of the service. */
  async function admitted(): Promise<WebSocket> {
    const raw = await openBelow();
    raw.send(`40${SOCKET_IO_NAMESPACE},${JSON.stringify({ key: (await t.issueKey()).text })}`);
    const connected = (data: Buffer) => String(data).startsWith(`40${SOCKET_IO_NAMESPACE}`);
    await new Promise<void>((resolve) => raw.on("message", (data) => connected(data as Buffer) && resolve()));
    return raw;
  }

  test.each([
    ["pongs of the library", (raw: WebSocket) => raw.send("3")],
    ["pongs of WebSocket", (raw: WebSocket) => raw.pong()],
    ["pings of WebSocket", (raw: WebSocket) => raw.ping()],
    ["answers to nothing", (raw: WebSocket) => raw.send(`43${SOCKET_IO_NAMESPACE},1[]`)],
  ])("%s end the connection as soon as there are too many, before a client is admitted and after it", async (_, send) => {
    for (const open of [openBelow, admitted]) {
      const raw = await open();
      const closed = once(raw, "close");
      for (let count = 0; count < 1_000; count += 1) send(raw);
      await closed;
      await vi.waitFor(async () => expect(await t.connections()).toBe(1));
    }
  });
});
