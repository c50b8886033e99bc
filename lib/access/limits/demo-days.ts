import type { Clock } from "#lib/clock";
import { DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import { createMemoryBucketStore } from "./bucket-store";

const LIMITS = { restPerMinute: DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT, restBurst: DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT };
const OWNER = "everyone";

/**
 * Makes the counter of the days that this node computes for the users of the demo key, who have one limit together: their
 * addresses alone would let many of them keep it busy.
 * @returns counts days; throws Fault rate_limited with the seconds to wait when there are too many
 */
export function createDemoDays(clock: Clock): (days: number) => void {
  const buckets = createMemoryBucketStore(clock, 1);
  return (days) => {
    const { allowed, retryAfterS } = buckets.take(OWNER, LIMITS, days);
    if (allowed) return;
    throw new Fault("rate_limited", {
      detail: `Too much sandbox history is being computed for the demo key. Try again in ${retryAfterS} s, or use your own key.`,
      retry_after: retryAfterS,
    });
  };
}
