import { createRate } from "../portal/rate";

/** Ticks that the median is made from. */
const LATENCIES_COUNT = 60;

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
  let rate = createRate();
  return {
    arrived: (atMs, count) => rate.count(atMs, count),
    painted(tickMs, paintedMs) {
      latencies = [...latencies, Math.max(0, paintedMs - tickMs)].slice(-LATENCIES_COUNT);
    },
    speed(atMs) {
      const sorted = [...latencies].sort((a, b) => a - b);
      return { latencyMs: sorted[Math.floor(sorted.length / 2)] ?? null, perSecond: rate.perSecond(atMs) };
    },
    clear() {
      latencies = [];
      rate = createRate();
    },
  };
}
