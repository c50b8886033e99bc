import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { decode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_EXCESS_MAX_COUNT,
  STREAM_MESSAGES_PER_SECOND_COUNT,
} from "#lib/contract/limits";
import { quoteExample } from "#lib/contract/quote";
import { HOUR_MS } from "#lib/units";
import { controlOf, type Outgoing, updateOf } from "#server/hub/outgoing";
import { eventOf } from "#server/testing/events";
import { FrameJoiner, frameOf } from "./frames";
import { MessageRateLimit, READER_RATE } from "./message-rate";

describe("the intake of a connection", () => {
  const judgeMany = (intake: MessageRateLimit, count: number, nowMs: number) =>
    Array.from({ length: count }, () => intake.judge(nowMs));
  const times = (verdict: string, count: number) => Array.from({ length: count }, () => verdict);

  test("the rate limit reads a burst, refuses further messages, and then closes the connection", () => {
    expect(judgeMany(new MessageRateLimit(0, READER_RATE), 42, 0)).toEqual([
      ...times("read", STREAM_MESSAGES_BURST_COUNT),
      ...times("refuse", STREAM_MESSAGES_EXCESS_MAX_COUNT),
      ...times("flooding", 2),
    ]);
  });

  test("the rate limit reads five messages a second indefinitely", () => {
    const intake = new MessageRateLimit(0, READER_RATE);
    const stepMs = 1000 / STREAM_MESSAGES_PER_SECOND_COUNT;
    for (let count = 1; count <= 1_000; count += 1) expect(intake.judge(count * stepMs)).toBe("read");
  });

  test("the rate limit counts refused messages, reports when the next one will be read, and then reads it", () => {
    const intake = new MessageRateLimit(0, READER_RATE);
    judgeMany(intake, STREAM_MESSAGES_BURST_COUNT + 7, 0);
    const waitMs = intake.waitS * 1000;
    expect(waitMs).toBeGreaterThanOrEqual(1_600);
    expect(intake.judge(waitMs)).toBe("read");
  });

  test("the rate limit never allows more than a burst, even after a long silence or when the clock goes back", () => {
    const intake = new MessageRateLimit(1_000_000, READER_RATE);
    expect(judgeMany(intake, 21, 0)).toEqual([...times("read", 20), "refuse"]);
    expect(judgeMany(intake, 21, HOUR_MS)).toEqual([...times("read", 20), "refuse"]);
  });
});

/** A message whose text has this many bytes. */
function messageOf(bytes: number, character = "x"): Outgoing {
  const shell = { type: "ack", id: null, method: "ping", code: 0, message: "success", data: { time_msc: 0, pad: "" } } as const;
  const pad = bytes - JSON.stringify(shell).length;
  const padded = { ...shell, data: { time_msc: 0, pad: character.repeat(pad / Buffer.byteLength(character)) } };
  return controlOf(padded, "json");
}

/** The payload of an unmasked text frame at an offset (RFC 6455, 5.2), and where the next one starts. */
function readFrame(bytes: Buffer, at: number): { text: string; end: number; headBytes: number } {
  expect(bytes[at]).toBe(0x81);
  const first = bytes[at + 1] ?? 0;
  const [length, headBytes] =
    first < 126 ? [first, 2] : first === 126 ? [bytes.readUInt16BE(at + 2), 4] : [Number(bytes.readBigUInt64BE(at + 2)), 10];
  const start = at + headBytes;
  return { text: bytes.toString("utf8", start, start + length), end: start + length, headBytes };
}

