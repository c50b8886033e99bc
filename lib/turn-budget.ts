import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Makes the function to await before a piece of long work: it resolves at once while such work in this turn of the event loop began
 * less than `maxMs` ago, and otherwise, in order, in one of the next. Callers that each have a piece ready would together hold up
 * all other calls, messages and answers of the database.
 * @param stopwatch milliseconds of a clock that only measures
 */
export function createTurnBudget(maxMs: number, stopwatch = () => performance.now()): () => Promise<void> {
  let begunMs: number | undefined;
  let last = Promise.resolve();
  const end = () => {
    begunMs = undefined;
  };
  async function enter(): Promise<void> {
    while (begunMs !== undefined && stopwatch() - begunMs >= maxMs) await nextTurn();
    if (begunMs !== undefined) return;
    begunMs = stopwatch();
    setImmediate(end);
  }
  return () => {
    // The one before has begun its work when the next one looks at the time.
    last = last.then(enter);
    return last;
  };
}
