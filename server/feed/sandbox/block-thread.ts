import { Worker } from "node:worker_threads";
import { Fault } from "#lib/fault";
import type { BlockMaker } from "./block-maker";
import { columnsOf } from "./columns";
import type { Delivery, Order } from "./worker";

/** Blocks that may wait for the thread; each takes it a few milliseconds, and a reader waits for one at a time. */
const WAITING_MAX_COUNT = 64;
const RETRY_AFTER_S = 1;

interface Waiting {
  readonly resolve: (bytes: ArrayBuffer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Starts the thread from the bundle, or from sources, for which a thread needs a compiler of its own. */
function startWorker(): Worker {
  const file = new URL("./worker.ts", import.meta.url);
  if (!file.pathname.endsWith(".ts")) return new Worker(file);
  const place = JSON.stringify(file.href);
  return new Worker(`import("tsx/esm/api").then(({ tsImport }) => tsImport(${place}, ${place}));`, { eval: true });
}

/**
 * Computes blocks in a thread of its own, one after another, so that requests are answered meanwhile. The thread starts with
 * the first block, does not keep the process alive, and is started again after a failure.
 */
export function startBlockThread(waitingMaxCount = WAITING_MAX_COUNT): BlockMaker {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let made = 0;

  function end(error: unknown): void {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  function start(): Worker {
    const started = startWorker();
    started.unref();
    started.on("message", ({ id, bytes, error }: Delivery) => {
      const { resolve, reject } = waiting.get(id) ?? {};
      waiting.delete(id);
      if (error === undefined) resolve?.(bytes);
      else reject?.(error);
    });
    started.on("error", end);
    started.on("exit", (code) => worker === started && end(new Error(`the thread of the sandbox exited with ${code}`)));
    return started;
  }

  return {
    async make(inputs, name) {
      if (waiting.size >= waitingMaxCount)
        throw new Fault("service_unavailable", {
          detail: "The sandbox is computing history for many requests.",
          retry_after: RETRY_AFTER_S,
        });
      worker ??= start();
      const order: Order = { id: made++, inputs, name };
      const answer = new Promise<ArrayBuffer | undefined>((resolve, reject) => waiting.set(order.id, { resolve, reject }));
      worker.postMessage(order);
      const bytes = await answer;
      return bytes && columnsOf(new Float64Array(bytes));
    },
    async close() {
      await worker?.terminate();
    },
  };
}
