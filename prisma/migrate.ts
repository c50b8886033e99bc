import { createHash } from "node:crypto";
import type { MigrationList } from "@prisma/schema-engine-wasm";
import pg from "pg";
import { FILTERS, readMigrations, withEngine } from "./engine";

/** Held while migrating, so that of two starting processes the second finds everything done. "spot" in ASCII. */
const ADVISORY_LOCK = 0x73706f74;

/** The folder's migrations that are recorded as applied with the text they have now; others need the engine. */
async function isUpToDate(client: pg.Client, list: MigrationList): Promise<boolean> {
  const { rows: tables } = await client.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS made");
  if (!tables[0]?.made) return false;
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    "SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL",
  );
  const applied = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  return list.migrationDirectories.every(({ path, migrationFile: { content } }) => {
    const text = content.tag === "ok" ? content.value : "";
    return applied.get(path) === createHash("sha256").update(text).digest("hex");
  });
}

/**
 * Brings the database to the newest migration, as `prisma migrate deploy` does and recorded in the same table; gives
 * the names it applied. Safe when several processes start at once.
 * @throws Error with Prisma's words: a migration that failed before, or a database that holds other tables already.
 */
export async function migrate(connectionString: string): Promise<string[]> {
  const list = await readMigrations();
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [ADVISORY_LOCK]);
    if (await isUpToDate(client, list)) return [];
    const input = { migrationsList: list, filters: FILTERS };
    const { appliedMigrationNames } = await withEngine({ connectionString }, (engine) => engine.applyMigrations(input));
    return appliedMigrationNames;
  } catch (error) {
    throw new Error(`The database could not be migrated: ${error instanceof Error ? error.message.trim() : String(error)}`, {
      cause: error,
    });
  } finally {
    // Ends the session, and with it the lock.
    await client.end();
  }
}
