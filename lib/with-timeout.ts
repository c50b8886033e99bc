import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "./clock";

/**
 * Waits for work no longer than `ms`, or until the signal aborts; the work itself continues and its outcome is ignored.
 * @throws what the work throws; Error when it takes longer; the signal's reason when that is first
 */
export async function withTimeout<Value>(work: Promise<Value>, ms: number, clock: Clock, signal?: AbortSignal): Promise<Value> {
  const over = new AbortController();
  // Not AbortSignal.any: this runs four times a second, and a long-lived signal would keep a reference to each.
  const stop = () => over.abort();
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  let answered: { readonly value: Value } | undefined;
  const answer = work.then((value) => {
    answered = { value };
  });
  try {
    await Promise.race([answer, clock.wait(ms, over.signal)]);
    // After a stall of this process the answer may have arrived already without being read.
    if (answered === undefined) await Promise.race([answer, nextTurn()]);
    if (answered !== undefined) return (answered as { readonly value: Value }).value;
    signal?.throwIfAborted();
    throw new Error(`no answer within ${ms} ms`);
  } finally {
    stop();
    signal?.removeEventListener("abort", stop);
    answer.catch(() => undefined);
  }
}
