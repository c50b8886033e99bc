/** Time as an argument: the client measures durations and waits, it never asks for the date. */
export interface ClientClock {
  /** Milliseconds since some fixed moment; never steps back. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest wait of a timer; a longer one would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

/** The runtime's monotonic clock: a wait is not stretched when somebody sets the time of the machine. */
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
 * Milliseconds before try number `attempt` (0 for the first repetition): anywhere in [0, min(capMs, baseMs * 2^attempt)),
 * so that many clients that failed together do not come back together ("full jitter").
 */
export function fullJitter(random: () => number, attempt: number, baseMs: number, capMs: number): number {
  return random() * Math.min(capMs, baseMs * 2 ** attempt);
}
