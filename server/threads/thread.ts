import { parentPort, type Transferable, Worker } from "node:worker_threads";
import type { Clock } from "#lib/clock";
import type { Fault } from "#lib/fault";

interface Order<Input> {
  readonly id: number;
  readonly input: Input;
}

/** The output of an order, or why it failed. */
type Delivery<Output> = { readonly id: number } & ({ readonly output: Output } | { readonly error: unknown });

interface Waiting<Output> {
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

interface ThreadOptions {
  /** For errors, as "the thread of the sandbox". */
  readonly name: string;
  /** The source of the thread, beside its caller and named in server/cli/bundle.ts. */
  readonly file: URL;
  /** Maximum number of waiting orders, including the one in progress. */
  readonly waitingMaxCount: number;
  /** The refusal of one more. */
  readonly busy: () => Fault;
  /** Ends the thread after so long without orders, to free its memory; by default it stays. */
  readonly idle?: { readonly clock: Clock; readonly ms: number };
}

/** A thread that computes outputs, one order after another. */
interface Thread<Input, Output> {
  /** @throws Fault `busy` when too many orders wait; the error of the computation */
  ask(input: Input): Promise<Output>;
  /** Ends the thread; orders that wait fail. */
  close(): Promise<void>;
}

/** Starts the thread from the bundle, or from sources, for which a thread needs a compiler of its own. */
function startWorker(file: URL): Worker {
  if (!file.pathname.endsWith(".ts")) return new Worker(file);
  const place = JSON.stringify(file.href);
  return new Worker(`import("tsx/esm/api").then(({ tsImport }) => tsImport(${place}, ${place}));`, { eval: true });
}

/**
 * Computes in a thread, so that requests are answered meanwhile. The thread starts with the first order, does not keep the
 * process alive, and is started again after a failure.
 */
export function createThread<Input, Output>(options: ThreadOptions): Thread<Input, Output> {
  const { name, file, waitingMaxCount, busy, idle } = options;
  const waiting = new Map<number, Waiting<Output>>();
  let worker: Worker | undefined;
  let resting: AbortController | undefined;
  let asked = 0;

  function end(error: unknown): void {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  async function stop(): Promise<void> {
    resting?.abort();
    const ended = worker;
    end(new Error(`${name} exited`));
    await ended?.terminate();
  }

  async function rest({ clock, ms }: NonNullable<ThreadOptions["idle"]>): Promise<void> {
    resting = new AbortController();
    const { signal } = resting;
    await clock.wait(ms, signal);
    if (!signal.aborted) await stop();
  }

  function start(): Worker {
    const started = startWorker(file);
    started.unref();
    started.on("message", (delivery: Delivery<Output>) => {
      const { resolve, reject } = waiting.get(delivery.id) ?? {};
      waiting.delete(delivery.id);
      if ("error" in delivery) reject?.(delivery.error);
      else resolve?.(delivery.output);
      if (waiting.size === 0 && idle !== undefined) void rest(idle);
    });
    started.on("error", (error) => worker === started && end(error));
    started.on("exit", (code) => worker === started && end(new Error(`${name} exited with ${code}`)));
    return started;
  }

  return {
    async ask(input) {
      if (waiting.size >= waitingMaxCount) throw busy();
      resting?.abort();
      worker ??= start();
      const order: Order<Input> = { id: asked++, input };
      const answer = new Promise<Output>((resolve, reject) => waiting.set(order.id, { resolve, reject }));
      worker.postMessage(order);
      return answer;
    },
    close: stop,
  };
}

/** Computes the orders of this thread; the parts of an output that `transferred` names move to the caller without a copy. */
export function answerOrders<Input, Output>(
  compute: (input: Input) => Output | Promise<Output>,
  transferred: (output: Output) => readonly Transferable[] = () => [],
): void {
  async function deliver({ id, input }: Order<Input>): Promise<[Delivery<Output>, readonly Transferable[]]> {
    try {
      const output = await compute(input);
      return [{ id, output }, transferred(output)];
    } catch (error) {
      return [{ id, error }, []];
    }
  }
  parentPort?.on("message", async (order: Order<Input>) => {
    const [delivery, moved] = await deliver(order);
    parentPort?.postMessage(delivery, moved);
  });
}
