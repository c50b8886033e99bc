import type { Fault } from "./fault";

/** Runs work when its turn has come. */
type Queue = <Value>(work: () => Promise<Value>) => Promise<Value>;

interface QueueOptions {
  /** How much may run at once. */
  readonly runningMaxCount: number;
  /** How much may wait beside it. */
  readonly waitingMaxCount: number;
  /** What is thrown when too much waits. */
  readonly refusal: () => Fault;
}

/** Makes a queue for expensive work: it runs a few at a time, in the order of the calls. */
export function createQueue({ runningMaxCount, waitingMaxCount, refusal }: QueueOptions): Queue {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= runningMaxCount) {
      if (waiting.length >= waitingMaxCount) throw refusal();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      // Passes the turn directly to the next waiter, so that no new call can take it.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
