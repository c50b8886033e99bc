import type pg from "pg";
import type { Venue } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import type { LastQuote } from "#lib/market/ports";
import { longQuery } from "#server/store/database/connection";
import { COLUMNS, LAST_WRITE_WINS, listOf, VALUES } from "#server/store/history/kline-sql";
import { chunkValues, INSERT_CHUNKS, type TickChunk } from "#server/store/history/tick-tail";

/**
 * The rows of the lease and of the writer stay locked until the batch is written, so that nobody can take either in between. A
 * null token writes without a lease, a null writer without numbers. A ticker that waits for its conversion does so until the batch is
 * written: the conversion has the batch, or the tail has it.
 */
const WRITE = `WITH held AS MATERIALIZED (
    SELECT FROM venue_lease WHERE venue = $1 AND token = $22::bigint FOR SHARE
  ), numbered AS MATERIALIZED (
    UPDATE venue_writer SET (write, journal, ticks) = ($19, $20, $21)
    WHERE venue = $1 AND writer = $18 AND write < $19 AND ($22::bigint IS NULL OR EXISTS (SELECT FROM held)) RETURNING writer
  ), allowed AS MATERIALIZED (
    SELECT $18::bigint IS NULL OR EXISTS (SELECT FROM numbered) AS yes
  ), quotes AS (
    INSERT INTO last_quote AS kept (venue, ticker, time_msc, bid, ask, ask_high, ask_low)
    SELECT $1, * FROM unnest($12::text[], $13::bigint[], $14::float8[], $15::float8[], $16::float8[],
      $17::float8[]) WHERE (SELECT yes FROM allowed)
    ON CONFLICT (venue, ticker) DO UPDATE
      SET (time_msc, bid, ask, ask_high, ask_low)
        = (excluded.time_msc, excluded.bid, excluded.ask, excluded.ask_high, excluded.ask_low)
      WHERE excluded.time_msc >= kept.time_msc
  ), given AS MATERIALIZED (
    SELECT * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::float8[], $6::float8[], $7::float8[], $8::float8[],
      $9::float8[], $10::float8[], $11::float8[]) AS klines (${COLUMNS}) WHERE (SELECT yes FROM allowed)
  ), waiting AS MATERIALIZED (
    SELECT ticker FROM history_unconverted WHERE ticker = ANY($2::text[]) FOR SHARE
  ), tail AS (
    INSERT INTO kline_tail AS kept (ticker, time, ${VALUES.join(", ")})
    SELECT ticker, time, ${VALUES.join(", ")} FROM given
      WHERE timeframe = 'M1' AND NOT EXISTS (SELECT FROM waiting w WHERE w.ticker = given.ticker)
    ON CONFLICT (ticker, time) DO UPDATE SET (${VALUES.join(", ")}) = (${listOf("excluded", VALUES)})
      WHERE (${listOf("kept", VALUES)}) IS DISTINCT FROM (${listOf("excluded", VALUES)})
  ), klines AS (
    INSERT INTO kline AS kept (venue, ${COLUMNS})
    SELECT $1, ${COLUMNS} FROM given WHERE EXISTS (SELECT FROM waiting w WHERE w.ticker = given.ticker)
    ${LAST_WRITE_WINS}
  ), ticks AS (${INSERT_CHUNKS(23, "(SELECT yes FROM allowed)")})
  SELECT yes, EXISTS (SELECT FROM history_unconverted) AS waits FROM allowed`;

const ADD = "INSERT INTO venue_writer (venue) VALUES ($1) ON CONFLICT DO NOTHING";
const BEGIN = `UPDATE venue_writer SET writer = GREATEST(writer, $3) + 1, write = 0
  WHERE venue = $1 AND ($2::bigint IS NULL OR EXISTS (SELECT FROM venue_lease WHERE venue = $1 AND token = $2))
  RETURNING writer::float8, journal::float8, ticks::float8`;

/**
 * A batch without duplicates (the last row of a key wins), ordered by key: concurrent writers lock rows in the same order and
 * cannot deadlock.
 */
