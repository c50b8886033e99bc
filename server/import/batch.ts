import type pg from "pg";
import type { Database } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { lockBatch, lockTicker } from "#lib/market/history-lock";
import { storeImported, tryImported } from "#lib/market/imported-klines";
import { type BatchCounts, storeBatch, tryBatch } from "#lib/market/kline-batches";
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
   * is. Safe from a crash of the database after the next ordinary write.
   */
  put(klines: readonly Kline[], save: (client: pg.ClientBase) => Promise<void>): Promise<BatchCounts>;
  close(): Promise<void>;
}

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
  return {
    async claim(ticker) {
      if (number === null || claimed.has(ticker)) return;
      if (!(await lockTicker(client, ticker, "session")))
        throw new ImportFailure(`another command is changing the history of ${ticker}: try again when it has ended`);
      claimed.add(ticker);
    },
    async put(klines, save) {
      const isLonger = klines[0] !== undefined && klines[0].timeframe !== "M1";
      if (number === null) return isLonger ? tryImported(client, klines) : tryBatch(client, klines);
      if (klines.length > 0) {
        const times = klines.map(({ time }) => time);
        await store.ensurePartitions(
          times.reduce((a, b) => Math.min(a, b)),
          times.reduce((a, b) => Math.max(a, b)),
        );
      }
      const work = async (connection: pg.ClientBase) => {
        const counts = await (isLonger ? storeImported : storeBatch)(connection, number, klines);
        await save(connection);
        return counts;
      };
      return inTransaction(database.pool, work, STORED_LATER);
    },
    close: () => client.end(),
  };
}
