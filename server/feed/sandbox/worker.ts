import { answerOrders } from "#server/threads/thread";
import { createBlockComputer } from "./block-maker";
import type { BlockName } from "./blocks";
import { bytesOf } from "./columns";
import type { FormulaInputs } from "./formula";

/** The thread that computes blocks: one order, one block. Bundled as a file of its own (server/cli/bundle.ts). */

/** A block to compute. */
export interface BlockOrder {
  readonly inputs: FormulaInputs;
  readonly name: BlockName;
}

const compute = createBlockComputer();

/** The memory of the block's columns; undefined when it has no price. */
function bytesOfBlock({ inputs, name }: BlockOrder): ArrayBuffer | undefined {
  const columns = compute(inputs, name);
  return columns && bytesOf(columns);
}

answerOrders(bytesOfBlock, (bytes) => (bytes === undefined ? [] : [bytes]));
