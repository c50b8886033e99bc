import type pg from "pg";
import { longQuery } from "#lib/db";

/** Years that may have a partition; a row outside is a mistake, not history. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2199;
/** Times a transaction that collided with another is tried. */
const ATTEMPTS_COUNT = 3;
/** Unique violation, deadlock: what two writers of the same rows do to each other; the second try sees the first's rows. */
const COLLISION_CODES = ["23505", "40P01"];
/** Held while partitions are made or replaced, so that two processes do not do it to the same one. */
const PARTITION_LOCK = 0x6b6c696e;
/** Readers and writers of all klines wait no longer than this for a partition to be replaced. */
const SWAP_LOCK_MAX_MS = 500;
/** SQLSTATE of a lock that was not had in time. */
const LOCK_NOT_AVAILABLE = "55P03";
/** Klines that stay when their year is dropped: a few hundred a year, and what charts of decades are made of. */
const KEPT = "timeframe IN ('D1', 'W1', 'MN1')";

const nameOf = (year: number) => `kline_y${year}`;
const yearOf = (name: string) => Number(/^kline_y(\d{4})$/.exec(name)?.[1]);
const startS = (year: number) => Date.UTC(year, 0) / 1000;
const utcYear = (timeS: number) => new Date(timeS * 1000).getUTCFullYear();
const isStorable = (year: number) => year >= FIRST_YEAR && year <= LAST_YEAR;
const attach = (table: string, year: number) =>
  `ALTER TABLE kline ATTACH PARTITION ${table} FOR VALUES FROM (${startS(year)}) TO (${startS(year + 1)})`;

/**
 * Runs `work` in a transaction, again when it collided with another writer.
 * @throws what `work` or the database throws; then nothing of it is done
 */
export async function inTransaction<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      // Given back broken: whatever state it is in, it does not reach the next user.
      client.release(true);
      const { code = "" } = error as { code?: string };
      if (attempt >= ATTEMPTS_COUNT || !COLLISION_CODES.includes(code)) throw error;
    }
  }
}

/**
 * A year's partition. Attaching an empty table leaves readers of the others undisturbed; PARTITION OF would wait for
 * all of them and hold up the next.
 */
async function makePartition(client: pg.ClientBase, year: number): Promise<void> {
  const name = nameOf(year);
  const { rows } = await client.query<{ made: boolean }>("SELECT to_regclass($1) IS NOT NULL AS made", [name]);
  if (rows[0]?.made) return;
  await client.query(`CREATE TABLE ${name} (LIKE kline INCLUDING ALL)`);
  await client.query(attach(name, year));
}

/** Makes a partition by its name, in the caller's transaction, for rows that a backup brings; false when it is no name of one. */
export async function restorePartition(client: pg.ClientBase, name: string): Promise<boolean> {
  const year = yearOf(name);
  if (!isStorable(year)) return false;
  await makePartition(client, year);
  return true;
}

/**
 * The partitions of one process, made when first needed.
 * @returns makes those of a stretch (Unix seconds, both included); it throws RangeError for years that are not kept
 */
export function createPartitions(pool: pg.Pool): (from: number, to: number) => Promise<void> {
  const made = new Set<number>();
  return async (from, to) => {
    const [first, last] = [utcYear(from), utcYear(to)];
    if (!(isStorable(first) && isStorable(last))) throw new RangeError(`klines from ${first} to ${last} cannot be stored`);
    const missing = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter((year) => !made.has(year));
    if (missing.length === 0) return;
    await inTransaction(pool, async (client) => {
      await client.query("SELECT pg_advisory_xact_lock($1)", [PARTITION_LOCK]);
      for (const year of missing) await makePartition(client, year);
    });
    for (const year of missing) made.add(year);
  };
}

/**
 * The years (ascending) of which all ended more than `keepYears` before `nowS` (Unix seconds) and that still hold klines
 * shorter than a day; none where `keepYears` is 0.
 */
export async function expiredYears(pool: Pick<pg.Pool, "query">, nowS: number, keepYears: number): Promise<number[]> {
  if (keepYears === 0) return [];
  const { rows } = await pool.query<{ name: string }>(
    "SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'kline'::regclass",
  );
  // The year in which the time to keep begins is kept whole.
  const years = rows.map(({ name }) => yearOf(name)).filter((year) => year < utcYear(nowS) - keepYears);
  const expired: number[] = [];
  for (const year of years.sort((a, b) => a - b)) {
    const found = await pool.query(`SELECT FROM ${nameOf(year)} WHERE NOT ${KEPT} LIMIT 1`);
    if (found.rowCount === 1) expired.push(year);
  }
  return expired;
}

/** How dropping the klines of a year went: another process was at it; the table was in use; or the rows are gone. */
type DropOutcome = "elsewhere" | "busy" | "dropped";

/**
 * Drops the klines of a year that are shorter than a day, and with them the room they take: its partition is replaced by
 * one that holds the rest. Readers and writers go on meanwhile; all of them wait for the moment of the change, half a
 * second at most, and writers of that year until all is done.
 * @throws pg's error; then nothing was dropped
 */
export async function dropShortKlines(pool: pg.Pool, year: number): Promise<DropOutcome> {
  const old = nameOf(year);
  const rest = `${old}_rest`;
  try {
    return await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ free: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS free", [PARTITION_LOCK]);
      if (!rows[0]?.free) return "elsewhere";
      await client.query(`SET LOCAL lock_timeout = ${SWAP_LOCK_MAX_MS}`);
      // No row may come to the old table that the copy lacks.
      await client.query(`LOCK TABLE ${old} IN SHARE MODE`);
      // Copied by a transaction of its own, which ends before the change: a read that began before the change finds the rows.
      await copyRest(pool, old, rest);
      await client.query("LOCK TABLE kline IN ACCESS EXCLUSIVE MODE");
      await client.query(`ALTER TABLE kline DETACH PARTITION ${old}`);
      await client.query(`DROP TABLE ${old}`);
      await client.query(`ALTER TABLE ${rest} RENAME TO ${old}`);
      await client.query(`ALTER INDEX ${rest}_pkey RENAME TO ${old}_pkey`);
      await client.query(attach(old, year));
      return "dropped";
    });
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    await pool.query(`DROP TABLE IF EXISTS ${rest}`);
    return "busy";
  }
}

/** Puts what is kept of a year into a table of its own; one that an earlier attempt left is made anew. */
async function copyRest(pool: pg.Pool, old: string, rest: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query(`DROP TABLE IF EXISTS ${rest}`);
    await client.query(`CREATE TABLE ${rest} (LIKE kline INCLUDING ALL)`);
    await client.query(longQuery({ text: `INSERT INTO ${rest} SELECT * FROM ${old} WHERE ${KEPT}` }));
  });
}
