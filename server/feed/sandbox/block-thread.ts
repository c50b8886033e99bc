import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import { MINUTE_MS } from "#lib/units";
import { createThread } from "#server/threads/thread";
import type { BlockMaker } from "./block-maker";
import { columnsOf } from "./columns";
import type { BlockOrder } from "./worker";

/** Blocks that may wait for the thread; each takes it a few milliseconds, and a reader waits for one at a time. */
const WAITING_MAX_COUNT = 64;
const RETRY_AFTER_S = 1;
const IDLE_MS = MINUTE_MS;

/**
 * Computes blocks one at a time in a separate thread, so that requests are still answered. The thread starts with the first block and
 * ends after a minute without one, because its heap is as large as everything else a sandbox keeps.
 */
export function startBlockThread(clock: Clock, waitingMaxCount = WAITING_MAX_COUNT): BlockMaker {
  const thread = createThread<BlockOrder, ArrayBuffer | undefined>({
    name: "the thread of the sandbox",
    file: new URL("./worker.ts", import.meta.url),
    waitingMaxCount,
    busy: () =>
      new Fault("service_unavailable", {
        detail: "The sandbox is computing history for many requests.",
        retry_after: RETRY_AFTER_S,
      }),
    idle: { clock, ms: IDLE_MS },
  });
  return {
    async make(inputs, name) {
      const bytes = await thread.ask({ inputs, name });
      return bytes && columnsOf(new Float64Array(bytes));
    },
    close: thread.close,
  };
}
