import type { Timeframe } from "#lib/contract/primitives";
import { klineAt, rowFrom } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";
import type { KlineQuery, KlineStore, LastQuote, StoredKlines } from "#lib/market/ports";
import { promptQuery } from "#server/store/database/connection";
import type { Database } from "#server/store/database/db";
import { struckKlines } from "#server/store/history/minutes";
import { createReader } from "#server/store/history/reader";
import { minutesSince, storedRuns } from "#server/store/history/runs";
import type { TickChunk } from "#server/store/history/tick-tail";
import { readTicks } from "#server/store/history/ticks";
import type { Queries } from "#server/store/segments/segment-store";
import { beginWriter, type VenueWriter, writeRows } from "./kline-writer";
import { createPastRead } from "./past-klines";

const VENUE = "live";

/** Of a table whose ranges that lack ticks nobody follows. */
export const NONE_LACKS: StoredKlines["lacking"] = { revision: () => 0, minutes: async () => [] };

/** The prices of a stored kline. */
export type StoredPrices = Pick<Kline, "open" | "low" | "high" | "close">;

/** Stored klines and last quotes of the live venue: layers of segments, and the minutes that are in none yet. */
export interface KlineTable extends KlineStore {
  /** M1 klines and last quotes in one transaction; the last write of a key wins, a last quote only over older ones. May be repeated. */
  writeBatch(minutes: readonly Kline[], lastQuotes: readonly LastQuote[], ticks?: readonly TickChunk[]): Promise<void>;
  /**
   * Begins to write what a process makes of ticks.
   * @param token of the venue's lease; null where one process runs the venue
   * @param above a number that an earlier writer had, as far as the caller knows
   * @returns null when another process holds the lease
   */
  beginWriter(token: number | null, above: number): Promise<VenueWriter | null>;
  readonly stored: StoredKlines;
  /** The stored klines of a series with these open times, Unix seconds. */
  klinesAt(ticker: string, timeframe: Timeframe, times: readonly number[]): Promise<Map<number, StoredPrices>>;
}

/** Reads stored klines of the live venue on any connection, as they show and as they showed at an instant. @param pending as createReader */
export function createStoredReads({ pool, segments }: Pick<Database, "pool" | "segments">, pending: number | null = null) {
  const reader = createReader(segments, pool, pending);
  return {
    reader,
    async read(client: Queries, query: KlineQuery): Promise<Kline[]> {
      const { ticker, timeframe } = query;
      const { columns } = await reader.read(client, query);
      return Array.from(columns.time, (_, row) => klineAt(columns, row, ticker, timeframe));
    },
    readAt: createPastRead(reader),
  };
}

/**
 * The klines of the live venue. The recorder writes minutes; everything longer is computed from them.
 * Every call throws pg's own error when the database is unavailable or rejects the query, and SegmentMissing or SegmentDamaged when
 * a segment cannot be read.
 * @param pending an import whose klines are read as if it was shown already; null for none
 */
export function createKlineStore(db: Pick<Database, "pool" | "segments">, pending: number | null = null): KlineTable {
  const { pool, segments } = db;
  const stored = createStoredReads(db, pending);
  /** Fails early if the database does not answer. */
  const prompt = {
    query: (text: string, values: unknown[]) => pool.query(promptQuery({ text, values })),
  } as unknown as Database["pool"];

  const read = (query: KlineQuery) => stored.read(query.prompt ? prompt : pool, query);

  async function lastQuotes(atMs: number): Promise<Map<string, LastQuote>> {
    const { rows } = await pool.query<LastQuote>(
      `SELECT ticker, time_msc::float8 AS time_msc, bid, ask, ask_high, ask_low FROM last_quote
        WHERE venue = $1 AND time_msc <= $2`,
      [VENUE, Math.floor(atMs)],
    );
    return new Map(rows.map((quote) => [quote.ticker, quote]));
  }

  const all = { limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
  return {
    read,
    async readAt(query, atS) {
      const columns = await stored.readAt(query.prompt ? prompt : pool, query, atS);
      return Array.from(columns.time, (_, row) => klineAt(columns, row, query.ticker, query.timeframe));
    },
    readTicks: (query) => readTicks({ client: pool, segments }, query),
    lastQuotes,
    stored: {
      minutesSince: (tickers, from) => minutesSince(pool, segments, tickers, from),
      runs: (ticker, from, to) => storedRuns(pool, segments, ticker, from, to),
      struckBy: (correction, ticker) => struckKlines(pool, segments, correction, ticker),
      lacking: NONE_LACKS,
      async importedTimes(ticker, timeframe, from, to) {
        const { imported } = await stored.reader.read(pool, { ticker, timeframe, from, to, ...all });
        return [...imported].sort((a, b) => a - b);
      },
    },
    async writeBatch(minutes, quotes, ticks = []) {
      await writeRows(pool, VENUE, [minutes, quotes, ticks], null);
    },
    async beginWriter(token, above) {
      const begun = await beginWriter(pool, VENUE, token, above);
      let count = 0;
      return (
        begun && {
          ...begun,
          async write(minutes, quotes, ticks, places) {
            count += 1;
            return writeRows(pool, VENUE, [minutes, quotes, ticks], { ...places, token, writer: begun.number, write: count });
          },
        }
      );
    },
    async klinesAt(ticker, timeframe, times) {
      const [from, to] = times.reduce(([least, most], time) => [Math.min(least, time), Math.max(most, time + 1)], [
        Number.POSITIVE_INFINITY,
        0,
      ] as [number, number]);
      const { columns } = await stored.reader.read(pool, { ticker, timeframe, from, to, ...all });
      const rows = new Map(times.map((time) => [time, rowFrom(columns.time, time)]));
      const found = [...rows].filter(([time, row]) => columns.time[row] === time);
      return new Map(found.map(([time, row]) => [time, klineAt(columns, row, ticker, timeframe)]));
    },
  };
}
