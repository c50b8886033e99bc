import type pg from "pg";
import { longQuery } from "#lib/db";
import { sealImports } from "./seal-imports";

/** Years that may have a partition; a row outside is a mistake, not history. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2199;
/** How often a transaction that collides with another is tried. */
const ATTEMPTS_COUNT = 3;
/** Unique violation and deadlock: two writers of the same rows cause these; a retry sees the rows of the other. */
const COLLISION_CODES = ["23505", "40P01"];
/** Held while partitions are created or replaced, so that two processes never work on the same one. */
const PARTITION_LOCK = 0x6b6c696e;
/** The longest that readers and writers of klines wait while a partition is replaced. */
const SWAP_LOCK_MAX_MS = 500;
/** SQLSTATE of a lock that could not be acquired in time. */
const LOCK_NOT_AVAILABLE = "55P03";
/** Klines that stay when their year is dropped: a few hundred per series and year, enough for charts of decades. */
const KEPT = "timeframe IN ('D1', 'W1', 'MN1')";

const nameOf = (year: number) => `kline_y${year}`;
const yearOf = (name: string) => Number(/^kline_y(\d{4})$/.exec(name)?.[1]);
const startS = (year: number) => Date.UTC(year, 0) / 1000;
const utcYear = (timeS: number) => new Date(timeS * 1000).getUTCFullYear();
const isStorable = (year: number) => year >= FIRST_YEAR && year <= LAST_YEAR;
const attach = (table: string, year: number) =>
  `ALTER TABLE kline ATTACH PARTITION ${table} FOR VALUES FROM (${startS(year)}) TO (${startS(year + 1)})`;

/**
 * A crash of the database may lose the last such transactions, newest first, but never a part of one. Once an
 * ordinary transaction that follows them is committed, all of them are stored.
 */
export const STORED_LATER = "BEGIN; SET LOCAL synchronous_commit = off";

/**
 * Runs `work` in a transaction, and retries it when it collides with another writer.
 * @throws what `work` or the database throws; then everything is rolled back
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  begin: "BEGIN" | typeof STORED_LATER = "BEGIN",
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    try {
      await client.query(begin);
      const result = await work(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      // Destroys the connection, so that its unknown state never reaches the next user.
      client.release(true);
      const { code = "" } = error as { code?: string };
      if (attempt >= ATTEMPTS_COUNT || !COLLISION_CODES.includes(code)) throw error;
    }
  }
}

/**
 * Creates the partition of a year. Attaching an empty table does not disturb readers of other partitions; PARTITION OF would
 * wait for all of them and block new ones.
 */
async function makePartition(client: pg.ClientBase, year: number): Promise<void> {
  const name = nameOf(year);
  const { rows } = await client.query<{ made: boolean }>("SELECT to_regclass($1) IS NOT NULL AS made", [name]);
  if (rows[0]?.made) return;
  await client.query(`CREATE TABLE ${name} (LIKE kline INCLUDING ALL)`);
  await client.query(attach(name, year));
}

/** Creates a partition by name, in the caller's transaction, for a restore; false when the name is not that of a partition. */
export async function restorePartition(client: pg.ClientBase, name: string): Promise<boolean> {
  const year = yearOf(name);
  if (!isStorable(year)) return false;
  await makePartition(client, year);
  return true;
}

/**
 * Creates partitions when they are first needed.
 * @returns creates those of a range (Unix seconds, both included); throws RangeError for years that cannot be stored
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
 * The years (ascending) that ended more than `keepYears` before `nowS` (Unix seconds) and still hold klines shorter than a
 * day; none when `keepYears` is 0.
 */
export async function expiredYears(pool: Pick<pg.Pool, "query">, nowS: number, keepYears: number): Promise<number[]> {
  if (keepYears === 0) return [];
  const { rows } = await pool.query<{ name: string }>(
    "SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'kline'::regclass",
  );
  // The year in which the retention time starts is kept entirely.
  const years = rows.map(({ name }) => yearOf(name)).filter((year) => year < utcYear(nowS) - keepYears);
  const expired: number[] = [];
  for (const year of years.sort((a, b) => a - b)) {
    const found = await pool.query(`SELECT FROM ${nameOf(year)} WHERE NOT ${KEPT} LIMIT 1`);
    if (found.rowCount === 1) expired.push(year);
  }
  return expired;
}

/** The outcome of dropping the klines of a year: another process is doing it, the table was in use, or the rows are gone. */
type DropOutcome = "elsewhere" | "busy" | "dropped";

/**
 * Drops the klines of a year that are shorter than a day and frees their disk space: the partition is replaced by one that
 * holds the rest. Other reads and writes continue and wait only for the swap, half a second at most; writers of that year
 * wait until it is complete.
 * @throws pg's error; then nothing is dropped
 */
export async function dropShortKlines(pool: pg.Pool, year: number): Promise<DropOutcome> {
  const old = nameOf(year);
  const rest = `${old}_rest`;
  try {
    return await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ free: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS free", [PARTITION_LOCK]);
      if (!rows[0]?.free) return "elsewhere";
      await client.query(`SET LOCAL lock_timeout = ${SWAP_LOCK_MAX_MS}`);
      // The old table must not receive a row that the copy lacks.
      await client.query(`LOCK TABLE ${old} IN SHARE MODE`);
      // Copied in a separate transaction that commits before the swap, so that a read that started earlier finds the rows.
      await copyRest(pool, old, rest);
      await client.query("LOCK TABLE kline IN ACCESS EXCLUSIVE MODE");
      await client.query(`ALTER TABLE kline DETACH PARTITION ${old}`);
      await client.query(`DROP TABLE ${old}`);
      await client.query(`ALTER TABLE ${rest} RENAME TO ${old}`);
      await client.query(`ALTER INDEX ${rest}_pkey RENAME TO ${old}_pkey`);
      await client.query(attach(old, year));
      const within = [startS(year), startS(year + 1)];
      await client.query(
        longQuery({ text: `DELETE FROM kline_imported WHERE NOT ${KEPT} AND time >= $1 AND time < $2`, values: within }),
      );
      // To undo an import of that year, its days would have to be computed from minutes that are gone.
      await sealImports(client, "SELECT batch FROM backfill_series WHERE first < $1", [startS(year + 1)]);
      return "dropped";
    });
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    await pool.query(`DROP TABLE IF EXISTS ${rest}`);
    return "busy";
  }
}

/** Copies the rows to keep into a new table; replaces the table that an earlier attempt left behind. */
async function copyRest(pool: pg.Pool, old: string, rest: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query(`DROP TABLE IF EXISTS ${rest}`);
    await client.query(`CREATE TABLE ${rest} (LIKE kline INCLUDING ALL)`);
    await client.query(longQuery({ text: `INSERT INTO ${rest} SELECT * FROM ${old} WHERE ${KEPT}` }));
  });
}
