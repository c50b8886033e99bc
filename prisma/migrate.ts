import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { isDatabaseAway } from "#lib/storage-errors";
import { Connection, connectionConfig, longQuery } from "#server/store/database/connection";
import { BusyDatabaseError } from "#server/store/database/db";
import manifest from "../package.json" with { type: "json" };

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), "migrations");

/** Held while migrating, so that the second of two starting processes finds all migrations applied. "spot" in ASCII. */
const ADVISORY_LOCK = 0x73706f74;

/** The first migration that only a release applies whose sessions are all in UTC. */
const UTC_MIGRATION = "0045_sessions_in_utc";

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

/** The migrations of this version, oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const read = async (name: string) => ({ name, sql: await readFile(path.join(FOLDER, name, "migration.sql"), "utf8") });
  return Promise.all(names.sort().map(read));
}

const checksumOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** What a database says of its role and of its migrations before anything is changed. */
interface State {
  readonly schema: string;
  readonly role: string;
  readonly database: string;
  readonly may_create: boolean;
  /** Whether Prisma's table is there. */
  readonly made: boolean;
  /** A table of somebody else, in a database without Prisma's table. */
  readonly foreign: string | null;
}

const STATE = `SELECT current_schema() AS schema, current_user AS role, current_database() AS database,
  has_schema_privilege(current_schema(), 'CREATE') AS may_create, to_regclass('_prisma_migrations') IS NOT NULL AS made,
  (SELECT min(relname) FROM pg_class c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')) AS foreign`;

/** The process that has the lock, for a message. */
const HOLDER = `SELECT concat_ws(' ', 'process', a.pid, 'from', coalesce(host(a.client_addr), 'this machine'), 'since',
    to_char(a.xact_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS who
  FROM pg_locks l JOIN pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid = 0 AND l.objid = $1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** A database that a newer version has migrated. Starting again does not help: the operator has to choose a version. */
export class NewerDatabaseError extends Error {
  override readonly name = "NewerDatabaseError";

  /** @param migrations names of those that this version does not have */
  constructor(migrations: readonly string[]) {
    super(
      `The database was migrated by a newer Spotwire: it has ${migrations.join(", ")}, which Spotwire ${manifest.version} does not know. Nothing was changed. ` +
        "Start the newer version. To go back to this one, restore a backup that was made before the upgrade, with this version.",
    );
  }
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

/** The time zone of a session that asks for none. */
async function zoneOf(connectionString: string): Promise<string> {
  // The one place that wants the session as the server, the database and the role set it.
  const client = new pg.Client(connectionConfig(connectionString));
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ zone: string }>("SELECT current_setting('TimeZone') AS zone");
    return rows[0]?.zone ?? "unknown";
  } finally {
    await client.end().catch(() => undefined);
  }
}

const UTC_NAMES = /^(etc\/)?(utc|uct|gmt|universal|zulu|greenwich)$/i;

/**
 * An earlier version wrote times in the zone of its sessions and read them as UTC.
 * @throws Error when that was another zone, so that rows can be wrong by hours
 */
async function refuseShifted(client: pg.ClientBase, url: string): Promise<void> {
  const zone = await zoneOf(url);
  if (UTC_NAMES.test(zone)) return;
  const { rows } = await client.query<{ accounts: number; keys: number }>(
    `SELECT (SELECT count(*)::int FROM account) AS accounts, (SELECT count(*)::int FROM api_key) AS keys`,
  );
  throw new Error(
    `Its time zone is ${zone}, and an earlier Spotwire filled it (accounts: ${rows[0]?.accounts}, keys: ${rows[0]?.keys}): times of keys, sessions, use and changes in it can be wrong by hours, and nothing tells which. Start with an empty database`,
  );
}

/**
 * The migrations that the database lacks.
 * @throws NewerDatabaseError when others are recorded; Error with what stands in the way
 */
async function pendingOf(client: pg.ClientBase, url: string, state: State): Promise<Migration[]> {
  const migrations = await readMigrations();
  if (!state.made) {
    if (state.foreign !== null)
      throw new Error(
        `Its schema ${state.schema} is not empty: it has a table ${state.foreign} that is not Spotwire's. Use a separate database or schema`,
      );
    return migrations;
  }
  const recorded = await readRecorded(client);
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = recorded.filter(({ migration_name }) => !known.has(migration_name));
  if (unknown.length > 0) throw new NewerDatabaseError(unknown.map(({ migration_name }) => migration_name));
  const failed = recorded.find(({ finished }) => !finished);
  if (failed !== undefined)
    throw new Error(`Its migration ${failed.migration_name} failed earlier and was not rolled back. Restore a backup`);
  const applied = new Set(recorded.map(({ migration_name }) => migration_name));
  if (applied.size > 0 && !applied.has(UTC_MIGRATION)) await refuseShifted(client, url);
  return migrations.filter(({ name }) => !applied.has(name));
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
async function apply(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  await client.query(RECORD_TABLE);
  for (const { name, sql } of migrations) {
    await client.query(longQuery({ text: sql }));
    await client.query(RECORD, [checksumOf(sql), name]);
  }
}

/** The same for those of these names. The database must contain none of Spotwire's tables. */
export async function applyInTransaction(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  await apply(
    client,
    (await readMigrations()).filter(({ name }) => names.includes(name)),
  );
}

/** Applies what is pending, in a transaction that has the lock. */
async function migrateIn(client: pg.ClientBase, url: string): Promise<string[]> {
  if (!(await holdMigrations(client))) {
    const { rows } = await client.query<{ who: string }>(HOLDER, [ADVISORY_LOCK]);
    throw new BusyDatabaseError(`another process migrates it${rows[0] === undefined ? "" : ` (${rows[0].who})`}`);
  }
  const { rows } = await client.query<State>(STATE);
  const [state] = rows as [State];
  const pending = await pendingOf(client, url, state);
  if (pending.length === 0) return [];
  if (!state.may_create)
    throw new Error(
      `The role ${state.role} may not create tables in its schema ${state.schema}. As the owner of the database: GRANT CREATE ON SCHEMA ${state.schema} TO ${state.role}, or give the role a schema of its own: CREATE SCHEMA AUTHORIZATION ${state.role}`,
    );
  // A migration of much data can take longer than a server allows a transaction to rest between two scripts.
  await client.query(
    "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0",
  );
  await apply(client, pending);
  return pending.map(({ name }) => name);
}

/**
 * Applies all pending migrations in one transaction, with the records of `prisma migrate deploy`. Returns the names of the applied
 * migrations. Safe when several processes start at the same time.
 * @throws the error of pg when the database cannot be reached; BusyDatabaseError while another process migrates; NewerDatabaseError when a
 * newer version has migrated it; otherwise Error with the reason. Then nothing was changed
 */
export async function migrate(connectionString: string): Promise<string[]> {
  const client = new Connection(connectionConfig(connectionString));
  // A connection that breaks while idle would end the process; one that breaks during a query fails that query.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("BEGIN");
    const applied = await migrateIn(client, connectionString);
    await client.query("COMMIT");
    return applied;
  } catch (error) {
    if (isDatabaseAway(error) || error instanceof NewerDatabaseError || error instanceof BusyDatabaseError) throw error;
    throw new Error(`The database could not be migrated: ${error instanceof Error ? error.message.trim() : String(error)}.`, {
      cause: error,
    });
  } finally {
    // Ends the session, which rolls back what is not committed.
    await client.end().catch(() => undefined);
  }
}

/** Names of the migrations of this version, oldest first. */
export async function migrationNames(): Promise<string[]> {
  return (await readMigrations()).map(({ name }) => name);
}
