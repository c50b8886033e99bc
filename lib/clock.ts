/** Time as an argument: code that needs the time or a timer takes a Clock. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
};

/** A clock that advances only when a test or simulation moves it. */
export interface ManualClock extends Clock {
  /** Advances, releasing every wait that falls due, in order; resolves when their continuations have run. */
  advance(ms: number): Promise<void>;
  /** Jumps to an instant without releasing the waits in between one by one. */
  set(ms: number): void;
}

/** Makes a clock that starts at `start` (Unix milliseconds). */
export function manualClock(start: number): ManualClock {
  let now = start;
  let waits: { at: number; release: () => void }[] = [];
  return {
    now: () => now,
    set: (ms) => {
      now = ms;
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve();
        const release = () => {
          waits = waits.filter((other) => other !== entry);
          signal?.removeEventListener("abort", release);
          resolve();
        };
        const entry = { at: now + ms, release };
        waits.push(entry);
        signal?.addEventListener("abort", release, { once: true });
      }),
    async advance(ms) {
      const end = now + ms;
      // Lets code that is about to wait register its wait first.
      await new Promise((resolve) => setImmediate(resolve));
      for (;;) {
        const due = waits.filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        now = Math.max(now, due.at);
        due.release();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
