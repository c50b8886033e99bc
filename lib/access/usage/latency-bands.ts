/** Upper bounds of the latency bands, milliseconds; one more band has longer latencies. Stored counts follow this order. */
export const LATENCY_BOUNDS_MS = [
  0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 4, 6, 10, 15, 25, 40, 60, 100, 150, 250, 500, 1_000, 2_500, 5_000,
] as const;
/** Number of bands. Changing the bounds needs a migration, because it would change the meaning of stored counts. */
export const LATENCY_BANDS_COUNT = LATENCY_BOUNDS_MS.length + 1;

/** The band of a latency in milliseconds, 0 to LATENCY_BANDS_COUNT - 1. Most are in the first bands. */
export function latencyBand(ms: number): number {
  let band = 0;
  while (ms > (LATENCY_BOUNDS_MS[band] ?? Number.POSITIVE_INFINITY)) band += 1;
  return band;
}

/**
 * A quantile of latencies counted in bands, milliseconds, assuming an even distribution within each band. Latencies above the
 * last bound count as that bound. Null without calls.
 * @param counts calls in each band
 * @param q from 0 to 1
 */
export function latencyQuantile(counts: readonly number[], q: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = q * total;
  for (const [band, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const low = LATENCY_BOUNDS_MS[band - 1] ?? 0;
      const high = LATENCY_BOUNDS_MS[band] ?? low;
      return round(low + ((high - low) * left) / count);
    }
    left -= count;
  }
  return LATENCY_BOUNDS_MS.at(-1) ?? null;
}

/** Rounds to microseconds; the bands are coarser. */
function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
