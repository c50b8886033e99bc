import type pg from "pg";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import { longQuery } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { createDataReader } from "./data-reads";
import { readRuns } from "./data-year";
import { distinct, NUMBERS, type RowRange, rangesOf } from "./kline-rows";
import { anyStored, copyInto, mergeIncoming, readKlines } from "./kline-sql";
import { beginWriter, type VenueWriter, writeRows } from "./kline-writer";
import { createPartitions, inTransaction, STORED_LATER } from "./partitions";
import type { KlineStore, LastQuote, StoredMinutes } from "./ports";
import { struckBy, struckMinutes } from "./struck-minutes";

/** One index lookup per ticker: reading the minutes of all tickers at once would scan the table. */
const MINUTES = `SELECT DISTINCT time FROM unnest($2::text[]) AS asked (ticker),
    LATERAL (SELECT time FROM kline WHERE venue = $1 AND kline.ticker = asked.ticker AND timeframe = 'M1' AND time >= $3) AS found
  ORDER BY time`;
const EARLIER = `SELECT EXISTS (SELECT FROM unnest($2::text[]) AS asked (ticker),
    LATERAL (SELECT FROM kline WHERE venue = $1 AND kline.ticker = asked.ticker AND timeframe = 'M1' AND time < $3 LIMIT 1) AS found
  ) AS earlier`;

const KLINES_AT = `SELECT time, open, low, high, close FROM kline
  WHERE venue = $1 AND ticker = $2 AND timeframe = $3 AND time = ANY($4::bigint[])`;
/** An M1 kline names the import that wrote it; a longer one only if it was imported as such. */
const IMPORTED = `SELECT time FROM kline
  WHERE venue = $1 AND ticker = $2 AND timeframe = $3 AND time >= $4 AND time < $5 AND batch IS NOT NULL ORDER BY time`;

const NEWEST_MINUTE = `SELECT max(time)::float8 AS newest FROM kline
  WHERE venue = 'live' AND ticker = $1 AND timeframe = 'M1'`;

/** The prices of a stored kline. */
export type StoredPrices = Pick<Kline, "open" | "low" | "high" | "close">;

/** Stored klines and last quotes of a venue, in PostgreSQL. */
export interface KlineTable extends KlineStore {
  /** Klines and last quotes in one transaction; the last write of a key wins, a last quote only over older ones. May be repeated. */
  writeBatch(klines: readonly Kline[], lastQuotes: readonly LastQuote[]): Promise<void>;
  /**
   * Begins to write what a process makes of ticks.
   * @param token of the venue's lease; null where one process runs the venue
   * @param above a number that an earlier writer had, as far as the caller knows
   * @returns null when another process holds the lease
   */
  beginWriter(token: number | null, above: number): Promise<VenueWriter | null>;
  minutesSince(tickers: readonly string[], from: number): Promise<StoredMinutes>;
  /** For the live venue. */
  storedRuns: NonNullable<KlineStore["storedRuns"]>;
  struckBy: NonNullable<KlineStore["struckBy"]>;
  writeKlines(klines: readonly Kline[]): Promise<void>;
  writeLastQuotes(quotes: readonly LastQuote[]): Promise<void>;
  importedTimes(ticker: string, timeframe: Timeframe, from: number, to: number): Promise<readonly number[]>;
  /** The stored klines of a series with these open times, Unix seconds. */
  klinesAt(ticker: string, timeframe: Timeframe, times: readonly number[]): Promise<Map<number, StoredPrices>>;
  /**
   * Many klines at once, for imports: all or nothing, the last write of a key wins. May be repeated. Safe from a crash of the
   * database after the next ordinary write.
   */
  copyKlines(klines: readonly Kline[]): Promise<void>;
  /** Atomically replaces whatever was stored with from <= time < to (Unix seconds) by `klines`, all of this series. */
  replaceKlines(ticker: string, timeframe: Timeframe, from: number, to: number, klines: readonly Kline[]): Promise<void>;
  /** Open times (Unix seconds) of the first and last stored row of a series; null when there is none. */
  coverage(ticker: string, timeframe: Timeframe): Promise<{ first: number; last: number } | null>;
  /** Creates the yearly partitions of a range (Unix seconds, both included); writes do this automatically. */
  ensurePartitions(from: number, to: number): Promise<void>;
}

/** Copies straight into the table where nothing is stored yet, otherwise by way of a temporary table. */
async function copyBatch(client: pg.PoolClient, venue: Venue, klines: readonly Kline[], stretches: RowRange[]): Promise<void> {
  if (stretches.every(({ ascending }) => ascending) && !(await anyStored(client, venue, stretches)))
    return copyInto(client, "kline", venue, klines, null);
  await client.query("CREATE TEMPORARY TABLE incoming (LIKE kline) ON COMMIT DROP");
  await copyInto(client, "incoming", venue, distinct(klines), null);
  await client.query(longQuery({ text: mergeIncoming("kline") }));
}

