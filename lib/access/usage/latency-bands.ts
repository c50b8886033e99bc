/** Upper bounds of the latency bands, milliseconds; one more band takes what is longer. Stored counts follow this order. */
export const LATENCY_BOUNDS_MS = [
  0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 4, 6, 10, 15, 25, 40, 60, 100, 150, 250, 500, 1_000, 2_500, 5_000,
] as const;
/** Number of bands. New bounds would give stored counts another meaning: they can only be changed with a migration. */
export const LATENCY_BANDS_COUNT = LATENCY_BOUNDS_MS.length + 1;

/** The band of a latency in milliseconds, 0 to LATENCY_BANDS_COUNT - 1. Most are in the first few. */
export function latencyBand(ms: number): number {
  let band = 0;
  while (ms > (LATENCY_BOUNDS_MS[band] ?? Number.POSITIVE_INFINITY)) band += 1;
  return band;
}

/**
 * A quantile of what was counted in bands, milliseconds, as if latencies were spread evenly within a band; what is longer
 * than the last bound counts as that bound. Null where nothing was counted.
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

/** Microseconds are finer than bands can tell. */
function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
