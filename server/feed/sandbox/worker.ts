import { parentPort } from "node:worker_threads";
import { createBlockComputer } from "./block-maker";
import type { BlockName } from "./blocks";
import { bytesOf } from "./columns";
import type { FormulaInputs } from "./formula";

/** The thread that computes blocks: one message, one block. Bundled as a file of its own (server/cli/bundle.ts). */

/** A block to compute. */
export interface Order {
  readonly id: number;
  readonly inputs: FormulaInputs;
  readonly name: BlockName;
}

/** What came of an order: the memory of its columns, absent when the block has no price; or why it failed. */
export interface Delivery {
  readonly id: number;
  readonly bytes?: ArrayBuffer;
  readonly error?: unknown;
}

const compute = createBlockComputer();

function deliver({ id, inputs, name }: Order): Delivery {
  try {
    const columns = compute(inputs, name);
    return columns === undefined ? { id } : { id, bytes: bytesOf(columns) };
  } catch (error) {
    return { id, error };
  }
}

parentPort?.on("message", (order: Order) => {
  const delivery = deliver(order);
  parentPort?.postMessage(delivery, delivery.bytes === undefined ? [] : [delivery.bytes]);
});
