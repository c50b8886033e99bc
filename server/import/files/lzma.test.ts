import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LZMA_TICKS } from "#lib/testing/bi5";
import { decodeLzma } from "./lzma";

const RAW = path.resolve(process.cwd(), "../shared/data/raw/dukascopy");

test("a stream that ends with a marker and one that states its size give the same bytes", () => {
  const stated = Buffer.from(LZMA_TICKS);
  stated.writeBigUInt64LE(160n, 5);
  expect(decodeLzma(LZMA_TICKS, 1_000)).toHaveLength(160);
  expect(decodeLzma(stated, 1_000)).toEqual(decodeLzma(LZMA_TICKS, 1_000));
});

test("a stream larger than the limit is not decoded, whether or not it states its size", () => {
  const stated = Buffer.from(LZMA_TICKS);
  stated.writeBigUInt64LE(5_000_000_000n, 5);
  expect(() => decodeLzma(LZMA_TICKS, 159)).toThrow("more than");
  expect(() => decodeLzma(stated, 1_000)).toThrow("5000000000 bytes, more than the limit of 1000");
});

test("a stream truncated anywhere is rejected", () => {
  for (let length = 0; length < LZMA_TICKS.length - 5; length += 1)
    expect(() => decodeLzma(LZMA_TICKS.subarray(0, length), 1_000)).toThrow();
});

test("damaged or arbitrary input gives output of limited size or an LzmaError", () => {
  const damaged = fc
    .tuple(fc.nat(LZMA_TICKS.length - 1), fc.nat(255))
    .map(([at, byte]) => Buffer.from(LZMA_TICKS).fill(byte, at, at + 1));
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      try {
        expect(decodeLzma(bytes, 4_096).length).toBeLessThanOrEqual(4_096);
      } catch (error) {
        expect((error as Error).name).toBe("LzmaError");
      }
    }),
    { numRuns: 500 },
  );
});

/** MD5 of the output of `xz --format=lzma -dc`. */
const DECODED = {
  "EURUSD_2019_01_04_00h_ticks.bi5": "06fba5b27de87e85d6673d98b547d87e",
  "EURUSD_2019_01_04_10h_ticks.bi5": "6bacd4c8b3ae74ea0110a725c3756b3d",
  "EURUSD_2019_01_04_BID_candles_min_1.bi5": "b67e5ea1807f46c62233b34e2a7297d0",
  "EURUSD_2019_BID_candles_day_1.bi5": "0385e41a6f95ece95569477161782bc2",
};

describe.skipIf(!existsSync(RAW))("Dukascopy's own files (skipped where ../shared/data is absent)", () => {
  test.each(Object.entries(DECODED))("%s decodes to the same bytes as with xz", (name, md5) => {
    const decoded = decodeLzma(readFileSync(path.join(RAW, name)), 1 << 24);
    expect(createHash("md5").update(decoded).digest("hex")).toBe(md5);
  });
});
