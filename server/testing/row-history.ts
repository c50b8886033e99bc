import type pg from "pg";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";

/**
 * How the last release that kept klines as rows read and wrote those of the live venue, in short: what a conversion meets. Its SQL is
 * that of the release, without what made it fast.
 */

const VALUES = ["open", "high", "low", "close", "tick_volume", "real_volume", "spread"];
const LIST = VALUES.join(", ");
const of = (alias: string) => VALUES.map((column) => `${alias}.${column}`).join(", ");
const M1 = "k.venue = 'live' AND k.timeframe = 'M1'";
/** Rows as parameter $1. */
const GIVEN = `jsonb_to_recordset($1::jsonb) AS i (ticker text, timeframe text, time bigint,
  ${VALUES.map((column) => `${column} float8`).join(", ")})`;

const WRITE = (source: string, batch: string) => `INSERT INTO kline AS kept (venue, ticker, timeframe, time, ${LIST}, batch)
  SELECT 'live', i.ticker, i.timeframe, i.time, ${of("i")}, ${batch} FROM ${source}
  ON CONFLICT (venue, ticker, timeframe, time) DO UPDATE SET (${LIST}, batch) = (${of("excluded")}, excluded.batch)`;
const KEEP_PREVIOUS = `INSERT INTO kline_previous (batch, ticker, time, ${LIST}, owner)
  SELECT $2, k.ticker, k.time, ${of("k")}, k.batch FROM ${GIVEN} JOIN kline k ON k.time = i.time AND k.ticker = i.ticker
  WHERE ${M1} AND k.batch IS DISTINCT FROM $2::integer`;
const LINK = `INSERT INTO kline_previous (batch, ticker, time, owner)
  SELECT $1, k.ticker, k.time, max(s.batch) FROM struck_minute s JOIN kline k ON k.ticker = s.ticker AND k.time = s.time
  WHERE s.ticker = $2 AND s.time = ANY($3::bigint[]) AND ${M1} AND k.batch = $1
    AND NOT EXISTS (SELECT FROM kline_previous p WHERE p.batch = $1 AND p.ticker = k.ticker AND p.time = k.time)
  GROUP BY k.ticker, k.time`;
const NEWEST_IMPORTED = `SELECT DISTINCT ON (ticker, timeframe, time) * FROM kline_imported WHERE ticker = $1 AND timeframe = $2
  ORDER BY ticker, timeframe, time, batch DESC`;

const UNDO = [
  `UPDATE kline_previous later SET (${LIST}, owner) = (${of("mine")}, mine.owner)
    FROM kline_previous mine WHERE later.owner = $1 AND mine.batch = $1 AND mine.ticker = later.ticker AND mine.time = later.time`,
  "DELETE FROM kline_previous WHERE owner = $1",
  `UPDATE kline k SET (${LIST}, batch) = (${of("mine")}, mine.owner) FROM kline_previous mine
    WHERE mine.batch = $1 AND mine.ticker = k.ticker AND mine.time = k.time AND mine.open IS NOT NULL AND k.batch = $1 AND ${M1}`,
  `DELETE FROM kline k WHERE k.batch = $1 AND ${M1}`,
  `INSERT INTO kline (venue, ticker, timeframe, time, ${LIST}, batch)
    SELECT 'live', mine.ticker, 'M1', mine.time, ${of("mine")}, mine.owner
    FROM struck_minute s JOIN kline_previous mine ON mine.batch = s.batch AND mine.ticker = s.ticker AND mine.time = s.time
    WHERE s.batch = $1 AND mine.open IS NOT NULL
      AND NOT EXISTS (SELECT FROM struck_minute l WHERE l.ticker = s.ticker AND l.time = s.time AND l.batch > s.batch)
    ON CONFLICT (venue, ticker, timeframe, time) DO NOTHING`,
  "DELETE FROM struck_minute WHERE batch = $1",
  "DELETE FROM kline_previous WHERE batch = $1",
  "DELETE FROM kline_imported WHERE batch = $1",
  "DELETE FROM kline WHERE venue = 'live' AND batch = $1",
  "UPDATE backfill SET undone_at = now() WHERE number = $1",
];

