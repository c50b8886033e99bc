import { describe, expect, test } from "vitest";
import { MIB_BYTES } from "#lib/units";
import { memoryShares } from "./memory-shares";

const GIB = 1024 * MIB_BYTES;

describe("what processes may take of the memory", () => {
  test.each([
    [256 * MIB_BYTES, { portalHeapMiB: 192, databaseMiB: 32 }],
    [GIB, { portalHeapMiB: 256, databaseMiB: 128 }],
    [2 * GIB, { portalHeapMiB: 512, databaseMiB: 256 }],
    [64 * GIB, { portalHeapMiB: 768, databaseMiB: 256 }],
  ])("of %d bytes: a share, within bounds", (bytes, shares) => expect(memoryShares(bytes)).toEqual(shares));

  test("on 1 GB the heap of the market, that of the portal and the database's memory fit together", () => {
    // V8's own limit for the market process.
    const marketMiB = 512;
    const { portalHeapMiB, databaseMiB } = memoryShares(GIB);
    expect(marketMiB + portalHeapMiB + databaseMiB).toBeLessThanOrEqual(1024);
  });
});
