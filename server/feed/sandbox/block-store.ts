import { LRUCache } from "lru-cache";
import type { KlineQuery } from "#lib/market/ports";
import type { BlockMaker } from "./block-maker";
import { type BlockName, daysPerBlock, type Grain, rowsPerBlock } from "./blocks";
import { addRows, type Columns, makeColumns, ROW_BYTES, type Sum } from "./columns";
import type { DayBlocks } from "./days-file";
import type { FormulaInputs } from "./formula";

/** Memory of the trading days: every ticker since 2020 takes 8 MB, so that no day is computed twice. */
const DAYS_MAX_BYTES = 12_582_912;
/** Memory of all shorter rows: six years of hours of a few tickers, or months of shorter rows. */
const SHORTER_MAX_BYTES = 16_777_216;
/** What a block without prices counts as. */
const EMPTY_BYTES = 256;
/** A block without prices. */
const EMPTY = makeColumns(0);

/** Rows of consecutive numbers. */
export interface Rows {
  /** Adds rows `from` … `to` (excluded) to the sum. */
  add(sum: Sum, from: number, to: number): void;
  /** The first row from `row` on that is not in a block without prices. */
  skipEmpty(row: number): number;
}

/** The rows of all tickers, computed where they are missing and kept within a bound of memory. */
export interface BlockStore {
  /**
   * The rows `from` … `to` (excluded) and those around them. Computes one missing block after another, so that many readers
   * take turns, and each block once, however many readers wait for it.
   * @throws what `admitDays` throws, called once for all that is missing; Fault service_unavailable when too many readers wait
   */
  open(inputs: FormulaInputs, grain: Grain, from: number, to: number, admitDays?: KlineQuery["admitDays"]): Promise<Rows>;
  /** The blocks of trading days that are kept, by name; not those without prices. */
  days(): DayBlocks;
}

type Kept = LRUCache<string, Columns>;

function createKept(maxSize: number): Kept {
  return new LRUCache({
    maxSize,
    sizeCalculation: (block) => Math.max(EMPTY_BYTES, block.count.length * ROW_BYTES),
  });
}

function rowsOf(columns: readonly Columns[], firstBlock: number, size: number): Rows {
  return {
    add(sum, from, to) {
      for (let row = from; row < to; ) {
        const block = Math.floor(row / size);
        const startRow = block * size;
        const untilRow = Math.min(to, startRow + size);
        const found = columns[block - firstBlock];
        if (found !== undefined && found !== EMPTY) addRows(sum, found, row - startRow, untilRow - startRow);
        row = untilRow;
      }
    },
    skipEmpty(row) {
      let block = Math.floor(row / size);
      if (columns[block - firstBlock] !== EMPTY) return row;
      while (columns[block - firstBlock] === EMPTY) block++;
      return block * size;
    },
  };
}

/** Keeps what `maker` computes. It need not compute `restored`, the blocks of trading days that an earlier process did. */
export function createBlockStore(maker: Pick<BlockMaker, "make">, restored: DayBlocks = new Map()): BlockStore {
  const days = createKept(DAYS_MAX_BYTES);
  const shorter = createKept(SHORTER_MAX_BYTES);
  const making = new Map<string, Promise<Columns>>();

  async function make(kept: Kept, key: string, inputs: FormulaInputs, name: BlockName): Promise<Columns> {
    try {
      const block = restored.get(key) ?? (await maker.make(inputs, name)) ?? EMPTY;
      kept.set(key, block);
      return block;
    } finally {
      making.delete(key);
    }
  }

  return {
    async open(inputs, grain, from, to, admitDays) {
      const size = rowsPerBlock(grain);
      const firstBlock = Math.floor(from / size);
      const kept = grain === "D1" ? days : shorter;
      const blocks = Array.from({ length: Math.ceil(to / size) - firstBlock }, (_, index) => {
        const block = firstBlock + index;
        const key = `${inputs.key} ${grain} ${block}`;
        return { block, key, found: kept.get(key) };
      });
      const missing = blocks.filter(({ key, found }) => found === undefined && !making.has(key) && !restored.has(key));
      if (missing.length > 0) admitDays?.(missing.length * daysPerBlock(grain));
      const columns: Columns[] = [];
      for (const { block, key, found } of blocks) {
        let value = found ?? kept.get(key);
        if (value === undefined) {
          const running = making.get(key) ?? make(kept, key, inputs, { grain, block });
          making.set(key, running);
          value = await running;
        }
        columns.push(value);
      }
      return rowsOf(columns, firstBlock, size);
    },
    days: () => new Map([...days.entries()].filter(([, block]) => block !== EMPTY)),
  };
}
