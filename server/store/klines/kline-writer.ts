import type pg from "pg";
import type { Venue } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import type { LastQuote } from "#lib/market/ports";
import { longQuery } from "#server/store/database/connection";
import { chunkValues, INSERT_CHUNKS, type TickChunk } from "#server/store/history/tick-tail";

/** The values of a minute, after its ticker and time. */
const VALUES = ["open", "high", "low", "close", "tick_volume", "real_volume", "spread"] as const;
const COLUMNS = ["ticker", "time", ...VALUES] as const;
const valuesIn = (row: string) => VALUES.map((name) => `${row}.${name}`).join(", ");

/**
 * The rows of the lease and of the writer stay locked until the batch is written, so that nobody can take either in between. A
 * null token writes without a lease, a null writer without numbers.
 */
const WRITE = `WITH held AS MATERIALIZED (
    SELECT FROM venue_lease WHERE venue = $1 AND token = $21::bigint FOR SHARE
  ), numbered AS MATERIALIZED (
    UPDATE venue_writer SET (write, journal, ticks, kept_journal, kept_ticks) = ($18, $19, $20, $22, $23)
    WHERE venue = $1 AND writer = $17 AND write < $18 AND ($21::bigint IS NULL OR EXISTS (SELECT FROM held)) RETURNING writer
  ), allowed AS MATERIALIZED (
    SELECT $17::bigint IS NULL OR EXISTS (SELECT FROM numbered) AS yes
  ), quotes AS (
    INSERT INTO last_quote AS kept (venue, ticker, time_msc, bid, ask, ask_high, ask_low)
    SELECT $1, * FROM unnest($11::text[], $12::bigint[], $13::float8[], $14::float8[], $15::float8[],
      $16::float8[]) WHERE (SELECT yes FROM allowed)
    ON CONFLICT (venue, ticker) DO UPDATE
      SET (time_msc, bid, ask, ask_high, ask_low)
        = (excluded.time_msc, excluded.bid, excluded.ask, excluded.ask_high, excluded.ask_low)
      WHERE excluded.time_msc >= kept.time_msc
  ), tail AS (
    INSERT INTO kline_tail AS kept (${COLUMNS.join(", ")})
    SELECT * FROM unnest($2::text[], $3::bigint[], $4::float8[], $5::float8[], $6::float8[], $7::float8[], $8::float8[],
      $9::float8[], $10::float8[]) WHERE (SELECT yes FROM allowed)
    ON CONFLICT (ticker, time) DO UPDATE SET (${VALUES.join(", ")}) = (${valuesIn("excluded")})
      WHERE (${valuesIn("kept")}) IS DISTINCT FROM (${valuesIn("excluded")})
  ), ticks AS (${INSERT_CHUNKS(24, "(SELECT yes FROM allowed)")})
  SELECT yes FROM allowed`;

const ADD = "INSERT INTO venue_writer (venue) VALUES ($1) ON CONFLICT DO NOTHING";
const BEGIN = `UPDATE venue_writer SET writer = GREATEST(writer, $3) + 1, write = 0
  WHERE venue = $1 AND ($2::bigint IS NULL OR EXISTS (SELECT FROM venue_lease WHERE venue = $1 AND token = $2))
  RETURNING writer::float8, journal::float8, ticks::float8, kept_journal::float8, kept_ticks::float8`;

/**
 * A batch without duplicates (the last row of a key wins), ordered by key: concurrent writers lock rows in the same order and
 * cannot deadlock.
 */
function distinct(minutes: readonly Kline[]): Kline[] {
  const byKey = new Map<string, Kline>();
  for (const minute of minutes) byKey.set(`${minute.ticker}:${minute.time}`, minute);
  return [...byKey.values()].sort((a, b) => (a.ticker < b.ticker ? -1 : a.ticker > b.ticker ? 1 : a.time - b.time));
}

/** Rows that any database writes well within the usual time limit. */
const LONG_BATCH_ROWS = 5_000;

