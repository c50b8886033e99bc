import type { Clock } from "#lib/clock";
import type { BucketLimits, Verdict } from "./bucket";
import type { BucketStore } from "./bucket-store";

/** A bucket by its name. */
interface NamedBucket {
  readonly name: string;
  readonly limits: BucketLimits;
}

/**
 * Makes the function that takes units from a key's own bucket and from its account's. Both must have enough. The key's
 * comes first, so that a key that used up its own limit takes nothing from the account; what the account refuses is returned to the key.
 * @returns the verdict of the bucket that refused, else of the one that has less left
 */
export function createTakeBoth(buckets: BucketStore, clock: Clock) {
  return async (own: NamedBucket, account: NamedBucket, cost: number): Promise<Verdict> => {
    const first = await buckets.take(own.name, own.limits, cost);
    if (!first.allowed) return { ...first, of: "key" };
    const takenMs = clock.now();
    const second = await buckets.take(account.name, account.limits, cost);
    if (!second.allowed) buckets.giveBack(own.name, own.limits, cost, takenMs);
    return second.allowed && first.remaining < second.remaining ? { ...first, of: "key" } : second;
  };
}
