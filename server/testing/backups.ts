import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type pg from "pg";
import { onTestFinished } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { backupCommand, restoreCommand } from "#server/cli/backup";
import { Connection } from "#server/store/database/connection";
import { type TestDatabase, testDatabase, testServerUrl } from "./database";
import { execute, onDatabase } from "./database-server";
import { storeTail } from "./layered";
import { TEST_SECRET } from "./runtime";
import { commandOutcome } from "./terminal";

/** The clock of backups in tests. */
export const BACKUP_NOW_MS = Date.UTC(2026, 5, 1, 12);

/** A directory for backups, and the databases of the tests that use it. */
export interface BackupBench {
  /** Path of a file in the directory. */
  at(name: string): string;
  /** URL of a new database without tables. */
  emptyDatabase(): Promise<string>;
  /** Runs `npm run backup -- …args` or `restore` in this process. @throws Error with what it printed when it fails */
  command(name: "backup" | "restore", url: string, ...args: string[]): Promise<string>;
  /** Drops the databases and removes the directory. */
  close(): Promise<void>;
}

/**
 * Runs a command in this process with these variables and returns its output. @throws Error with what it printed when it fails
 */
export async function runBackup(
  name: "backup" | "restore",
  variables: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<string> {
  const options = {
    clock: manualClock(BACKUP_NOW_MS),
    variables: { DATABASE_POOL_SIZE: "2", DATABASE_WAIT_S: "0", NEXTAUTH_SECRET: TEST_SECRET, ...variables },
  };
  const { exitCode, output, errors } =
    name === "backup" ? await commandOutcome(backupCommand, args, options) : await commandOutcome(restoreCommand, args, options);
  if (exitCode !== 0) throw new Error(errors);
  return output;
}

/** Creates a bench; call it in `beforeAll` and `close` it in `afterAll`. */
export async function backupBench(): Promise<BackupBench> {
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire backup "));
  const server = await testServerUrl();
  const made: string[] = [];
  const at = (name: string) => path.join(folder, name);
  return {
    at,
    async emptyDatabase() {
      const name = `empty_${randomBytes(6).toString("hex")}`;
      await execute(server, `CREATE DATABASE ${name}`);
      made.push(name);
      return onDatabase(server, name);
    },
    async command(name, url, ...args) {
      return runBackup(name, { DATABASE_URL: url, DATA_DIR: at("unused") }, ...args);
    },
    async close() {
      for (const name of made) await execute(server, `DROP DATABASE ${name} WITH (FORCE)`);
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Rows of one statement, on a separate connection. */
export async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new Connection({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Row count and hash of every table. */
export async function contentOf(url: string): Promise<Record<string, unknown>> {
  const tables = await query<{ name: string }>(
    url,
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'",
  );
  const content: Record<string, unknown> = {};
  for (const { name } of tables)
    [content[name]] = await query(url, `SELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY t::text)) FROM "${name}" t`);
  return content;
}

/** Columns, indexes, constraints, functions, and the migrations that were applied. */
export const shapeOf = async (url: string) => ({
  columns: await query(
    url,
    `SELECT table_name, column_name, column_default, is_nullable, data_type, character_maximum_length
     FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`,
  ),
  indexes: await query(url, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"),
  constraints: await query(
    url,
    `SELECT conrelid::regclass::text AS table, conname, pg_get_constraintdef(oid) AS text FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND contype IN ('f', 'p', 'u') ORDER BY 1, 2, 3`,
  ),
  functions: await query<{ name: string }>(
    url,
    "SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1",
  ),
  migrations: await query<{ migration_name: string }>(
    url,
    "SELECT migration_name, checksum, applied_steps_count FROM _prisma_migrations ORDER BY 1",
  ),
});

/** The URL of a proxy that breaks the connection while this command copies rows; it ends with the test. */
export async function breakingIn(url: string, command: "TO STDOUT" | "FROM STDIN"): Promise<string> {
  const { hostname, port } = new URL(url);
  const door = createServer((client) => {
    const server = connect(Number(port), hostname);
    const cut = () => [client, server].forEach((socket) => void socket.destroy());
    let isCopying = false;
    client.on("data", (bytes) => {
      if (isCopying && command === "FROM STDIN") return cut();
      isCopying ||= bytes.includes(command);
      server.write(bytes);
    });
    server.on("data", (bytes) => (isCopying && command === "TO STDOUT" ? cut() : client.write(bytes)));
    for (const socket of [client, server]) socket.on("error", cut).on("close", cut);
  });
  onTestFinished(() => void door.close());
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  Object.assign(through, { hostname: "127.0.0.1", port: (door.address() as AddressInfo).port });
  return through.href;
}

/** Resolves when a backup waits for a lock on this database. */
export async function lockAwaited(url: string): Promise<void> {
  const client = new Connection({ connectionString: url });
  await client.connect();
  const text = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'spotwire backup' AND wait_event_type = 'Lock'`;
  try {
    while ((await client.query(text)).rowCount === 0);
  } finally {
    await client.end();
  }
}

/** The command as a separate process, after one line of shell. */
interface BackupProcess {
  readonly child: ChildProcess;
  /** Its standard error and exit code. */
  readonly ended: Promise<{ words: string; exitCode: number | null }>;
}

/** Starts `backup` or `restore` as a process on the database of `env`. */
export function startBackup(env: Readonly<Record<string, string>>, before: string, ...args: string[]): BackupProcess {
  const script = `${before} exec "$0" --import tsx server/cli/backup.ts "$@"`;
  const child = spawn("/bin/sh", ["-c", script, process.execPath, ...args], {
    env: { ...process.env, DATABASE_WAIT_S: "0", NEXTAUTH_SECRET: TEST_SECRET, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    words += chunk.toString();
  });
  const ended = new Promise<{ words: string; exitCode: number | null }>((resolve) => {
    child.once("close", (exitCode) => resolve({ words, exitCode }));
  });
  return { child, ended };
}

/** A new database with this many stored klines, one minute apart. */
export async function databaseWithKlines(count: number): Promise<TestDatabase> {
  const database = await testDatabase();
  const klines = Array.from({ length: count }, (_, index) => ({
    ...klineExample,
    timeframe: "M1" as const,
    time: klineExample.time + index * 60,
  }));
  await storeTail(database, klines);
  return database;
}
