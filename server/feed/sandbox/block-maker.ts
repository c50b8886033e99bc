import { LRUCache } from "lru-cache";
import { createAlignment } from "#lib/domain/timeframe";
import { type BlockName, makeBlock } from "./blocks";
import type { Columns } from "./columns";
import { createFormula, type Formula, type FormulaInputs } from "./formula";
import { createPaths, type Paths } from "./path";

/** Formulas kept ready, with their compiled calendars; more than there are tickers. */
const FORMULAS_KEPT_COUNT = 256;

/** Computes blocks somewhere: in a thread of its own, or where the caller is. */
export interface BlockMaker {
  /**
   * The block; undefined when it has no price.
   * @throws Fault service_unavailable when too many blocks wait already
   */
  make(inputs: FormulaInputs, name: BlockName): Promise<Columns | undefined>;
  /** Ends its thread; blocks that wait are not made. */
  close(): Promise<void>;
}

/** Computes blocks at once, on the thread of the caller. */
export function createBlockComputer(): (inputs: FormulaInputs, name: BlockName) => Columns | undefined {
  const alignment = createAlignment();
  const formulas = new LRUCache<string, Formula>({ max: FORMULAS_KEPT_COUNT });
  const paths = new Map<number, Paths>();

  function pathsOf(seed: number): Paths {
    const kept = paths.get(seed) ?? createPaths(seed);
    paths.set(seed, kept);
    return kept;
  }

  return (inputs, name) => {
    const formula = formulas.get(inputs.key) ?? createFormula(inputs, pathsOf(inputs.seed));
    formulas.set(inputs.key, formula);
    return makeBlock(formula, name, alignment);
  };
}

/** A maker without a thread, for tools and tests. */
export function makeBlocksHere(): BlockMaker {
  const compute = createBlockComputer();
  return { make: async (inputs, name) => compute(inputs, name), close: async () => undefined };
}