function distinct(klines: readonly Kline[]): Kline[] {
  const byKey = new Map<string, Kline>();
  for (const kline of klines) byKey.set(`${kline.ticker}:${kline.timeframe}:${kline.time}`, kline);
  return [...byKey.values()].sort((a, b) => compare(a.ticker, b.ticker) || compare(a.timeframe, b.timeframe) || a.time - b.time);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Turns rows into columns for unnest. */
function columnsOf(klines: readonly Kline[]): unknown[][] {
  return [
    klines.map((kline) => kline.ticker),
    klines.map((kline) => kline.timeframe),
    klines.map((kline) => kline.time),
    klines.map((kline) => kline.open),
    klines.map((kline) => kline.high),
    klines.map((kline) => kline.low),
    klines.map((kline) => kline.close),
    klines.map((kline) => kline.tick_volume),
    klines.map((kline) => kline.real_volume),
    klines.map((kline) => kline.spread),
  ];
}

/** Rows that any database writes well within the usual time limit. */
const LONG_BATCH_ROWS = 5_000;

/** How much of the journals of a venue is stored: those with lower numbers, and the first ticks of this one. */
export interface JournalPlace {
  readonly journal: number;
  readonly ticks: number;
}

/** Writes what one process makes of the ticks of a venue. */
export interface VenueWriter {
  /** Rises with each writer of the venue. */
  readonly number: number;
  /** What was stored of journals when it began. */
  readonly stored: JournalPlace;
  /**
   * Klines, last quotes and ticks in one transaction, with the place up to which they have the ticks of the journal. The last write of
   * a key wins, a last quote only over older ones. May be repeated.
   * @returns false, with nothing written, once another writer has begun or another process holds the lease
   */
  write(
    klines: readonly Kline[],
    lastQuotes: readonly LastQuote[],
    ticks: readonly TickChunk[],
    place: JournalPlace,
  ): Promise<boolean>;
}

/** A place, and who writes it. */
export interface WriteNumbers extends JournalPlace {
  readonly token: number | null;
  readonly writer: number;
  readonly write: number;
}

/** What became of a batch. */
interface Outcome {
  /** False, with nothing written, when the numbers are no longer the highest. */
  readonly isWritten: boolean;
  /** Whether klines of any ticker are still stored as rows, in all timeframes. Once they are not, minutes are enough. */
  readonly isConverting: boolean;
}

/** Writes a batch. Null writes without numbers. */
export async function writeRows(
  pool: pg.Pool,
  venue: Venue,
  [klines, lastQuotes, ticks]: readonly [readonly Kline[], readonly LastQuote[], readonly TickChunk[]],
  numbers: WriteNumbers | null,
): Promise<Outcome> {
  const newest = new Map<string, LastQuote>();
  for (const quote of lastQuotes)
    if (quote.time_msc >= (newest.get(quote.ticker)?.time_msc ?? 0)) newest.set(quote.ticker, quote);
  const quotes = [...newest.values()].sort((a, b) => (a.ticker < b.ticker ? -1 : 1));
  const values = [
    venue,
    ...columnsOf(distinct(klines)),
    quotes.map(({ ticker }) => ticker),
    quotes.map(({ time_msc }) => time_msc),
    quotes.map(({ bid }) => bid),
    quotes.map(({ ask }) => ask),
    quotes.map(({ ask_high }) => ask_high),
    quotes.map(({ ask_low }) => ask_low),
    ...(numbers ? [numbers.writer, numbers.write, numbers.journal, numbers.ticks, numbers.token] : [null, 0, 0, 0, null]),
    ...chunkValues(ticks),
  ];
  const query = { text: WRITE, values };
  const { rows } = await pool.query<{ yes: boolean; waits: boolean }>(
    klines.length + ticks.length > LONG_BATCH_ROWS ? longQuery(query) : query,
  );
  return { isWritten: rows[0]?.yes ?? false, isConverting: rows[0]?.waits ?? true };
}

/**
 * Begins to write a venue; earlier writers change nothing any more, not even by a write that is still on its way.
 * @param token of the venue's lease; null where one process runs the venue
 * @param above a number that was used before, as far as the caller knows; the database may have been restored
 * @returns null when another process holds the lease
 */
export async function beginWriter(
  pool: pg.Pool,
  venue: Venue,
  token: number | null,
  above: number,
): Promise<Pick<VenueWriter, "number" | "stored"> | null> {
  await pool.query(ADD, [venue]);
  const { rows } = await pool.query<{ writer: number; journal: number; ticks: number }>(BEGIN, [venue, token, above]);
  const [row] = rows;
  return row === undefined ? null : { number: row.writer, stored: { journal: row.journal, ticks: row.ticks } };
}
