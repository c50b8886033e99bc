import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { isDatabaseAway } from "#lib/storage-errors";
import { Connection, connectionConfig, longQuery, onConnection } from "#server/store/database/connection";
import { BusyDatabaseError } from "#server/store/database/db";
import manifest from "../package.json" with { type: "json" };

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), "migrations");

/** Held while migrating, so that the second of two starting processes finds all migrations applied. "spot" in ASCII. */
const ADVISORY_LOCK = 0x73706f74;

/** The first migration of the releases up to 0.2.0, whose tables this version does not read. */
const FORMER = "0001_init";

/** Prisma's table of applied migrations, as its engine creates it. */
const RECORD_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz,
  migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`;
const RECORD = `INSERT INTO _prisma_migrations (id, checksum, started_at, finished_at, migration_name, applied_steps_count)
  VALUES (gen_random_uuid()::text, $1, clock_timestamp(), clock_timestamp(), $2, 1)`;

/** A migration of this version. */
interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Names of the migrations of this version, oldest first. */
export async function migrationNames(): Promise<string[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
}

/** Reads those of these names. */
export function readMigrations(names: readonly string[]): Promise<Migration[]> {
  const read = async (name: string) => ({ name, sql: await readFile(path.join(FOLDER, name, "migration.sql"), "utf8") });
  return Promise.all(names.map(read));
}

const checksumOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** What a database says of its role and of its migrations before anything is changed. */
interface State {
  readonly schema: string;
  readonly role: string;
  readonly may_create: boolean;
  /** Whether Prisma's table is there. */
  readonly made: boolean;
  /** A table of somebody else, in a database without Prisma's table. */
  readonly foreign: string | null;
}

const STATE = `SELECT current_schema() AS schema, current_user AS role,
  has_schema_privilege(current_schema(), 'CREATE') AS may_create, to_regclass('_prisma_migrations') IS NOT NULL AS made,
  (SELECT min(relname) FROM pg_class c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')) AS foreign`;

/** The process that has the lock, for a message. */
const HOLDER = `SELECT concat_ws(' ', 'process', a.pid, 'from', coalesce(host(a.client_addr), 'this machine'), 'since',
    to_char(a.xact_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS who
  FROM pg_locks l JOIN pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid = 0 AND l.objid = $1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** A database of another version. Starting again does not help: the operator has to choose a version. */
export class OtherVersionError extends Error {
  override readonly name = "OtherVersionError";
}

/** Which version made what has migrations that this one does not have, and what to do about it; undefined where it has all of them. */
export function otherVersion(what: string, unknown: readonly string[]): string | undefined {
  if (unknown.includes(FORMER))
    return `${what} was made by Spotwire 0.2.0 or earlier, which Spotwire ${manifest.version} does not read. Nothing was changed. Start it with the release that made it, export its history there (npm run export), and import the files here into an empty database.`;
  if (unknown.length === 0) return undefined;
  return `${what} was made by a newer Spotwire: it has ${unknown.join(", ")}, which Spotwire ${manifest.version} does not know. Nothing was changed. Use the newer version. To go back to this one, restore a backup that it made before the upgrade.`;
}

interface Recorded {
  readonly migration_name: string;
  readonly finished: boolean;
}

async function readRecorded(client: pg.ClientBase): Promise<Recorded[]> {
  const { rows } = await client.query<Recorded>(
    "SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY 1",
  );
  return rows;
}

/**
 * The names of the migrations that the database lacks.
 * @throws OtherVersionError when others are recorded; Error with what stands in the way
 */
async function pendingOf(client: pg.ClientBase, state: State): Promise<string[]> {
  const names = await migrationNames();
  if (!state.made) {
    if (state.foreign !== null)
      throw new Error(
        `Its schema ${state.schema} is not empty: it has a table ${state.foreign} that is not Spotwire's. Use a separate database or schema`,
      );
    return names;
  }
  const recorded = await readRecorded(client);
  const other = otherVersion(
    "The database",
    recorded.map(({ migration_name }) => migration_name).filter((name) => !names.includes(name)),
  );
  if (other !== undefined) throw new OtherVersionError(other);
  const failed = recorded.find(({ finished }) => !finished);
  if (failed !== undefined)
    throw new Error(`Its migration ${failed.migration_name} failed earlier and was not rolled back. Restore a backup`);
  return names.filter((name) => !recorded.some(({ migration_name }) => migration_name === name));
}

/**
 * Makes every `migrate` wait until the caller's transaction ends; false when another process is migrating.
 */
export async function holdMigrations(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS held", [ADVISORY_LOCK]);
  return rows[0]?.held === true;
}

/**
 * Applies these migrations inside the caller's transaction and records them like Prisma's engine.
 * @throws PostgreSQL's error when a script fails
 */
export async function applyInTransaction(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  await client.query(RECORD_TABLE);
  for (const { name, sql } of await readMigrations(names)) {
    await client.query(longQuery({ text: sql }));
    await client.query(RECORD, [checksumOf(sql), name]);
  }
}

/** Applies what is pending, in a transaction that has the lock. */
async function migrateIn(client: pg.ClientBase): Promise<string[]> {
  if (!(await holdMigrations(client))) {
    const { rows } = await client.query<{ who: string }>(HOLDER, [ADVISORY_LOCK]);
    throw new BusyDatabaseError(`another process migrates it${rows[0] === undefined ? "" : ` (${rows[0].who})`}`);
  }
  const { rows } = await client.query<State>(STATE);
  const [state] = rows as [State];
  const pending = await pendingOf(client, state);
  if (pending.length === 0) return [];
  if (!state.may_create)
    throw new Error(
      `The role ${state.role} may not create tables in its schema ${state.schema}. As the owner of the database: GRANT CREATE ON SCHEMA ${state.schema} TO ${state.role}, or give the role a schema of its own: CREATE SCHEMA AUTHORIZATION ${state.role}`,
    );
  // A migration of much data can take longer than a server allows a transaction to rest between two scripts.
  await client.query(
    "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0",
  );
  await applyInTransaction(client, pending);
  return pending;
}

/**
 * Applies all pending migrations in one transaction, with the records of `prisma migrate deploy`. Returns the names of the applied
 * migrations. Safe when several processes start at the same time.
 * @throws the error of pg when the database cannot be reached; BusyDatabaseError while another process migrates; OtherVersionError when
 * another version made it; otherwise Error with the reason. Then nothing was changed
 */
export async function migrate(connectionString: string): Promise<string[]> {
  try {
    return await onConnection(new Connection(connectionConfig(connectionString)), async (client) => {
      await client.query("BEGIN");
      const applied = await migrateIn(client);
      await client.query("COMMIT");
      return applied;
    });
  } catch (error) {
    if (isDatabaseAway(error) || error instanceof OtherVersionError || error instanceof BusyDatabaseError) throw error;
    throw new Error(`The database could not be migrated: ${error instanceof Error ? error.message.trim() : String(error)}.`, {
      cause: error,
    });
  }
}
