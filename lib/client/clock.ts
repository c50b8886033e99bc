/** The clock of a client: it measures durations and waits, and never reads the date. */
export interface ClientClock {
  /** Milliseconds since a fixed moment; never goes back. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay of a timer; longer ones fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

/** The runtime's monotonic clock, so that setting the time of the machine does not change a wait. */
export const monotonicClock: ClientClock = {
  now: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, TIMER_MAX_MS));
      signal?.addEventListener("abort", done, { once: true });
    }),
};

/**
 * Milliseconds before retry number `attempt`, counted from 0: a random value in [0, min(capMs, baseMs * 2^attempt)), so that
 * clients that failed together do not retry together ("full jitter").
 */
export function fullJitter(random: () => number, attempt: number, baseMs: number, capMs: number): number {
  return random() * Math.min(capMs, baseMs * 2 ** attempt);
}
