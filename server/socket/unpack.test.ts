import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { STREAM_MESSAGE_MAX_BYTES } from "#lib/contract/limits";
import { readPacked } from "./protocol";
import { unpack } from "./unpack";

const pack = (value: unknown) => Buffer.from(encode(value, { maxDepth: 100, useBigInt64: true }));
const bytes = (...parts: (number | number[] | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part))));
const text = (value: string) => pack(value);
const nested = (levels: number) => bytes(Array(levels).fill(0x91), 0xc0);
/** Lists inside each other that each claim as many items as a message has bytes. */
const huge = Buffer.concat(
  Array.from({ length: STREAM_MESSAGE_MAX_BYTES / 3 }, () => Buffer.of(0xdc, STREAM_MESSAGE_MAX_BYTES >> 8, 0)),
);

describe("a message in MessagePack", () => {
  const refused: [why: string, message: Buffer, reason: RegExp][] = [
    ["nothing", Buffer.alloc(0), /breaks off/],
    ["a map without its fields", bytes(0x82, text("id"), 1), /breaks off/],
    ["a text that is shorter than it says", bytes(0xd9, 200, text("ping")), /breaks off/],
    ["a number that breaks off", bytes(0xcf, 0, 0), /breaks off/],
    ["a length that breaks off", bytes(0xdb, 0, 0), /breaks off/],
    ["a list that claims four billion items", bytes(0xdd, [255, 255, 255, 255], 1), /breaks off/],
    ["a map that claims four billion fields", bytes(0xdf, [255, 255, 255, 255], text("a"), 1), /breaks off/],
    ["a text that claims four gigabytes", bytes(0xdb, [255, 255, 255, 255], 97), /breaks off/],
    ["lists inside each other that all claim to be long", huge, /breaks off|levels/],
    ["more than 16 levels", nested(17), /more than 16 levels/],
    ["as many levels as a message can have", nested(STREAM_MESSAGE_MAX_BYTES - 1), /more than 16 levels/],
    ["two values", bytes(pack({ method: "ping" }), 0xc0), /more bytes follow/],
    ["an unused first byte", bytes(0xc1), /extension type/],
    ["bytes", pack({ method: "ping", id: new Uint8Array([1]) }), /has bytes/],
    ["a time, which is an extension type", pack({ id: new Date(0) }), /extension type/],
    ["an extension type of its own", bytes(0xc7, 1, 5, 1), /extension type/],
    ["a field whose name is a number", bytes(0x81, 1, 2), /name of a field is not a text/],
    ["a field whose name is a list", bytes(0x81, 0x90, 2), /name of a field is not a text/],
    ["a field named __proto__", bytes(0x81, text("__proto__"), 0x80), /__proto__ is not allowed/],
    ["a text that is not UTF-8", bytes(0x81, 0xa2, 0xc3, 0x28, 1), /not UTF-8/],
  ];
  test.each(refused)("a message in MessagePack gets an error that names the problem: %s", (_, message, reason) => {
    const reading = readPacked(message);
    expect(reading).toMatchObject({ ok: false, id: null, fault: { id: "invalid_parameter" } });
    if (reading.ok) throw new Error("it was read");
    expect(reading.fault.data.detail).toMatch(/^The message is not valid MessagePack: /);
    expect(reading.fault.data.detail).toMatch(reason);
  });

  test("integers that JSON numbers cannot hold, and numbers that are none, are refused where a number is due", () => {
    for (const id of [2n ** 63n, -(2n ** 63n), 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const reading = readPacked(pack({ id, method: "ping" }));
      expect(reading).toMatchObject({ ok: false, id: null, fault: { id: "invalid_parameter", data: { parameter: "id" } } });
    }
    for (const id of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 32, -(2 ** 31)])
      expect(readPacked(pack({ id, method: "ping" }))).toMatchObject({ ok: true, message: { id } });
  });

  test("field names of objects in general do not reach the prototype", () => {
    const reading = readPacked(pack({ constructor: { prototype: { polluted: 1 } }, toString: 1, method: "ping" }));
    expect(reading).toMatchObject({ ok: true, message: { method: "ping" } });
    expect("polluted" in {}).toBe(false);
  });

  test("16 levels are read, and what is valid is what the library reads", () => {
    expect(unpack(nested(16))).toEqual(decode(nested(16)));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        fc.pre(!JSON.stringify(value).includes("__proto__"));
        const packed = pack(value);
        expect(unpack(packed)).toEqual(decode(packed));
      }),
      { numRuns: 500 },
    );
  });
});
