import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import { type Bucket, type BucketLimits, take, type Verdict } from "./bucket";

/** Buckets that a node knows at once. The least recently used one is forgotten past it, which gives its owner a full one again. */
export const BUCKETS_MAX_COUNT = 100_000;

/**
 * Keeps the buckets. An implementer judges exactly as `take` does, one request of a key after the other, and bounds what
 * it keeps. It answers at once where it can: a promise costs every request a turn.
 */
export interface BucketStore {
  take(key: string, limits: BucketLimits, cost: number): Verdict | Promise<Verdict>;
}

/** It answers at once. */
interface MemoryBucketStore extends BucketStore {
  take(key: string, limits: BucketLimits, cost: number): Verdict;
}

/** Buckets in this process's memory. */
export function createMemoryBucketStore(clock: Clock, maxCount = BUCKETS_MAX_COUNT): MemoryBucketStore {
  const buckets = new LRUCache<string, Bucket>({ max: maxCount });
  return {
    take(key, limits, cost) {
      const { bucket, verdict } = take(buckets.get(key), limits, cost, clock.now());
      buckets.set(key, bucket);
      return verdict;
    },
  };
}
