import { type ManualClock, manualClock } from "#lib/clock";

/** A stopped clock that reports what waits for it. */
export interface WatchedClock extends ManualClock {
  /** Resolves once something waits for this many milliseconds. */
  waitingFor(ms: number): Promise<void>;
  /** The lengths of the current waits. */
  readonly waits: readonly number[];
}

/** Creates a stopped clock. */
export function watchedClock(start = 0): WatchedClock {
  const clock = manualClock(start);
  const waits: number[] = [];
  let watchers: { ms: number; resolve: () => void }[] = [];
  return {
    ...clock,
    waits,
    async wait(ms, signal) {
      waits.push(ms);
      const due = watchers.filter((watcher) => watcher.ms === ms);
      watchers = watchers.filter((watcher) => watcher.ms !== ms);
      for (const { resolve } of due) resolve();
      await clock.wait(ms, signal);
      waits.splice(waits.indexOf(ms), 1);
    },
    waitingFor: (ms) => new Promise((resolve) => (waits.includes(ms) ? resolve() : watchers.push({ ms, resolve }))),
  };
}
