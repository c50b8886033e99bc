import fc from "fast-check";
import { expect, test } from "vitest";
import { clientFrame, FrameReader, PONG, serverFrame, TEXT } from "./stream-frames";

/** A server frame. */

/** Reads a stream in pieces of one size through one buffer that is overwritten, like sockets. */
function readInPieces(stream: Buffer, size: number, whole: boolean): { bytes: number[]; texts: (string | undefined)[] } {
  const bytes: number[] = [];
  const texts: (string | undefined)[] = [];
  const reader = new FrameReader((opcode, count, buffer, at) => {
    expect(opcode).toBe(TEXT);
    bytes.push(count);
    texts.push(buffer?.toString("utf8", at, at + count));
  });
  reader.whole = whole;
  const buffer = Buffer.alloc(size);
  for (let at = 0; at < stream.length; at += size) {
    const count = stream.copy(buffer, 0, at, at + size);
    reader.read(buffer.subarray(0, count));
  }
  return { bytes, texts };
}

const texts = [1, 2, 125, 126, 300, 65_535, 65_536, 3].map((length, index) => String.fromCharCode(97 + index).repeat(length));
const stream = Buffer.concat(texts.map(serverFrame));

test("every frame is found, wherever the stream is split", () => {
  fc.assert(
    fc.property(fc.integer({ min: 500, max: stream.length }), (size) => {
      expect(readInPieces(stream, size, true).texts).toEqual(texts);
      expect(readInPieces(stream, size, false).bytes).toEqual(texts.map(({ length }) => length));
    }),
    { numRuns: 60 },
  );
});

test("frames are found in a stream that arrives byte by byte", () => {
  const small = texts.filter(({ length }) => length <= 300);
  expect(readInPieces(Buffer.concat(small.map(serverFrame)), 1, true).texts).toEqual(small);
});

test("only the payload of large frames that arrive in pieces is skipped", () => {
  expect(readInPieces(stream, 1, false).texts).toEqual(texts.map((text) => (text.length > 125 ? undefined : text)));
  expect(readInPieces(stream, stream.length, false).texts).toEqual(texts);
});

test("a frame larger than any message is not assembled", () => {
  const head = Buffer.alloc(10);
  head.set([0x81, 127]);
  head.writeBigUInt64BE(16_777_217n, 2);
  expect(() => readInPieces(head, 10, true)).toThrow("a frame of 16777217 bytes");
});

test("a client frame is masked and contains its payload unchanged", () => {
  expect([...clientFrame(PONG, "hi")]).toEqual([0x8a, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
  expect([...clientFrame(TEXT, "x".repeat(300)).subarray(0, 8)]).toEqual([0x81, 0xfe, 1, 44, 0, 0, 0, 0]);
  expect(() => clientFrame(TEXT, "x".repeat(65_536))).toThrow("a client frame of 65536 bytes");
});
