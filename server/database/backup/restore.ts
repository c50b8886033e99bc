import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { restorePartition } from "#lib/market/partitions";
import { applyInTransaction, holdMigrations } from "#prisma/migrate";
import { withConnection } from "./connection";
import { BackupError, type BackupSummary, damaged, End, Part, Sum } from "./format";
import type { OpenBackup } from "./open";
import type { BackupReader } from "./reader";
import { whoseTables } from "./tables";

/** Tables and functions of ours; what an extension brought stays. */
const DROPS = `SELECT format('DROP TABLE %s CASCADE', c.oid::regclass) AS statement FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  UNION ALL SELECT format('DROP FUNCTION %s CASCADE', p.oid::regprocedure) FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')`;

const NEIGHBOURS = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'spotwire%' AND pid <> pg_backend_pid()`;

/** A process that just ended is still listed for a moment. */
const NEIGHBOURS_LOOKS_COUNT = 40;

/** SQLSTATE classes of rows that do not fit their table: wrong values, keys twice, a column it does not have. */
const MISFIT_CODES = /^(22|23|42703)/;

interface RestoreOptions {
  /** PostgreSQL URL; never logged. */
  url: string;
  /** Just opened. */
  backup: OpenBackup;
  /** Puts the backup in the place of what the database holds. */
  replace: boolean;
}

async function hasNeighbours(client: pg.Client): Promise<boolean> {
  for (let look = 0; look < NEIGHBOURS_LOOKS_COUNT; look += 1) {
    const { rows } = await client.query<{ count: number }>(NEIGHBOURS);
    if (rows[0]?.count === 0) return false;
    // The list is fixed for a transaction unless it is asked for anew.
    await client.query("SELECT pg_sleep(0.05), pg_stat_clear_snapshot()");
  }
  return true;
}

/** Leaves the database without tables of ours, or refuses to. */
async function makeRoom(client: pg.Client, replace: boolean): Promise<void> {
  if (!(await holdMigrations(client)))
    throw new BackupError("Another process migrates the database now. Try again when it is done.");
  if (await hasNeighbours(client))
    throw new BackupError("A service or a command uses the database. Stop every one, then restore.");
  const whose = await whoseTables(client);
  if (whose === "foreign")
    throw new BackupError("The database holds tables that are not Spotwire's. Restore into one of its own.");
  if (whose === "none") return;
  if (!replace)
    throw new BackupError("The database is not empty. With --replace everything in it is lost and the backup takes its place.");
  const { rows: drops } = await client.query<{ statement: string }>(DROPS);
  for (const { statement } of drops) await client.query(statement);
}

/** Sends the rows to their table, and gives how many arrived and the hash of what was sent. */
async function copyRows(client: pg.Client, reader: BackupReader, { table, columns }: Part): Promise<Sum> {
  const names = columns.map((column) => pg.escapeIdentifier(column)).join(", ");
  const sink = client.query(copyFrom(`COPY ${pg.escapeIdentifier(table)} (${names}) FROM STDIN`));
  const hash = createHash("sha256");
  async function* hashed(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(Readable.from(reader.rows(), { objectMode: true, highWaterMark: 1 }), hashed, sink);
  } catch (error) {
    const { code = "", message } = error as pg.DatabaseError;
    throw error instanceof pg.DatabaseError && MISFIT_CODES.test(code)
      ? damaged(`rows of ${table} do not fit (${message})`)
      : error;
  }
  return { rows: sink.rowCount, sha256: hash.digest("hex") };
}

/** Loads one table and compares what arrived with what was sent; gives the number of rows. */
async function loadTable(client: pg.Client, reader: BackupReader, part: Part): Promise<number> {
  const name = pg.escapeIdentifier(part.table);
  const { rows: found } = await client.query<{ made: boolean }>("SELECT to_regclass($1) IS NOT NULL AS made", [name]);
  if (!found[0]?.made && !(await restorePartition(client, part.table)))
    throw new BackupError(`The backup has a table ${part.table} that this Spotwire does not know. Nothing was changed.`);
  // Rows that a migration itself puts in are in the backup as well.
  await client.query(`DELETE FROM ${name}`);
  const arrived = await copyRows(client, reader, part);
  const sum = await reader.line(Sum);
  if (sum.rows !== arrived.rows || sum.sha256 !== arrived.sha256)
    throw damaged(`the rows of ${part.table} are not those that were written`);
  return sum.rows;
}

const PartOrEnd = Part.or(End);

async function load(client: pg.Client, { header, reader }: OpenBackup): Promise<BackupSummary> {
  await applyInTransaction(client, header.migrations);
  let [tables, rows] = [0, 0];
  for (;;) {
    const line = await reader.line(PartOrEnd);
    if ("table" in line) {
      rows += await loadTable(client, reader, line);
      tables += 1;
      continue;
    }
    await reader.end();
    if (line.tables !== tables || line.rows !== rows) throw damaged("tables are missing");
    break;
  }
  for (const [name, value] of Object.entries(header.sequences))
    await client.query("SELECT setval($1::regclass, $2::bigint)", [pg.escapeIdentifier(name), value]);
  return { header, tables, rows };
}

/**
 * Puts a backup into an empty database, or with `replace` in the place of what Spotwire kept there. All or nothing: one
 * transaction, committed when every count and checksum was right. The tables are then those of the backup's version;
 * `migrate` brings them to this one.
 * @throws BackupError when the file or the database will not do; PostgreSQL's error when it cannot take the rows
 */
export async function restoreBackup({ url, backup, replace }: RestoreOptions): Promise<BackupSummary> {
  return withConnection(url, async (client) => {
    await client.query("BEGIN");
    await makeRoom(client, replace);
    const summary = await load(client, backup);
    // Before the end, so that nothing can fail once the rows are there for good.
    await client.query("ANALYZE");
    await client.query("COMMIT");
    return summary;
  });
}
