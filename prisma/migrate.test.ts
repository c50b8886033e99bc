import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { SEAL_BYTES } from "#server/database/backup/seal";
import { createStartUp } from "#server/store/database/db";
import { testServerUrl } from "#server/testing/database";
import { execute, onDatabase } from "#server/testing/database-server";
import { FILTERS, migrationList, readSchema, withEngine } from "./engine";
import { migrate, migrationNames, OtherVersionError } from "./migrate";

/** A backup of a database that Spotwire 0.1.0 made. */
const FORMER_BACKUP = "lib/testing/fixtures/release-0.1.0.backup";

/** Hand-written tables, which are not in schema.prisma. */
const RAW_TABLES =
  /^(kline_tail|history_\w+|tick_\w+|last_quote|venue_lease|venue_writer|lacking_minutes|watched_minutes|_prisma_migrations)$/;

describe("migrate", () => {
  let server: string;
  let name: string;
  let url: string;
  beforeEach(async () => {
    server = await testServerUrl();
    name = `migrate_${randomBytes(6).toString("hex")}`;
    url = onDatabase(server, name);
    await execute(server, `CREATE DATABASE ${name}`);
  });
  afterEach(() => execute(server, `DROP DATABASE ${name} WITH (FORCE)`));

  async function rows(statement: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }
  const recorded = () =>
    rows(
      "SELECT migration_name, applied_steps_count, finished_at IS NOT NULL AS finished FROM _prisma_migrations ORDER BY started_at",
    );

  test("migrate applies every migration in the folder once, and records it like prisma migrate deploy", async () => {
    const names = await migrationNames();
    expect(await migrate(url)).toEqual(names);
    expect(await migrate(url)).toEqual([]);
    expect(await recorded()).toEqual(names.map((migration_name) => ({ migration_name, applied_steps_count: 1, finished: true })));
    const diagnosis = await withEngine({ connectionString: url }, async (engine) =>
      engine.diagnoseMigrationHistory({ migrationsList: await migrationList(), optInToShadowDatabase: false, filters: FILTERS }),
    );
    expect(diagnosis).toMatchObject({
      editedMigrationNames: [],
      failedMigrationNames: [],
      hasMigrationsTable: true,
      history: null,
    });
  });

  test("migrations are applied once when several processes start at the same time", async () => {
    const names = await migrationNames();
    const start = () => createStartUp({ url, waitS: 60, clock: systemClock, log: createLog("silent") }).run(() => migrate(url));
    const applied = await Promise.all([start(), start(), start()]);
    expect(applied.flat()).toEqual(names);
    expect(await recorded()).toHaveLength(names.length);
  });

  /** Columns, indexes and constraints in PostgreSQL's description, without those of hand-written tables. */
  async function shape(): Promise<string[]> {
    const described = await rows(`
      SELECT table_name AS "table", concat_ws(' ', 'column', column_name, udt_name, datetime_precision, is_nullable, column_default) AS what
        FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'
      UNION ALL SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0
      ORDER BY 1, 2`);
    return described.filter(({ table }) => !RAW_TABLES.test(String(table))).map(({ table, what }) => `${table}: ${what}`);
  }

  test("migrations give the tables of schema.prisma and the hand-written ones", async () => {
    const { stdout } = await withEngine({ connectionString: url }, async (engine) =>
      engine.diff({
        from: { tag: "empty" },
        to: { tag: "schemaDatamodel", ...(await readSchema()) },
        script: true,
        exitCode: null,
        filters: FILTERS,
      }),
    );
    await execute(url, stdout ?? "");
    const wanted = await shape();
    expect(wanted.length).toBeGreaterThan(50);
    await execute(url, "DROP SCHEMA public CASCADE");
    await execute(url, "CREATE SCHEMA public");
    await migrate(url);
    expect(await shape()).toEqual(wanted);
  });

  test("a failed migration leaves no changes, its error has PostgreSQL's message, and the next start tries again", async () => {
    await execute(url, "CREATE TYPE plan AS ENUM ()");
    await expect(migrate(url)).rejects.toThrow(/could not be migrated.*plan.*already exists/s);
    expect(await rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
    await execute(url, "DROP TYPE plan");
    expect(await migrate(url)).toEqual(await migrationNames());
  });

  test("migrate rejects a database in which a migration of Prisma's own command failed", async () => {
    await migrate(url);
    await execute(url, "UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '0001_initial'");
    await expect(migrate(url)).rejects.toThrow(/0001_initial failed earlier.*Restore a backup/);
  });

  test("a role that may not create tables is told what its owner has to run, before anything is made", async () => {
    const role = `reader_${randomBytes(6).toString("hex")}`;
    await execute(server, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    onTestFinished(() => execute(server, `DROP ROLE ${role}`));
    const asRole = new URL(url);
    Object.assign(asRole, { username: role, password: "secret" });
    await expect(migrate(asRole.href)).rejects.toThrow(
      `The role ${role} may not create tables in its schema public. As the owner of the database: GRANT CREATE ON SCHEMA public TO ${role}`,
    );
    expect(await rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  });

  test("migrate rejects a database that a release up to 0.2.0 made, says how to take its history along, and changes nothing", async () => {
    const backup = (await readFile(FORMER_BACKUP)).subarray(0, -SEAL_BYTES);
    const [header = ""] = gunzipSync(backup).toString("latin1").split("\n", 1);
    const { migrations } = JSON.parse(header) as { migrations: string[] };
    await migrate(url);
    await execute(url, "DELETE FROM _prisma_migrations");
    for (const name of migrations)
      await execute(
        url,
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('${name}', '', '${name}', now())`,
      );
    const before = await recorded();
    await expect(migrate(url)).rejects.toThrow(OtherVersionError);
    await expect(migrate(url)).rejects.toThrow(
      /made by Spotwire 0\.2\.0 or earlier.*npm run export.*import the files here into an empty database/,
    );
    expect(await recorded()).toEqual(before);
  });

  test.each([
    ["applied", "now()"],
    ["begun", "NULL"],
  ])("migrate rejects a database in which a newer version has %s a migration, and changes nothing", async (_, finished) => {
    await migrate(url);
    // With a migration to come.
    await execute(url, "DELETE FROM _prisma_migrations");
    await execute(
      url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
      VALUES ('of a newer one', 'unknown', '9999_later', ${finished})`,
    );
    const before = await recorded();
    await expect(migrate(url)).rejects.toThrow(OtherVersionError);
    await expect(migrate(url)).rejects.toThrow(/newer Spotwire: it has 9999_later, .*Use the newer version.*restore a backup/);
    expect(await recorded()).toEqual(before);
  });

  test("migrate rejects a database that contains other tables", async () => {
    await execute(url, "CREATE TABLE somebody_elses (id integer)");
    await expect(migrate(url)).rejects.toThrow(/could not be migrated.*public is not empty.*somebody_elses/s);
  });
});
