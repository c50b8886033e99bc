import type { Clock } from "#lib/clock";
import { createLru } from "../lru";
import { type Bucket, type BucketLimits, giveBack, take, type Verdict } from "./bucket";

/** Maximum number of buckets that a node keeps. Past it the least recently used one is dropped, and its owner starts with a full one again. */
export const BUCKETS_MAX_COUNT = 100_000;

/**
 * Keeps the buckets. An implementation decides exactly like `take`, one request of a key at a time, and limits the number of
 * buckets. It returns synchronously when it can, because a promise costs every request a turn of the event loop.
 */
export interface BucketStore {
  take(key: string, limits: BucketLimits, cost: number): Verdict | Promise<Verdict>;
  /**
   * Returns units that were taken at `takenMs` and not used, as `giveBack` does. A store of several nodes may lose them until the
   * window ends; it never returns too many.
   */
  giveBack(key: string, limits: BucketLimits, cost: number, takenMs: number): void;
}

/** Returns synchronously. */
interface MemoryBucketStore extends BucketStore {
  take(key: string, limits: BucketLimits, cost: number): Verdict;
}

/** Keeps buckets in the memory of this process. */
export function createMemoryBucketStore(clock: Clock, maxCount = BUCKETS_MAX_COUNT): MemoryBucketStore {
  const buckets = createLru<{ bucket: Bucket }>(maxCount);
  return {
    take(key, limits, cost) {
      const kept = buckets.get(key);
      const { bucket, verdict } = take(kept?.bucket, limits, cost, clock.now());
      // To set it again would cost several times as much as the decision.
      if (kept === undefined) buckets.set(key, { bucket });
      else kept.bucket = bucket;
      return verdict;
    },
    giveBack(key, limits, cost, takenMs) {
      const kept = buckets.get(key);
      if (kept !== undefined) kept.bucket = giveBack(kept.bucket, limits, cost, takenMs, clock.now());
    },
  };
}
