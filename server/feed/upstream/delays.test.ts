import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDelays } from "./delays";

const NOW_MS = Date.UTC(2026, 0, 7, 12);
const MINUTE_MS = 60_000;

describe("the delays of ticks", () => {
  test("median and 99th percentile are within 5 % of the true ones, and forget what is older than a minute", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 300 }), (delays) => {
        const kept = createDelays();
        for (const delay of delays) kept.add(NOW_MS - delay, NOW_MS);
        const sorted = [...delays].sort((one, other) => one - other);
        const lag = kept.lag(NOW_MS);
        for (const [value, share] of [
          [lag?.median_ms, 0.5],
          [lag?.p99_ms, 0.99],
        ] as const) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
          expect(Math.abs((value ?? 0) - exact)).toBeLessThanOrEqual(0.05 * exact + 1);
        }
        expect(kept.lag(NOW_MS + 2 * MINUTE_MS)).toBeNull();
      }),
    );
  });

  test("the clock offset is the smallest delay of five minutes", () => {
    const delays = createDelays();
    delays.add(NOW_MS + 400, NOW_MS);
    for (let ms = 0; ms < 10 * MINUTE_MS; ms += 1_000) delays.add(NOW_MS + ms - 700, NOW_MS + ms);
    expect(delays.offsetMs(NOW_MS + 10 * MINUTE_MS)).toBe(700);
    expect(delays.offsetMs(NOW_MS + 20 * MINUTE_MS)).toBeNull();
    expect(createDelays().offsetMs(NOW_MS)).toBeNull();
  });

  test.each([
    [-1_001, true],
    [-1_000, false],
    [5_000, false],
    [5_001, true],
  ])("an offset of %i ms is off only after a minute: %s", (offset, off) => {
    const delays = createDelays();
    for (let ms = 0; ms <= MINUTE_MS + 10_000; ms += 1_000) {
      delays.add(NOW_MS + ms - offset, NOW_MS + ms);
      if (ms < MINUTE_MS - 10_000) expect(delays.clockIsOff(NOW_MS + ms)).toBe(false);
    }
    expect(delays.clockIsOff(NOW_MS + MINUTE_MS + 10_000)).toBe(off);
  });
});
