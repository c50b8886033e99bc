import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { applyInTransaction, holdMigrations } from "#prisma/migrate";
import { withConnection } from "./connection";
import { BackupError, type BackupSummary, damaged, End, Part, Sum } from "./format";
import type { OpenBackup } from "./open";
import type { BackupReader } from "./reader";
import { isAsStarted, whoseTables } from "./tables";

/** Drops Spotwire's tables and functions; those of extensions stay. */
const DROPS = `SELECT format('DROP TABLE %s CASCADE', c.oid::regclass) AS statement FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  UNION ALL SELECT format('DROP FUNCTION %s CASCADE', p.oid::regprocedure) FROM pg_proc p
  WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')`;

const NEIGHBOURS = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'spotwire%' AND pid <> pg_backend_pid()`;

/** A process that has just ended stays listed for a moment. */
const NEIGHBOURS_LOOKS_COUNT = 40;

/** SQLSTATE classes of rows that do not match their table: invalid values, duplicate keys, an unknown column. */
const MISFIT_CODES = /^(22|23|42703)/;

/** Rows that open the portal to whoever had it open at the time of the backup: browsers, and links in emails. */
const VOIDED_TABLES = ["portal_session", "one_time_token", "invitation"];

interface RestoreOptions {
  /** PostgreSQL URL; never logged. */
  url: string;
  /** Positioned at its first table. */
  backup: OpenBackup;
  /** Replaces the contents of the database with the backup. */
  replace: boolean;
}

async function hasNeighbours(client: pg.Client): Promise<boolean> {
  for (let look = 0; look < NEIGHBOURS_LOOKS_COUNT; look += 1) {
    const { rows } = await client.query<{ count: number }>(NEIGHBOURS);
    if (rows[0]?.count === 0) return false;
    // Within a transaction the list stays the same until the snapshot is cleared.
    await client.query("SELECT pg_sleep(0.05), pg_stat_clear_snapshot()");
  }
  return true;
}

/** Drops Spotwire's tables, or throws when that is not allowed. */
async function makeRoom(client: pg.Client, replace: boolean): Promise<void> {
  if (!(await holdMigrations(client)))
    throw new BackupError("Another process is migrating the database. Try again when it is done.");
  if (await hasNeighbours(client))
    throw new BackupError("A service or a command is using the database. Stop all of them, then restore.");
  const whose = await whoseTables(client);
  if (whose === "foreign")
    throw new BackupError("The database contains tables that are not Spotwire's. Restore into a separate database.");
  if (whose === "none") return;
  if (!replace && !(await isAsStarted(client)))
    throw new BackupError("The database is not empty. Use --replace to delete everything in it and restore the backup.");
  const { rows: drops } = await client.query<{ statement: string }>(DROPS);
  for (const { statement } of drops) await client.query(statement);
}

/** Copies the rows into their table. Returns the number of rows received and the hash of the data sent. */
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
      ? damaged(`rows of ${table} do not match the table (${message})`)
      : error;
  }
  return { rows: sink.rowCount, sha256: hash.digest("hex") };
}

/** Loads one table and verifies the number of rows and the hash. Returns the number of rows. */
async function loadTable(client: pg.Client, reader: BackupReader, part: Part): Promise<number> {
  const name = pg.escapeIdentifier(part.table);
  const { rows: found } = await client.query<{ made: boolean }>("SELECT to_regclass($1) IS NOT NULL AS made", [name]);
  if (!found[0]?.made)
    throw new BackupError(`The backup contains a table ${part.table} that this version does not have. Nothing was changed.`);
  // Rows that a migration inserts are in the backup too.
  await client.query(`DELETE FROM ${name}`);
  const arrived = await copyRows(client, reader, part);
  const sum = await reader.line(Sum);
  if (sum.rows !== arrived.rows || sum.sha256 !== arrived.sha256)
    throw damaged(`the rows of ${part.table} do not match their checksum`);
  return sum.rows;
}

const PartOrEnd = Part.or(End);

async function load(client: pg.Client, { header, reader }: OpenBackup): Promise<BackupSummary> {
  await applyInTransaction(client, [...new Set(header.migrations)].sort());
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

/** Ends all sessions and voids all links: those that ended since the backup was made would work again. */
async function voidSessions(client: pg.Client): Promise<void> {
  for (const table of VOIDED_TABLES) await client.query(`DELETE FROM ${table}`);
}

/**
 * Restores a backup into an empty database, or with `replace` over Spotwire's data. All or nothing: one transaction, committed
 * when all counts and checksums match, without sessions and links in emails. The tables then have the backup's version; `migrate` updates them.
 * @throws BackupError when the file or the database is not suitable; PostgreSQL's error when it cannot store the rows
 */
export async function restoreBackup({ url, backup, replace }: RestoreOptions): Promise<BackupSummary> {
  return withConnection(url, async (client) => {
    await client.query("BEGIN");
    await makeRoom(client, replace);
    const summary = await load(client, backup);
    await voidSessions(client);
    // Before the commit, so that nothing can fail after it.
    await client.query("ANALYZE");
    await client.query("COMMIT");
    return summary;
  });
}
