/** Ticks that a figure is made from: of so many ticks, and of so long a time. */
const LATENCIES_COUNT = 60;
const RATE_MS = 10_000;

/** How fast prices reach this page. */
export interface TickSpeed {
  /** Median of the time from the feed's tick to the painted price, by the service's clock; null before the first tick. */
  readonly latencyMs: number | null;
  /** Records that arrived per second, those that a merged record replaces included; null before a second has passed. */
  readonly perSecond: number | null;
}

/** Measures the speed of ticks. All times are Unix milliseconds. */
interface SpeedMeter {
  /** `count` ticks arrived. */
  arrived(atMs: number, count: number): void;
  /** A price was painted. Both by the service's clock. */
  painted(tickMs: number, paintedMs: number): void;
  speed(atMs: number): TickSpeed;
  /** Forgets everything: the connection is a new one. */
  clear(): void;
}

/** Makes a meter that keeps the last ticks only. */
export function createSpeedMeter(): SpeedMeter {
  let latencies: number[] = [];
  let arrivals: { readonly atMs: number; readonly count: number }[] = [];
  let sinceMs: number | undefined;
  return {
    arrived(atMs, count) {
      sinceMs ??= atMs;
      arrivals.push({ atMs, count });
      // Bounded, however many arrive between two looks.
      if (arrivals.length > 2_000) arrivals = arrivals.slice(-1_000);
    },
    painted(tickMs, paintedMs) {
      latencies = [...latencies, Math.max(0, paintedMs - tickMs)].slice(-LATENCIES_COUNT);
    },
    speed(atMs) {
      arrivals = arrivals.filter((arrival) => atMs - arrival.atMs < RATE_MS);
      const sorted = [...latencies].sort((a, b) => a - b);
      const overMs = Math.min(RATE_MS, atMs - (sinceMs ?? atMs));
      const ticks = arrivals.reduce((sum, { count }) => sum + count, 0);
      return {
        latencyMs: sorted[Math.floor(sorted.length / 2)] ?? null,
        perSecond: overMs < 1_000 ? null : (1_000 * ticks) / overMs,
      };
    },
    clear() {
      latencies = [];
      arrivals = [];
      sinceMs = undefined;
    },
  };
}
