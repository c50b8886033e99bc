import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openBody, sealBody } from "./sealed-body";

const options = { key: randomBytes(32), id: "one" };

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

const collect = async (chunks: AsyncIterable<Uint8Array>) => {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
};
const sealed = (chunks: readonly Uint8Array[], by = options) => collect(sealBody(chunksOf(chunks), by));
const opened = async (frames: readonly Uint8Array[], by = options) =>
  Buffer.concat(await collect(openBody(chunksOf(frames), by)));

/** The same bytes in pieces of this length. */
const divided = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));

const TWO = [Buffer.from("first"), Buffer.from("second")];

describe("a sealed body", () => {
  test("a body comes out as it went in, however the network divides it", async () => {
    const body = fc.array(fc.uint8Array({ maxLength: 50 }));
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 1, max: 60 }), async (chunks, size) => {
        expect(await opened(divided(Buffer.concat(await sealed(chunks)), size))).toEqual(Buffer.concat(chunks));
      }),
      { numRuns: 50 },
    );
    const long = randomBytes(300_000);
    expect(await opened(await sealed([long]))).toEqual(long);
    expect(await opened(await collect(sealBody(null, options)))).toHaveLength(0);
  });

  test("any changed bit is noticed before the bytes of its frame are used", async () => {
    const bytes = Buffer.concat(await sealed(TWO));
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      const used: Uint8Array[] = [];
      const reading = (async () => {
        for await (const chunk of openBody(chunksOf([changed]), options)) used.push(Buffer.from(chunk));
      })();
      await expect(reading, `byte ${at}`).rejects.toThrow(/frame/);
      expect(TWO.slice(0, used.length)).toEqual(used);
    }
  });

  test("frames that are missing, repeated, moved, cut off, or of another request or key are refused", async () => {
    const [first = Buffer.of(), second = Buffer.of(), end = Buffer.of()] = await sealed(TWO);
    const other = await sealed(TWO, { ...options, id: "two" });
    const foreign = await sealed(TWO, { ...options, key: randomBytes(32) });
    const wrong = [
      [second, end],
      [first, end],
      [first, first, second, end],
      [second, first, end],
      [first, second],
      [],
      other,
      foreign,
    ];
    for (const frames of [...wrong, [first, other[1] ?? end, end], [first, second.subarray(0, -1)]])
      await expect(opened(frames)).rejects.toThrow(/frame/);
  });

  test("a frame that claims to be longer than allowed is refused before it is buffered", async () => {
    await expect(opened([Buffer.from("ffffffff", "hex")])).rejects.toThrow("too long");
  });
});
