import { type ManualClock, manualClock } from "#lib/clock";

/** A clock that stands still, and tells what is waited for. */
export interface WatchedClock extends ManualClock {
  /** Resolves once somebody waits for so many milliseconds. */
  waitingFor(ms: number): Promise<void>;
  /** The lengths of the waits that are not over. */
  readonly waits: readonly number[];
}

/** Makes a clock that stands at 0. */
export function watchedClock(): WatchedClock {
  const clock = manualClock(0);
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
