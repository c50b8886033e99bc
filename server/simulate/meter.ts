/** CPU time by name of what it went into, microseconds of all threads of the process. */
export interface Meter {
  /** Runs `work` and counts its time under a name. */
  measure<Result>(name: string, work: () => Result): Result;
  /** Microseconds that went into it so far. */
  spentUs(name: string): number;
}

/** Looking at the clock takes time of its own; so many empty looks tell how much. */
const EMPTY_LOOKS_COUNT = 5_000;

/** Makes a meter. Time in which others have the processor does not count, nor does the look at the clock itself. */
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

/** Bytes of what is alive, when the collector can be asked to run (`--expose-gc`); else with what it has not collected yet. */
export function liveBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
