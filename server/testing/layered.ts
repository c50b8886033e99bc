import type { Timeframe } from "#lib/contract/primitives";
import { columnsOf } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Kline } from "#lib/domain/kline";
import type { Database } from "#server/store/database/db";
import { say } from "#server/store/history/layers";
import { inTransaction } from "#server/store/history/transaction";
import { createKlineStore } from "#server/store/klines/kline-store";
import { saidBy } from "#server/store/segments/segments";

type Stored = Pick<Database, "pool" | "segments">;

interface LayerRows {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  /** 0 for what a feed made, else the number of an import. */
  readonly layer: number;
  /** In any order; the last of a time counts. */
  readonly klines: readonly Kline[];
  /** When it said so, Unix milliseconds. */
  readonly knownMs: number;
}

/** Stores klines of one series as what a layer said. */
export async function storeLayer({ pool, segments }: Stored, rows: LayerRows): Promise<void> {
  const { ticker, timeframe, layer, klines, knownMs } = rows;
  const distinct = [...new Map(klines.map((kline) => [kline.time, kline])).values()].sort((a, b) => a.time - b.time);
  const statements = saidBy(columnsOf(distinct), layer, knownMs);
  await inTransaction(pool, (client) => say(client, segments, { ticker, timeframe }, statements));
}

/** Stores M1 klines as the recorder does; those of longer timeframes are computed. */
export async function storeTail(db: Stored, klines: readonly Kline[]): Promise<void> {
  await createKlineStore(db).writeBatch(klines, []);
}

/** Stores klines of any series as the feed's, sealed. */
export async function storeFeed(db: Stored, klines: readonly Kline[]): Promise<void> {
  const series = new Map<string, Kline[]>();
  for (const kline of klines) {
    const key = `${kline.timeframe} ${kline.ticker}`;
    const rows = series.get(key);
    if (rows === undefined) series.set(key, [kline]);
    else rows.push(kline);
  }
  for (const rows of series.values()) {
    const { ticker, timeframe } = rows[0] as Kline;
    await storeLayer(db, { ticker, timeframe, layer: FEED_LAYER, klines: rows, knownMs: 0 });
  }
}
