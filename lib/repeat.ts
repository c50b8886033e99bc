import type { Clock } from "./clock";

/** Bounds of the wait after a failure: it doubles with each further failure. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * The wait before the next try, in milliseconds: doubled after each failure, at most `longestMs`, then shortened by up to half
 * at random, so that nodes that lost a peer at the same moment do not all come back together.
 * @param failures failures in a row before the last one, 0 after the first
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** failures, longestMs) * (1 - Math.random() / 2);
}

interface RepeatOptions {
  readonly clock: Clock;
  /** Ends the wait and the loop. A running step finishes first. */
  readonly signal: AbortSignal;
  /** Pause after each step: milliseconds, or a backoff, which starts over when a step succeeds. */
  readonly pause: number | (() => number) | Backoff;
  /** Runs the first step without a pause before it. */
  readonly atOnce?: boolean;
  /** Ends the loop as well; checked before each step. */
  readonly until?: () => boolean;
  /** The pause after a failure, milliseconds, where it depends on the error; `usualMs` is the one of `pause`. */
  readonly pauseAfter?: (error: unknown, failures: number, usualMs: number) => number;
  /** Called with what a step throws; the loop then continues. `failures` counts failures in a row, from 1. */
  readonly onError?: (error: unknown, failures: number, nextMs: number) => void;
}

/** A step that repeats in the background. */
export interface Repeating {
  /** Resolves when a running step is done. */
  stop(): Promise<void>;
}

/** Repeats a step in the background until stopped. @param step gets the signal that aborts when it is to stop */
export function startRepeating(options: Omit<RepeatOptions, "signal">, step: (signal: AbortSignal) => unknown): Repeating {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = repeat({ ...options, signal }, () => step(signal));
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Runs a step repeatedly, one at a time, with a pause between two, until the signal aborts or `until` returns true.
 * @param step a long one calls `healthy` once it works, so that a later failure counts as the first
 * @throws what a step throws, unless there is an `onError`
 */
export async function repeat(options: RepeatOptions, step: (healthy: () => void) => unknown): Promise<void> {
  const { clock, signal, pause, pauseAfter, atOnce = false, until, onError } = options;
  let failures = 0;
  const healthy = () => {
    failures = 0;
  };

  function pauseMs(): number {
    if (typeof pause === "number") return pause;
    return typeof pause === "function" ? pause() : backoffMs(pause, Math.max(0, failures - 1));
  }

  /** Runs the step and returns the pause after it. */
  async function attempt(): Promise<number> {
    try {
      await step(healthy);
      healthy();
      return pauseMs();
    } catch (error) {
      if (onError === undefined) throw error;
      failures += 1;
      const nextMs = pauseAfter?.(error, failures, pauseMs()) ?? pauseMs();
      if (!signal.aborted) onError(error, failures, nextMs);
      return nextMs;
    }
  }

  const over = () => signal.aborted || until?.() === true;
  if (!atOnce) await clock.wait(pauseMs(), signal);
  while (!over()) {
    const nextMs = await attempt();
    if (!over()) await clock.wait(nextMs, signal);
  }
}
