import type { PlanLimits } from "#lib/contract/limits";
import { MINUTE_MS } from "#lib/units";

/** Length of the quota's window, which starts with the first request after the previous window. */
export const WINDOW_MS = MINUTE_MS;
/** The slowest rate: one unit in ten minutes. Every rate is a multiple of it. */
const RATES_PER_UNIT = 10;
/**
 * Parts per unit of the burst allowance, chosen so that each millisecond refills a whole number of parts. All sums are whole
 * numbers below 2^53 (for limits up to 2^31), so nothing is rounded.
 */
export const PARTS_PER_UNIT = WINDOW_MS * RATES_PER_UNIT;

/** Parts refilled per millisecond. */
export const partsPerMs = (restPerMinute: number) => Math.round(restPerMinute * RATES_PER_UNIT);

/** The usage of an account: a quota in a fixed window, and a burst allowance that refills steadily. */
export interface Bucket {
  readonly windowStartMs: number;
  readonly used: number;
  /** The remaining burst allowance, in parts of a unit. */
  readonly parts: number;
  /** The time of `parts`. */
  readonly partsAtMs: number;
}

/** The outcome of one request. */
export interface Verdict {
  readonly allowed: boolean;
  /** Units per window. */
  readonly limit: number;
  /** Units left in the window. */
  readonly remaining: number;
  /** Whole seconds until the window ends. */
  readonly resetS: number;
  /** Whole seconds after which the same request is allowed; 0 when it was allowed. */
  readonly retryAfterS: number;
  /** What rejected it: the window's quota, or only the burst allowance; absent when it was allowed. */
  readonly refusedBy?: "quota" | "burst";
  /** Which limit this is: the key's own, the one on pushed ticks, or a link's. Absent when it is the account's. */
  readonly of?: "key" | "ticks" | "link";
}

export type BucketLimits = Pick<PlanLimits, "restPerMinute" | "restBurst">;

const seconds = (ms: number) => Math.ceil(ms / 1000);

/**
 * Decides on a request of `cost` units: it must fit the window's quota (`restPerMinute` units in 60 s) and the burst
 * allowance (`restBurst` units, refilled at `restPerMinute` / 60 per second). A rejected request uses nothing.
 * A cost above a limit counts as that limit, so that no request is rejected forever. A clock that goes back changes neither.
 * @param cost whole units
 * @param nowMs whole milliseconds
 */
export function take(
  bucket: Bucket | undefined,
  { restPerMinute, restBurst }: BucketLimits,
  cost: number,
  nowMs: number,
): { bucket: Bucket; verdict: Verdict } {
  const running = bucket !== undefined && nowMs < bucket.windowStartMs + WINDOW_MS;
  const windowStartMs = running ? Math.min(bucket.windowStartMs, nowMs) : nowMs;
  const used = running ? bucket.used : 0;
  const refillPerMs = partsPerMs(restPerMinute);
  const full = restBurst * PARTS_PER_UNIT;
  const parts = bucket === undefined ? full : Math.min(full, bucket.parts + Math.max(0, nowMs - bucket.partsAtMs) * refillPerMs);

  const windowEndMs = windowStartMs + WINDOW_MS;
  const quotaWaitMs = used + Math.min(cost, restPerMinute) > restPerMinute ? windowEndMs - nowMs : 0;
  const burstWaitMs = Math.max(0, (Math.min(cost, restBurst) * PARTS_PER_UNIT - parts) / refillPerMs);
  const waitMs = Math.max(quotaWaitMs, burstWaitMs);
  const allowed = waitMs <= 0;
  const usedNow = allowed ? Math.min(restPerMinute, used + cost) : used;
  return {
    bucket: {
      windowStartMs,
      used: usedNow,
      parts: allowed ? Math.max(0, parts - cost * PARTS_PER_UNIT) : parts,
      partsAtMs: nowMs,
    },
    verdict: {
      allowed,
      limit: restPerMinute,
      remaining: Math.max(0, restPerMinute - usedNow),
      resetS: seconds(windowEndMs - nowMs),
      retryAfterS: allowed ? 0 : Math.max(1, seconds(waitMs)),
      ...(!allowed && { refusedBy: quotaWaitMs > 0 ? ("quota" as const) : ("burst" as const) }),
    },
  };
}

/**
 * Returns units that a request took at `takenMs` and did not use. A window that began later stays unchanged, because they were
 * not its units.
 */
export function giveBack(bucket: Bucket, limits: BucketLimits, cost: number, takenMs: number, nowMs: number): Bucket {
  const { bucket: current } = take(bucket, limits, 0, nowMs);
  if (current.windowStartMs > takenMs) return current;
  const { restPerMinute, restBurst } = limits;
  return {
    ...current,
    used: Math.max(0, current.used - Math.min(cost, restPerMinute)),
    parts: Math.min(restBurst * PARTS_PER_UNIT, current.parts + cost * PARTS_PER_UNIT),
  };
}
