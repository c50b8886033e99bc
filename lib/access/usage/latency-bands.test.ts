import fc from "fast-check";
import { expect, test } from "vitest";
import { LATENCY_BANDS_COUNT, LATENCY_BOUNDS_MS, latencyBand, latencyQuantile } from "./latency-bands";

function counted(latencies: readonly number[]): number[] {
  const counts = new Array<number>(LATENCY_BANDS_COUNT).fill(0);
  for (const ms of latencies) counts[latencyBand(ms)] = (counts[latencyBand(ms)] ?? 0) + 1;
  return counts;
}

test("a latency is counted in the band that contains it", () => {
  expect([0, 0.1, 0.11, 1, 5_000, 5_001, 1e9].map(latencyBand)).toEqual([0, 0, 1, 4, 20, 21, 21]);
});

test("an estimated quantile lies in the band of the exact one", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 5_000, noNaN: true }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.95, 1),
      (latencies, q) => {
        const sorted = [...latencies].sort((a, b) => a - b);
        const band = latencyBand(sorted[Math.ceil(q * sorted.length) - 1] ?? 0);
        const estimate = latencyQuantile(counted(latencies), q) ?? Number.NaN;
        expect(estimate).toBeGreaterThanOrEqual((LATENCY_BOUNDS_MS[band - 1] ?? 0) - 0.001);
        expect(estimate).toBeLessThanOrEqual((LATENCY_BOUNDS_MS[band] ?? Number.POSITIVE_INFINITY) + 0.001);
      },
    ),
  );
});

test("a quantile is null without calls, and the lower bound for the longest band", () => {
  expect(latencyQuantile([], 0.5)).toBeNull();
  expect(latencyQuantile(counted([60_000]), 0.5)).toBe(5_000);
});