describe("a frame", () => {
  test.each([
    [125, 2],
    [126, 4],
    [65_535, 4],
    [65_536, 10],
    [200_000, 10],
  ])("a frame of %i bytes has the right length header and the complete text", (bytes, headBytes) => {
    const message = messageOf(bytes);
    const frame = frameOf(message);
    expect(message.bytes).toBe(bytes);
    expect(readFrame(frame, 0)).toEqual({ text: message.payload, end: frame.length, headBytes });
  });

  test("a frame of MessagePack is binary, and has the complete message", () => {
    const message = { type: "heartbeat" as const, time_msc: 1_795_257_720_123, quiet: [] };
    const frame = frameOf(controlOf(message, "msgpack"));
    expect([frame[0], frame[1]]).toEqual([0x82, frame.length - 2]);
    expect(decode(frame.subarray(2))).toEqual(message);
  });

  test("the length of a frame counts bytes, not characters", () => {
    const message = messageOf(300, "é");
    const frame = frameOf(message);
    expect(message.payload.length).toBeLessThan(message.bytes);
    expect(readFrame(frame, 0)).toMatchObject({ text: message.payload, end: frame.length });
  });

  /** The texts of the frames in a piece. */
  function textsIn(piece: Buffer): string[] {
    const texts: string[] = [];
    for (let at = 0; at < piece.length; ) {
      const { text, end } = readFrame(piece, at);
      texts.push(text);
      at = end;
    }
    return texts;
  }
  const textsOf = (messages: readonly Outgoing[]) => messages.map(({ payload }) => payload);

  test("the frame of a record is made once for all connections, and that of another message only where it is sent", () => {
    const joiner = new FrameJoiner();
    const record = updateOf(eventOf(quoteExample), "json");
    expect(joiner.join([record])).toBe(frameOf(record));
    const own = messageOf(130);
    expect(textsIn(joiner.join([own, record]))).toEqual(textsOf([own, record]));
    expect(own.frame).toBeUndefined();
  });

  test("joined frames keep their order, and are made once for connections that get the same messages", () => {
    const joiner = new FrameJoiner();
    const messages = [messageOf(130), messageOf(70_000), messageOf(140)];
    const piece = joiner.join(messages);
    expect(textsIn(piece)).toEqual(textsOf(messages));
    expect(joiner.join([...messages])).toBe(piece);
    const turned = messages.toReversed();
    expect(textsIn(joiner.join(turned))).toEqual(textsOf(turned));
    expect(joiner.join(messages)).toEqual(piece);
  });

  test("what a slow connection has not sent yet never changes, whatever others get after it", () => {
    const batch = fc.record({
      sizes: fc.array(fc.constantFrom(120, 130, 3_000, 8_188, 9_000), { minLength: 1, maxLength: 4 }),
      again: fc.boolean(),
      slow: fc.boolean(),
      behind: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 30 }), (batches) => {
        const joiner = new FrameJoiner();
        const unsent: { piece: Buffer; texts: unknown[] }[] = [];
        let messages: Outgoing[] = [];
        for (const [index, { sizes, again, slow, behind }] of batches.entries()) {
          if (!again || messages.length === 0) messages = sizes.map((bytes) => messageOf(bytes, `${index % 10}`));
          const socket = {
            writableLength: behind ? 1 : 0,
            write(piece: Buffer) {
              expect(textsIn(piece)).toEqual(textsOf(messages));
              if (behind || slow) unsent.push({ piece, texts: textsOf(messages) });
              if (slow) socket.writableLength += 1;
              return true;
            },
          };
          joiner.send(messages, socket as unknown as Socket);
        }
        for (const { piece, texts } of unsent) expect(textsIn(piece)).toEqual(texts);
      }),
    );
  });

  test("what a client that reads nothing has waiting takes little more memory than it is long, however short its pieces", () => {
    const joiner = new FrameJoiner();
    const pieces: Buffer[] = [];
    const socket = {
      writableLength: 0,
      write(piece: Buffer) {
        pieces.push(piece);
        socket.writableLength += piece.length;
        return true;
      },
    };
    for (let count = 0; count < 100; count += 1) joiner.send([messageOf(150), messageOf(150)], socket as unknown as Socket);
    const held = [...new Set(pieces.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
    // The first piece holds the reused memory, and the first and the last copy share theirs with others.
    expect(held).toBeLessThan(socket.writableLength + 4 * Buffer.poolSize);
  });

  test("a slow client receives exactly what was sent to it, even when other clients are sent data in the meantime", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const connect = async () => {
      const client = createConnection((server.address() as AddressInfo).port, "127.0.0.1").pause();
      const [socket] = await once(server, "connection");
      return { client, socket: socket as Socket };
    };
    const [slow, other] = [await connect(), await connect()];
    const joiner = new FrameJoiner();
    const sent: string[] = [];
    const message = (digit: number) => [messageOf(3_000, `${digit}`), messageOf(3_000, `${digit}`)];
    for (let round = 0; slow.socket.writableLength === 0; round += 1) {
      const messages = message(round % 9);
      joiner.send(messages, slow.socket);
      sent.push(...(textsOf(messages) as string[]));
    }
    joiner.send(message(9), other.socket);
    slow.socket.end();
    slow.client.resume();
    expect(textsIn(await buffer(slow.client)).join("\n") === sent.join("\n")).toBe(true);
    other.socket.destroy();
    server.close();
  });
});