/** A place in the journals of a venue: behind those with lower numbers, and behind the first ticks of this one. */
export interface JournalPlace {
  readonly journal: number;
  readonly ticks: number;
}

/** How much of the journals is stored. Ticks are written less often than the klines that they make. */
export interface StoredPlaces {
  /** Klines and last quotes have the ticks before it. */
  readonly stored: JournalPlace;
  /** The ticks before it are kept themselves. */
  readonly kept: JournalPlace;
}

/** Writes what one process makes of the ticks of a venue. */
export interface VenueWriter {
  /** Rises with each writer of the venue. */
  readonly number: number;
  /** What was stored of journals when it began. */
  readonly places: StoredPlaces;
  /**
   * M1 klines, last quotes and ticks in one transaction, with the places up to which they have the ticks of the journal. The last write
   * of a key wins, a last quote only over older ones. May be repeated.
   * @returns false, with nothing written, once another writer has begun or another process holds the lease
   */
  write(
    minutes: readonly Kline[],
    lastQuotes: readonly LastQuote[],
    ticks: readonly TickChunk[],
    places: StoredPlaces,
  ): Promise<boolean>;
}

/** The places, and who writes them. */
interface WriteNumbers extends StoredPlaces {
  readonly token: number | null;
  readonly writer: number;
  readonly write: number;
}

const numberValues = ({ writer, write, stored, token, kept }: WriteNumbers) => [
  writer,
  write,
  stored.journal,
  stored.ticks,
  token,
  kept.journal,
  kept.ticks,
];

/** Writes a batch of M1 klines, last quotes and ticks. Null writes without numbers. @returns false as `write` of VenueWriter */
export async function writeRows(
  pool: pg.Pool,
  venue: Venue,
  [minutes, lastQuotes, ticks]: readonly [readonly Kline[], readonly LastQuote[], readonly TickChunk[]],
  numbers: WriteNumbers | null,
): Promise<boolean> {
  const newest = new Map<string, LastQuote>();
  for (const quote of lastQuotes)
    if (quote.time_msc >= (newest.get(quote.ticker)?.time_msc ?? 0)) newest.set(quote.ticker, quote);
  const quotes = [...newest.values()].sort((a, b) => (a.ticker < b.ticker ? -1 : 1));
  const rows = distinct(minutes);
  const values = [
    venue,
    ...COLUMNS.map((name) => rows.map((row) => row[name])),
    quotes.map(({ ticker }) => ticker),
    quotes.map(({ time_msc }) => time_msc),
    quotes.map(({ bid }) => bid),
    quotes.map(({ ask }) => ask),
    quotes.map(({ ask_high }) => ask_high),
    quotes.map(({ ask_low }) => ask_low),
    ...(numbers ? numberValues(numbers) : [null, 0, 0, 0, null, 0, 0]),
    ...chunkValues(ticks),
  ];
  const query = { text: WRITE, values };
  const isLong = minutes.length + ticks.length > LONG_BATCH_ROWS;
  const { rows: written } = await pool.query<{ yes: boolean }>(isLong ? longQuery(query) : query);
  return written[0]?.yes ?? false;
}

interface BegunRow {
  readonly writer: number;
  readonly journal: number;
  readonly ticks: number;
  readonly kept_journal: number;
  readonly kept_ticks: number;
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
): Promise<Pick<VenueWriter, "number" | "places"> | null> {
  await pool.query(ADD, [venue]);
  const { rows } = await pool.query<BegunRow>(BEGIN, [venue, token, above]);
  const [row] = rows;
  if (row === undefined) return null;
  const stored = { journal: row.journal, ticks: row.ticks };
  // A process of the release before does not say what is kept: what it stored stands for both.
  const kept = row.kept_journal < row.journal ? stored : { journal: row.kept_journal, ticks: row.kept_ticks };
  return { number: row.writer, places: { stored, kept } };
}