async function readLastQuotes(pool: pg.Pool, venue: Venue, atMs: number): Promise<Map<string, LastQuote>> {
  const { rows } = await pool.query<LastQuote>(
    `SELECT ticker, time_msc::float8 AS time_msc, bid, ask, ask_high, ask_low FROM last_quote
      WHERE venue = $1 AND time_msc <= $2`,
    [venue, Math.floor(atMs)],
  );
  return new Map(rows.map((quote) => [quote.ticker, quote]));
}

async function readMinutes(pool: pg.Pool, venue: Venue, tickers: readonly string[], from: number): Promise<StoredMinutes> {
  const values = [venue, tickers, Math.floor(from)];
  const [minutes, older] = await Promise.all([
    pool.query<[number]>({ text: MINUTES, values, rowMode: "array", types: NUMBERS }),
    pool.query<{ earlier: boolean }>(EARLIER, values),
  ]);
  return { times: minutes.rows.map(([time]) => time), earlier: older.rows[0]?.earlier ?? false };
}

/**
 * The klines of a venue in PostgreSQL. The running service has no other SQL for klines, except ./partitions.ts for whole years
 * and ./kline-batches.ts and ./imported-klines.ts for what imports wrote.
 * Every call throws pg's own error when the database is unavailable or rejects the query.
 */
export function createKlineStore(pool: pg.Pool, venue: Venue): KlineTable {
  const ensurePartitions = createPartitions(pool);
  const readInTurn = createDataReader({ pool });

  async function ensureFor(stretches: readonly RowRange[]): Promise<void> {
    if (stretches.length === 0) return;
    await ensurePartitions(Math.min(...stretches.map(({ first }) => first)), Math.max(...stretches.map(({ last }) => last)));
  }

  async function writeBatch(klines: readonly Kline[], lastQuotes: readonly LastQuote[]): Promise<void> {
    await ensureFor(rangesOf(klines));
    await writeRows(pool, venue, [klines, lastQuotes], null);
  }

  return {
    read: (query) => readKlines(pool, venue, query),
    lastQuotes: (atMs) => readLastQuotes(pool, venue, atMs),
    minutesSince: (tickers, from) => readMinutes(pool, venue, tickers, from),
    storedRuns: (ticker, from, to) =>
      readInTurn(async (client) => {
        const { rows } = await client.query<{ newest: number | null }>(NEWEST_MINUTE, [ticker]);
        const struck = await struckMinutes(client, ticker, { from, to });
        const runs = [
          ...(await readRuns(client, [ticker, from, to])),
          ...[...struck].map((time) => ({ from: time, to: time + 60 })),
        ];
        return { newest: rows[0]?.newest ?? null, runs: runs.sort((a, b) => a.from - b.from) };
      }),
    struckBy: (batch, ticker) => struckBy(pool, batch, ticker),
    writeBatch,
    async beginWriter(token, above) {
      const begun = await beginWriter(pool, venue, token, above);
      let write = 0;
      return (
        begun && {
          ...begun,
          async write(klines, lastQuotes, place) {
            await ensureFor(rangesOf(klines));
            write += 1;
            return writeRows(pool, venue, [klines, lastQuotes], { ...place, token, writer: begun.number, write });
          },
        }
      );
    },
    writeKlines: (klines) => writeBatch(klines, []),
    writeLastQuotes: (quotes) => writeBatch([], quotes),
    async importedTimes(ticker, timeframe, from, to) {
      const values = [venue, ticker, timeframe, from, to];
      const { rows } = await pool.query<[number]>({ text: IMPORTED, values, rowMode: "array", types: NUMBERS });
      return rows.map(([time]) => time);
    },
    async klinesAt(ticker, timeframe, times) {
      const values = [venue, ticker, timeframe, times];
      const read = longQuery({ text: KLINES_AT, values, rowMode: "array" as const, types: NUMBERS });
      const { rows } = await pool.query<[number, number, number, number, number]>(read);
      return new Map(rows.map(([time, open, low, high, close]) => [time, { open, low, high, close }]));
    },
    async copyKlines(klines) {
      const stretches = rangesOf(klines);
      if (stretches.length === 0) return;
      await ensureFor(stretches);
      await inTransaction(pool, (client) => copyBatch(client, venue, klines, stretches), STORED_LATER);
    },
    async replaceKlines(ticker, timeframe, from, to, klines) {
      await ensureFor(rangesOf(klines));
      await inTransaction(pool, async (client) => {
        const range = "venue = $1 AND ticker = $2 AND timeframe = $3 AND time >= $4 AND time < $5";
        const values = [venue, ticker, timeframe, from, to];
        await client.query(longQuery({ text: `DELETE FROM kline WHERE ${range}`, values }));
        if (klines.length > 0) await copyInto(client, "kline", venue, klines, null);
      });
    },
    async coverage(ticker, timeframe) {
      const all = { ticker, timeframe, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1 };
      const [oldest] = await readKlines(pool, venue, { ...all, end: "oldest" });
      const [newest] = await readKlines(pool, venue, { ...all, end: "newest" });
      return oldest === undefined || newest === undefined ? null : { first: oldest.time, last: newest.time };
    },
    ensurePartitions,
  };
}