const DROP_YEAR = [
  `DELETE FROM kline WHERE venue = 'live' AND timeframe NOT IN ('D1', 'W1', 'MN1') AND ticker = $1 AND time >= $2 AND time < $3`,
  `DELETE FROM kline_imported WHERE timeframe NOT IN ('D1', 'W1', 'MN1') AND ticker = $1 AND time >= $2 AND time < $3`,
];
const SEAL = [
  "UPDATE backfill SET sealed_at = now() WHERE number = ANY($1::integer[])",
  "DELETE FROM kline_previous WHERE batch = ANY($1::integer[])",
  `DELETE FROM kline_imported said USING kline_imported later WHERE later.batch = ANY($1::integer[]) AND later.batch > said.batch
    AND later.ticker = said.ticker AND later.timeframe = said.timeframe AND later.time = said.time`,
];

const timesOf = (klines: readonly Kline[]) => klines.map(({ time }) => time);
const longerThanMinutes = TIMEFRAMES.filter((timeframe) => timeframe !== "M1");

/** @param pool of a database whose partitions for the klines exist */
export function createRowHistory(pool: pg.Pool) {
  const alignment = createAlignment();

  async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      await work(client);
      await client.query("COMMIT");
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async function read(client: Pick<pg.ClientBase, "query">, ticker: string, timeframe: Timeframe): Promise<Kline[]> {
    const text = `SELECT time::float8 AS time, ${LIST} FROM kline
      WHERE venue = 'live' AND ticker = $1 AND timeframe = $2 ORDER BY time`;
    const { rows } = await client.query<Omit<Kline, "type" | "ticker" | "timeframe">>(text, [ticker, timeframe]);
    return rows.map((row) => ({ type: "kline", ticker, timeframe, ...row }));
  }

  /** M5 to MN1 of the intervals of some minutes, and what was imported where there is none. */
  async function rebuild(client: pg.ClientBase, ticker: string, times: readonly number[]): Promise<void> {
    const minutes = await read(client, ticker, "M1");
    for (const timeframe of longerThanMinutes) {
      const touched = new Set(times.map((time) => alignment.openTime(timeframe, time)));
      const made = aggregate(minutes, timeframe, alignment).filter(({ time }) => touched.has(time));
      const text = "DELETE FROM kline WHERE venue = 'live' AND ticker = $1 AND timeframe = $2 AND time = ANY($3::bigint[])";
      await client.query(text, [ticker, timeframe, [...touched]]);
      await client.query(WRITE(GIVEN, "NULL"), [JSON.stringify(made)]);
      await client.query(
        `INSERT INTO kline (venue, ticker, timeframe, time, ${LIST}, batch) SELECT venue, ticker, timeframe, time, ${LIST}, batch
          FROM (${NEWEST_IMPORTED}) AS said WHERE time = ANY($3::bigint[]) ON CONFLICT DO NOTHING`,
        [ticker, timeframe, [...touched]],
      );
    }
  }

  return {
    read: (ticker: string, timeframe: Timeframe) => read(pool, ticker, timeframe),
    /** The minutes that are struck out and were not written since. */
    async struck(ticker: string): Promise<number[]> {
      const text = `SELECT DISTINCT s.time::float8 AS time FROM struck_minute s WHERE s.ticker = $1
        AND NOT EXISTS (SELECT FROM kline k WHERE ${M1} AND k.ticker = s.ticker AND k.time = s.time) ORDER BY 1`;
      return timesOf((await pool.query<Kline>(text, [ticker])).rows);
    },
    /** What the recorder wrote, with the longer klines. Times do not repeat. */
    feed: (ticker: string, klines: readonly Kline[]) =>
      inTransaction(async (client) => {
        await client.query(WRITE(GIVEN, "NULL"), [JSON.stringify(klines)]);
        await rebuild(client, ticker, timesOf(klines));
      }),
    /** Minutes of an import, a push or a correction. Times do not repeat. */
    store: (number: number, ticker: string, klines: readonly Kline[]) =>
      inTransaction(async (client) => {
        await client.query(KEEP_PREVIOUS, [JSON.stringify(klines), number]);
        await client.query(WRITE(GIVEN, "$2::integer"), [JSON.stringify(klines), number]);
        await client.query(LINK, [number, ticker, timesOf(klines)]);
        await rebuild(client, ticker, timesOf(klines));
      }),
    /** Klines above M1 of an import, all of one timeframe. Times do not repeat. */
    storeLonger: (number: number, ticker: string, timeframe: Timeframe, klines: readonly Kline[]) =>
      inTransaction(async (client) => {
        await client.query(
          `INSERT INTO kline_imported AS kept (venue, ticker, timeframe, time, ${LIST}, batch)
            SELECT 'live', i.ticker, i.timeframe, i.time, ${of("i")}, $2 FROM ${GIVEN}
            ON CONFLICT (venue, ticker, timeframe, time, batch) DO UPDATE SET (${LIST}) = (${of("excluded")})`,
          [JSON.stringify(klines), number],
        );
        // The newest import shows, and a computed kline stays.
        await client.query(
          `INSERT INTO kline AS kept (venue, ticker, timeframe, time, ${LIST}, batch)
            SELECT venue, ticker, timeframe, time, ${LIST}, batch FROM (${NEWEST_IMPORTED}) AS said WHERE time = ANY($3::bigint[])
            ON CONFLICT (venue, ticker, timeframe, time) DO UPDATE SET (${LIST}, batch) = (${of("excluded")}, excluded.batch)
            WHERE kept.batch IS NOT NULL`,
          [ticker, timeframe, timesOf(klines)],
        );
      }),
    /** Takes out those of the minutes that are stored. */
    strike: (number: number, ticker: string, times: readonly number[]) =>
      inTransaction(async (client) => {
        await client.query(
          `INSERT INTO kline_previous (batch, ticker, time, ${LIST}, owner) SELECT $1, k.ticker, k.time, ${of("k")}, k.batch
            FROM kline k WHERE ${M1} AND k.ticker = $2 AND k.time = ANY($3::bigint[])`,
          [number, ticker, times],
        );
        await client.query(`DELETE FROM kline k WHERE ${M1} AND k.ticker = $1 AND k.time = ANY($2::bigint[])`, [ticker, times]);
        await client.query(
          "INSERT INTO struck_minute (batch, ticker, time) SELECT batch, ticker, time FROM kline_previous WHERE batch = $1",
          [number],
        );
        await rebuild(client, ticker, times);
      }),
    undo: (number: number, ticker: string) =>
      inTransaction(async (client) => {
        const touched = await client.query<Kline>(
          `SELECT time::float8 AS time FROM kline WHERE venue = 'live' AND ticker = $2 AND timeframe = 'M1' AND batch = $1
            UNION SELECT time::float8 FROM struck_minute WHERE batch = $1 UNION SELECT time::float8 FROM kline_previous WHERE batch = $1`,
          [number, ticker],
        );
        for (const text of UNDO) await client.query(text, [number]);
        await rebuild(client, ticker, timesOf(touched.rows));
        for (const timeframe of longerThanMinutes)
          await client.query(
            `INSERT INTO kline (venue, ticker, timeframe, time, ${LIST}, batch)
              SELECT venue, ticker, timeframe, time, ${LIST}, batch FROM (${NEWEST_IMPORTED}) AS said ON CONFLICT DO NOTHING`,
            [ticker, timeframe],
          );
      }),
    /** What KEEP_YEARS does to a year; `imports` began before its end, and cannot be undone any more. */
    dropYear: (ticker: string, year: number, imports: readonly number[]) =>
      inTransaction(async (client) => {
        const within = [Date.UTC(year, 0) / 1_000, Date.UTC(year + 1, 0) / 1_000];
        for (const text of DROP_YEAR) await client.query(text, [ticker, ...within]);
        for (const text of SEAL) await client.query(text, [imports]);
      }),
  };
}
