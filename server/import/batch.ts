import type pg from "pg";
import type { Database } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { lockBatch, lockTicker } from "#lib/market/history-lock";
import { storeImported, tryImported } from "#lib/market/imported-klines";
import { type BatchCounts, storeBatch, tryBatch } from "#lib/market/kline-batches";
import { type RowRange, rangesOf } from "#lib/market/kline-rows";
import type { KlineTable } from "#lib/market/kline-store";
import { inTransaction, STORED_LATER } from "#lib/market/partitions";
import { ImportFailure } from "./failure";

/** Where an import puts its klines: the store, or nowhere in a trial. */
export interface Batch {
  /**
   * Keeps other imports and undos away from the history of a ticker until the batch is closed.
   * @throws ImportFailure while another command changes it
   */
  claim(ticker: string): Promise<void>;
  /**
   * Takes klines of one series whose ticker was claimed, and counts them. They are stored with what `save` writes, or neither
   * is. Safe from a crash of the database after the next ordinary write. A second call may begin before the first has ended: its
   * minutes are copied meanwhile if they are later ones, and they are stored after those of the first.
   */
  put(klines: readonly Kline[], save: Save): Promise<BatchCounts>;
  close(): Promise<void>;
}

type Save = (client: pg.ClientBase) => Promise<void>;

interface BatchOptions {
  readonly database: Pick<Database, "pool" | "client">;
  readonly store: Pick<KlineTable, "ensurePartitions">;
  /** The number of the batch; null for a trial. */
  readonly number: number | null;
}

/** Begins a batch. Its connection holds the locks, so they end with the process. */
export async function openBatch({ database, store, number }: BatchOptions): Promise<Batch> {
  const client = database.client();
  // A connection that breaks is reported by the next query, too.
  client.on("error", () => undefined);
  await client.connect();
  if (number !== null) await lockBatch(client, number, "session");
  const claimed = new Set<string>();
  /** The previous part, and its minutes if it has any. */
  let previous: { readonly ended: Promise<unknown>; readonly minutes: RowRange | undefined } | undefined;

  /** Stores a part. `turn` is the end of the part before it, which it may not overtake; `meets`: both may have the same minutes. */
  async function add(
    klines: readonly Kline[],
    save: Save,
    turn: Promise<unknown> | undefined,
    meets: boolean,
  ): Promise<BatchCounts> {
    const [range] = rangesOf(klines);
    const isLonger = range !== undefined && range.timeframe !== "M1";
    if (meets || number === null) await turn;
    if (number === null) return isLonger ? tryImported(client, klines) : tryBatch(client, klines);
    if (range !== undefined) await store.ensurePartitions(range.first, range.last);
    const work = async (connection: pg.ClientBase) => {
      const counts = isLonger
        ? await storeImported(connection, number, klines)
        : await storeBatch(connection, number, klines, turn);
      await turn;
      await save(connection);
      return counts;
    };
    return inTransaction(database.pool, work, STORED_LATER);
  }

  return {
    async claim(ticker) {
      if (number === null || claimed.has(ticker)) return;
      if (!(await lockTicker(client, ticker, "session")))
        throw new ImportFailure(`another command is changing the history of ${ticker}: try again when it has ended`);
      claimed.add(ticker);
    },
    put(klines, save) {
      const [range] = rangesOf(klines);
      const minutes = range?.timeframe === "M1" ? range : undefined;
      const before = previous?.minutes;
      const isLater = minutes !== undefined && before?.ticker === minutes.ticker && minutes.first > before.last;
      const ended = add(klines, save, previous?.ended, !isLater);
      previous = { ended, minutes };
      // A part that failed ends its file; the next file does not wait for it.
      ended.catch(() => {
        previous = undefined;
      });
      return ended;
    },
    close: () => client.end(),
  };
}
