import { MINUTE_MS, SECOND_MS } from "#lib/units";

/** Each bucket of the histogram is this much wider than the one before. */
const GROWTH = 1.05;
/** Longer delays count as this. */
const LONGEST_MS = 60 * MINUTE_MS;
const BUCKETS_COUNT = Math.ceil(Math.log(LONGEST_MS) / Math.log(GROWTH)) + 2;
/** Delays are kept by slices of time, so that the old ones can be forgotten. */
const SLICE_MS = 10 * SECOND_MS;
const LAG_SLICES_COUNT = MINUTE_MS / SLICE_MS;
const OFFSET_SLICES_COUNT = (5 * MINUTE_MS) / SLICE_MS;
/** The engine refuses ticks that are 5 s ahead; a provider's clock that is so far behind is wrong as well. */
const OFFSET_MIN_MS = -SECOND_MS;
const OFFSET_MAX_MS = 5 * SECOND_MS;
const OFF_AFTER_MS = MINUTE_MS;

const bucketOf = (ms: number) => (ms < 1 ? 0 : Math.min(BUCKETS_COUNT - 1, 1 + Math.floor(Math.log(ms) / Math.log(GROWTH))));
/** The upper bound of a bucket, milliseconds. */
const topOf = (bucket: number) => Math.round(GROWTH ** bucket);

/** Whether clocks differ so much that ticks are refused or late. */
export const clockIsWrong = (offsetMs: number): boolean => offsetMs < OFFSET_MIN_MS || offsetMs > OFFSET_MAX_MS;

interface Slice {
  /** Number of the slice since 1970. */
  readonly at: number;
  smallestMs: number;
  readonly counts: Uint32Array;
}

/**
 * How far the times of ticks are behind their arrival: median and 99th percentile of a minute, within 5 %, and the offset of the
 * clocks, which is the smallest delay of five minutes: a way only adds to it. Memory is bounded, whatever comes.
 */
export function createDelays() {
  const slices: Slice[] = [];
  let offSinceMs: number | null = null;

  const since = (nowMs: number, count: number) => slices.filter(({ at }) => at > Math.floor(nowMs / SLICE_MS) - count);

  function offsetMs(nowMs: number): number | null {
    const kept = since(nowMs, OFFSET_SLICES_COUNT);
    return kept.length === 0 ? null : Math.min(...kept.map(({ smallestMs }) => smallestMs));
  }

  function watchClock(nowMs: number): void {
    const offset = offsetMs(nowMs);
    const off = offset !== null && clockIsWrong(offset);
    offSinceMs = off ? (offSinceMs ?? nowMs) : null;
  }

  return {
    /** Takes the arrival of a tick. Instants are Unix milliseconds. */
    add(timeMs: number, arrivedMs: number): void {
      const at = Math.floor(arrivedMs / SLICE_MS);
      let slice = slices.at(-1);
      if (slice === undefined || slice.at < at) {
        watchClock(arrivedMs);
        slice = { at, smallestMs: Number.POSITIVE_INFINITY, counts: new Uint32Array(BUCKETS_COUNT) };
        slices.push(slice);
        if (slices.length > OFFSET_SLICES_COUNT) slices.shift();
      }
      const delay = arrivedMs - timeMs;
      slice.smallestMs = Math.min(slice.smallestMs, delay);
      const bucket = bucketOf(delay);
      slice.counts[bucket] = (slice.counts[bucket] ?? 0) + 1;
    },
    /** Null without a tick in the last minute. */
    lag(nowMs: number): { median_ms: number; p99_ms: number } | null {
      const counts = new Array<number>(BUCKETS_COUNT).fill(0);
      for (const slice of since(nowMs, LAG_SLICES_COUNT))
        slice.counts.forEach((count, bucket) => {
          counts[bucket] = (counts[bucket] ?? 0) + count;
        });
      const total = counts.reduce((sum, count) => sum + count, 0);
      if (total === 0) return null;
      const quantile = (share: number): number => {
        let left = Math.ceil(share * total);
        const reaches = (count: number) => {
          left -= count;
          return left <= 0;
        };
        return topOf(counts.findIndex(reaches));
      };
      return { median_ms: quantile(0.5), p99_ms: quantile(0.99) };
    },
    offsetMs,
    /** True if the offset has been out of its range for a minute. */
    clockIsOff(nowMs: number): boolean {
      watchClock(nowMs);
      return offSinceMs !== null && nowMs - offSinceMs >= OFF_AFTER_MS;
    },
  };
}
