import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { MigrationList } from "@prisma/schema-engine-wasm";
import pg from "pg";
import { isDatabaseAway } from "#lib/storage-errors";
import { connectionConfig, longQuery } from "#server/store/database/db";
import manifest from "../package.json" with { type: "json" };
import { FILTERS, readMigrations, withEngine } from "./engine";

/** Held while migrating, so that the second of two starting processes finds all migrations applied. "spot" in ASCII. */
const ADVISORY_LOCK = 0x73706f74;
const LOCK_POLL_MS = 100;

/** Prisma's table of applied migrations, as its engine creates it. */
const RECORD_TABLE = `CREATE TABLE _prisma_migrations (
  id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz,
  migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`;
const RECORD = `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
  VALUES (gen_random_uuid()::text, $1, clock_timestamp(), $2, 1)`;

const textOf = ({ migrationFile: { content } }: MigrationList["migrationDirectories"][number]) =>
  content.tag === "ok" ? content.value : "";
const checksumOf = (text: string) => createHash("sha256").update(text).digest("hex");

/**
 * Waits for the lock without a time limit, because another process may migrate for long. It polls, because a single waiting
 * query could not be distinguished from a stalled network.
 */
async function takeLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [ADVISORY_LOCK]);
    if (rows[0]?.taken) return;
    await delay(LOCK_POLL_MS);
  }
}

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
  readonly checksum: string;
  readonly finished: boolean;
}

/** The migrations that were applied, or that failed; undefined in a database that has never been migrated. */
async function readRecorded(client: pg.Client): Promise<Recorded[] | undefined> {
  const { rows: tables } = await client.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS made");
  if (!tables[0]?.made) return undefined;
  const { rows } = await client.query<Recorded>(
    "SELECT migration_name, checksum, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY 1",
  );
  return rows;
}

/**
 * Whether all migrations in the folder are recorded as applied with their current text; otherwise the engine is needed.
 * @throws NewerDatabaseError when others are recorded
 */
async function isUpToDate(client: pg.Client, { migrationDirectories }: MigrationList): Promise<boolean> {
  const recorded = await readRecorded(client);
  if (recorded === undefined) return false;
  const known = new Set(migrationDirectories.map(({ path }) => path));
  const unknown = recorded.filter(({ migration_name }) => !known.has(migration_name));
  if (unknown.length > 0) throw new NewerDatabaseError(unknown.map(({ migration_name }) => migration_name));
  const applied = new Map(recorded.flatMap((row) => (row.finished ? [[row.migration_name, row.checksum]] : [])));
  return migrationDirectories.every((migration) => applied.get(migration.path) === checksumOf(textOf(migration)));
}

/**
 * Applies all pending migrations, like `prisma migrate deploy` and with the same records. Returns the names of the applied
 * migrations. Safe when several processes start at the same time.
 * @throws the error of pg when the database cannot be reached; NewerDatabaseError when a newer version has migrated it;
 * otherwise Error with Prisma's message: a migration failed earlier, or the database contains other tables
 */
export async function migrate(connectionString: string): Promise<string[]> {
  const list = await readMigrations();
  const client = new pg.Client(connectionConfig(connectionString));
  // A connection that breaks while idle would end the process; one that breaks during a query fails that query.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await takeLock(client);
    if (await isUpToDate(client, list)) return [];
    const input = { migrationsList: list, filters: FILTERS };
    const { appliedMigrationNames } = await withEngine(longQuery(connectionConfig(connectionString)), (engine) =>
      engine.applyMigrations(input),
    );
    return appliedMigrationNames;
  } catch (error) {
    if (isDatabaseAway(error) || error instanceof NewerDatabaseError) throw error;
    throw new Error(`The database could not be migrated: ${error instanceof Error ? error.message.trim() : String(error)}`, {
      cause: error,
    });
  } finally {
    // Ends the session, which releases the lock.
    await client.end().catch(() => undefined);
  }
}

/** Names of the migrations of this version, oldest first. */
export async function migrationNames(): Promise<string[]> {
  return (await readMigrations()).migrationDirectories.map(({ path }) => path);
}

/**
 * Makes every `migrate` wait until the caller's transaction ends; false when another process is migrating.
 */
export async function holdMigrations(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS held", [ADVISORY_LOCK]);
  return rows[0]?.held === true;
}

/**
 * Applies these migrations inside the caller's transaction (the engine would use its own connections) and records them like
 * the engine. The database must contain none of Spotwire's tables.
 * @throws PostgreSQL's error when a script fails
 */
export async function applyInTransaction(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  await client.query(RECORD_TABLE);
  for (const migration of (await readMigrations()).migrationDirectories) {
    if (!names.includes(migration.path)) continue;
    await client.query(textOf(migration));
    await client.query(RECORD, [checksumOf(textOf(migration)), migration.path]);
  }
}
