import { Fault } from "#lib/fault";
import { createThread } from "#lib/thread";
import type { BlockMaker } from "./block-maker";
import { columnsOf } from "./columns";
import type { BlockOrder } from "./worker";

/** Blocks that may wait for the thread; each takes it a few milliseconds, and a reader waits for one at a time. */
const WAITING_MAX_COUNT = 64;
const RETRY_AFTER_S = 1;

/** Computes blocks in a thread of its own, one after another, so that requests are answered meanwhile. */
export function startBlockThread(waitingMaxCount = WAITING_MAX_COUNT): BlockMaker {
  const thread = createThread<BlockOrder, ArrayBuffer | undefined>({
    name: "the thread of the sandbox",
    file: new URL("./worker.ts", import.meta.url),
    waitingMaxCount,
    busy: () =>
      new Fault("service_unavailable", {
        detail: "The sandbox is computing history for many requests.",
        retry_after: RETRY_AFTER_S,
      }),
  });
  return {
    async make(inputs, name) {
      const bytes = await thread.ask({ inputs, name });
      return bytes && columnsOf(new Float64Array(bytes));
    },
    close: thread.close,
  };
}
