import type pg from "pg";
import { inTransaction } from "#server/store/history/transaction";

/** Years that may have a partition; a row outside is a mistake, not history. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2199;
/** Held while partitions are created or replaced, so that two processes never work on the same one. */
const PARTITION_LOCK = 0x6b6c696e;

const nameOf = (year: number) => `kline_y${year}`;
const yearOf = (name: string) => Number(/^kline_y(\d{4})$/.exec(name)?.[1]);
const startS = (year: number) => Date.UTC(year, 0) / 1000;
const utcYear = (timeS: number) => new Date(timeS * 1000).getUTCFullYear();
const isStorable = (year: number) => year >= FIRST_YEAR && year <= LAST_YEAR;
const attach = (table: string, year: number) =>
  `ALTER TABLE kline ATTACH PARTITION ${table} FOR VALUES FROM (${startS(year)}) TO (${startS(year + 1)})`;

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
