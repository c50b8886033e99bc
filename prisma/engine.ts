import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory, type SqlMigrationAwareDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import type { MigrationList, SchemaEngine, SchemasContainer } from "@prisma/schema-engine-wasm";
import * as glue from "@prisma/schema-engine-wasm/schema_engine_bg";
import pg from "pg";
import { Connection } from "#server/store/database/connection";
import { migrationNames, readMigrations } from "./migrate";

/**
 * Prisma's schema engine as WebAssembly, for the tests that compare the migrations with schema.prisma: a service applies its migrations
 * itself (migrate.ts). Its version is pinned to the one that the Prisma release in package.json requires.
 */

const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const SCHEMA_FILE = path.join(FOLDER, "schema.prisma");
const MIGRATIONS_FOLDER = path.join(FOLDER, "migrations");
const LOCK_FILE = "migration_lock.toml";

/** Tables created by hand-written migrations, which are not in schema.prisma. */
const RAW_TABLES = [
  "public.last_quote",
  "public.venue_lease",
  "public.venue_writer",
  "public.lacking_minutes",
  "public.watched_minutes",
  "public.history_content",
  "public.history_layer",
  "public.history_visible",
  "public.history_derived",
  "public.tick_segment",
  "public.tick_tail",
  "public.history_change",
  "public.history_place",
  "public.kline_tail",
];

/** Excluded from all comparisons: the hand-written tables. */
export const FILTERS = { externalTables: RAW_TABLES, externalEnums: [] };

/** The bindings keep their instance in their module, so it is created once per process. */
let instance: Promise<void> | undefined;

/**
 * The imports of the engine. The engine sets a timer of ten seconds to get Prisma's lock and does not clear it, which would
 * keep a command running after a migration.
 */
function imports(): WebAssembly.ModuleImports {
  const timers = Object.keys(glue).filter((name) => name.startsWith("__wbg_setTimeout_"));
  const unreferenced = (work: () => void, ms: number) => setTimeout(work, ms >>> 0).unref();
  return { ...(glue as WebAssembly.ModuleImports), ...Object.fromEntries(timers.map((name) => [name, unreferenced])) };
}

async function instantiate(): Promise<void> {
  const gluePath = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const bytes = await readFile(path.join(path.dirname(gluePath), "schema_engine_bg.wasm"));
  const { instance: made } = await WebAssembly.instantiate(bytes, { "./schema_engine_bg.js": imports() });
  const exports = made.exports as WebAssembly.Exports & { __wbindgen_start(): void };
  (glue as unknown as { __wbg_set_wasm(wasm: WebAssembly.Exports): void }).__wbg_set_wasm(exports);
  exports.__wbindgen_start();
}

/** The schema file, in the engine's format. */
export async function readSchema(): Promise<SchemasContainer> {
  return { files: [{ path: SCHEMA_FILE, content: await readFile(SCHEMA_FILE, "utf8") }] };
}

/** The migrations folder, in the engine's format. */
export async function migrationList(): Promise<MigrationList> {
  const migrations = await readMigrations(await migrationNames());
  return {
    baseDir: MIGRATIONS_FOLDER,
    lockfile: { path: LOCK_FILE, content: await readFile(path.join(MIGRATIONS_FOLDER, LOCK_FILE), "utf8") },
    shadowDbInitScript: "",
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: "migration.sql", content: { tag: "ok" as const, value: sql } },
    })),
  };
}

/**
 * The database driver for the engine. PrismaPg splits a script at every semicolon, including those in comments and function
 * bodies, and runs the pieces separately. This driver sends the whole script as one implicit transaction, like Prisma's binary,
 * so that a failed migration leaves no changes.
 */
function wholeScripts(pool: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool);
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connectToShadowDb: () => factory.connectToShadowDb(),
    async connect() {
      const adapter = await factory.connect();
      adapter.executeScript = async (script) => {
        await adapter.executeRaw({ sql: script, args: [], argTypes: [] });
      };
      return adapter;
    },
  };
}

/**
 * Opens the engine on one database for the duration of `work`.
 * @throws Error with the engine's message, including Prisma's error code, when `work` fails in the engine.
 */
export async function withEngine<Result>(
  config: pg.PoolConfig,
  work: (engine: SchemaEngine) => Promise<Result>,
): Promise<Result> {
  instance ??= instantiate();
  await instance;
  const { SchemaEngine: Engine } = glue as unknown as { SchemaEngine: typeof SchemaEngine };
  const { files } = await readSchema();
  const datamodels = files.map((file): [string, string] => [file.path, file.content]);
  // The engine leaves its connections open when it is freed, so this function owns the pool and ends it.
  const pool = new pg.Pool({ ...config, max: 1, Client: Connection });
  let engine: SchemaEngine | undefined;
  try {
    engine = await Engine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(wholeScripts(pool)));
    return await work(engine);
  } finally {
    engine?.free();
    await pool.end();
  }
}
