/** CPU time by name of the work, microseconds of all threads of the process. */
export interface Meter {
  /** Runs `work` and counts its time under a name. */
  measure<Result>(name: string, work: () => Result): Result;
  /** Microseconds spent on it so far. */
  spentUs(name: string): number;
}

/** Number of empty measurements that determine the cost of reading the clock itself. */
const EMPTY_LOOKS_COUNT = 5_000;

/** Makes a meter. It counts neither the time of other processes nor the cost of reading the clock. */
export function createMeter(): Meter {
  const spent = new Map<string, { us: number; looks: number }>();

  function measure<Result>(name: string, work: () => Result): Result {
    const before = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(before);
    const entry = spent.get(name) ?? { us: 0, looks: 0 };
    entry.us += user + system;
    entry.looks += 1;
    spent.set(name, entry);
    return result;
  }
  for (let look = 0; look < EMPTY_LOOKS_COUNT; look += 1) measure("", () => undefined);
  const emptyUs = (spent.get("")?.us ?? 0) / EMPTY_LOOKS_COUNT;

  return {
    measure,
    spentUs(name) {
      const { us, looks } = spent.get(name) ?? { us: 0, looks: 0 };
      return Math.max(0, us - looks * emptyUs);
    },
  };
}

/** Bytes of live objects after a garbage collection (needs `--expose-gc`); without it, uncollected garbage counts too. */
export function liveBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
