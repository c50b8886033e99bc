import type { PlanLimits } from "#lib/contract/limits";

/** Length of the quota's window; it starts with the first request after the last one ended. */
export const WINDOW_MS = 60_000;

/** What an account has used: a quota in a fixed window, and a burst allowance that refills steadily. */
export interface Bucket {
  readonly windowStartMs: number;
  readonly used: number;
  readonly tokens: number;
  /** When `tokens` was true. */
  readonly tokensAtMs: number;
}

/** The outcome of one request. */
export interface Verdict {
  readonly allowed: boolean;
  /** Units a window. */
  readonly limit: number;
  /** Units left in the window. */
  readonly remaining: number;
  /** Whole seconds until the window ends. */
  readonly resetS: number;
  /** Whole seconds after which the same request would pass; 0 when it passed. */
  readonly retryAfterS: number;
  /** What refused it: the window's quota, or the burst allowance alone; absent when it passed. */
  readonly refusedBy?: "quota" | "burst";
}

export type BucketLimits = Pick<PlanLimits, "restPerMinute" | "restBurst">;

const seconds = (ms: number) => Math.ceil(ms / 1000);

/**
 * Judges a request of `cost` units: it must fit the window's quota (`restPerMinute` units in 60 s) and the burst
 * allowance (`restBurst` units, refilled at `restPerMinute` / 60 a second). A refused request uses nothing up.
 * A cost above a limit is taken as that limit, so that no request is refused for ever. A clock that goes back gives
 * nothing back and takes nothing away.
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
  const refillPerMs = restPerMinute / WINDOW_MS;
  const tokens =
    bucket === undefined ? restBurst : Math.min(restBurst, bucket.tokens + Math.max(0, nowMs - bucket.tokensAtMs) * refillPerMs);

  const windowEndMs = windowStartMs + WINDOW_MS;
  const quotaWaitMs = used + Math.min(cost, restPerMinute) > restPerMinute ? windowEndMs - nowMs : 0;
  const burstWaitMs = Math.max(0, (Math.min(cost, restBurst) - tokens) / refillPerMs);
  const waitMs = Math.max(quotaWaitMs, burstWaitMs);
  const allowed = waitMs <= 0;
  const usedNow = allowed ? Math.min(restPerMinute, used + cost) : used;
  return {
    bucket: { windowStartMs, used: usedNow, tokens: allowed ? Math.max(0, tokens - cost) : tokens, tokensAtMs: nowMs },
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
