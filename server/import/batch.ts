import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { Database } from "#lib/db";
import type { KlineColumns } from "#lib/domain/columns";
import { sidesFromTicks } from "#lib/domain/price-sides";
import type { TickColumns } from "#lib/domain/tick-columns";
import { sortTicks } from "#lib/domain/tick-columns";
import { convertTicker } from "#lib/history/convert";
import { digitsOf } from "#lib/history/layers";
import { lockBatch, lockForChange } from "#lib/history/lock";
import { storeTicks } from "#lib/history/tick-days";
import { inTransaction, STORED_LATER } from "#lib/history/transaction";
import { type BatchCounts, createTrial, type Part, storeColumns } from "#lib/market/kline-batches";
import { ImportFailure } from "./failure";

/** Klines of a file with the ticks that made them; no ticks of a file of klines. */
interface FilePart extends Part {
  readonly ticks: TickColumns;
}

/** Where an import puts its klines and ticks: the store, or nowhere in a trial. */
export interface Batch {
  /**
   * Keeps other imports and undos away from the history of a ticker until the batch is closed.
   * @throws ImportFailure while another command changes it
   */
  claim(ticker: string): Promise<void>;
  /**
   * Takes klines of one series whose ticker was claimed, and counts them. They are stored with their ticks and what `save` writes, or
   * nothing is. Safe from a crash of the database after the next ordinary write. A second call may begin before the first has ended; it
   * waits for it.
   */
  put(part: FilePart, save: Save): Promise<BatchCounts>;
  close(): Promise<void>;
}

type Save = (client: pg.ClientBase) => Promise<void>;

interface BatchOptions {
  readonly database: Pick<Database, "pool" | "segments" | "client">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The number of the batch; null for a trial. */
  readonly number: number | null;
}

/** The klines of a part, with the ask and mid prices of the ticks that made them. */
async function withPrices(client: pg.ClientBase, { series, klines, ticks }: FilePart): Promise<KlineColumns> {
  if (ticks.time.length === 0) return klines;
  return { ...klines, ...sidesFromTicks(sortTicks(ticks), klines, await digitsOf(client, series.ticker)) };
}

/** Begins a batch. Its connection holds the locks, so they end with the process. */
export async function openBatch({ database, clock, signal, number }: BatchOptions): Promise<Batch> {
  const { pool, segments } = database;
  const client = database.client();
  // A connection that breaks is reported by the next query, too.
  client.on("error", () => undefined);
  await client.connect();
  if (number !== null) await lockBatch(client, number, "session");
  const claimed = new Set<string>();
  const trial = createTrial(segments);
  let previous: Promise<unknown> = Promise.resolve();

  async function add(part: FilePart, save: Save): Promise<BatchCounts> {
    if (number === null) return trial(client, part);
    const work = async (connection: pg.ClientBase) => {
      const { series, ticks } = part;
      const klines = await withPrices(connection, part);
      const counts = await storeColumns(connection, segments, number, { series, klines }, clock.now());
      await storeTicks(connection, segments, { ticker: series.ticker, layer: number }, ticks);
      await save(connection);
      return counts;
    };
    return inTransaction(pool, work, STORED_LATER);
  }

  return {
    async claim(ticker) {
      if (number === null || claimed.has(ticker)) return;
      // Without a running service nobody else would.
      await convertTicker(database, ticker, { signal, onProgress: () => undefined });
      const busy = await lockForChange(client, ticker, "session");
      if (busy !== null) throw new ImportFailure(busy);
      claimed.add(ticker);
    },
    put(part, save) {
      const stored = previous.then(() => add(part, save));
      previous = stored;
      // A part that failed takes those behind it along, and ends its file; the next file does not wait for it.
      stored.catch(() => {
        if (previous === stored) previous = Promise.resolve();
      });
      return stored;
    },
    close: () => client.end(),
  };
}
