import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { acquireDatabase } from "#server/database/database";
import { readEnv } from "#server/env";
import { ROWS_TABLE, writeMinutes, writeRows } from "./history";
import type { Effort } from "./load";
import { rounded } from "./spread";
import { comparedOf, type Row } from "./table";

const ROWS_COUNT = 1_000_000;
/** Each round writes the rows twice, which takes longer than all else that is measured. */
const ROUNDS_MAX_COUNT = 1;
/** What `npm run import` does, without its compiler. */
export const IMPORT_COMMAND = ".next/spotwire/import.mjs";
const COLUMNS = "ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread";

/** How long some work takes. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Measures the complete import command against psql's \copy of the same M1 rows, each into an empty table. */
export async function benchImport({ rounds }: Effort): Promise<Row[]> {
  requirePsql();
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const [plain, copy] = [path.join(folder, "XAUUSD.csv"), path.join(folder, "copy.csv")];
  await writeMinutes(plain, ROWS_COUNT);
  await writeRows(copy, ROWS_COUNT);
  const log = createLog("error");
  const env = readEnv({ DATA_DIR: path.join(folder, "data"), LOG_LEVEL: "error" });
  const { db, release } = await acquireDatabase(env, log, systemClock);
  const url = String(db.pool.options.connectionString);
  await db.pool.query(ROWS_TABLE);
  const empty = () =>
    db.pool.query("TRUNCATE bench_kline, import_job, history_content, history_layer, history_visible, history_derived");
  const times: { copy: number[]; import: number[] } = { copy: [], import: [] };
  try {
    for (let round = 0; round < Math.min(rounds, ROUNDS_MAX_COUNT); round += 1) {
      await empty();
      times.copy.push(await seconds(() => psql(url, copyInto("bench_kline", copy))));
      await empty();
      times.import.push(await seconds(() => runImport({ DATABASE_URL: url }, ...IMPORT_MINUTES, plain)));
    }
  } finally {
    await release();
    rmSync(folder, { recursive: true, force: true });
  }
  const rates = (list: readonly number[]) => list.map((each) => ROWS_COUNT / each);
  return [
    {
      id: "import",
      what: `import of ${rounded(ROWS_COUNT)} M1 rows: detect, parse, check, store; all timeframes readable; rows/s`,
      against: "psql `\\copy` of the same rows",
      target: 0.6,
      bound: "at least",
      ...comparedOf(rates(times.import), rates(times.copy)),
    },
  ];
}

/** Runs a program to its end. @throws Error when it fails */
async function runProgram(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"], ...(env && { env }) });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${path.basename(program)} ${args.join(" ")} ended with ${code}`);
}

/** @throws Error where psql is missing */
export function requirePsql(): void {
  if (spawnSync("psql", ["--version"]).status !== 0) throw new Error("psql is not installed");
}

/** The command of psql that copies a file of `writeRows` into a table. */
export const copyInto = (table: string, file: string) => `\\copy ${table} (${COLUMNS}) FROM '${file}' WITH (FORMAT csv)`;

/** Runs commands of psql in one session. */
export function psql(url: string, ...commands: readonly string[]): Promise<void> {
  return runProgram("psql", [url, "-q", "-v", "ON_ERROR_STOP=1", ...commands.flatMap((command) => ["-c", command])]);
}

/** Arguments for a file of `writeMinutes`, which come before its name. */
export const IMPORT_MINUTES = ["--ticker", "XAUUSD", "--accept-doubts"] as const;

/** Runs the import command on a database, which the setting names. */
export function runImport(database: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<void> {
  const env = { NODE_ENV: "production" as const, PATH: "/usr/bin:/bin", LOG_LEVEL: "error", ...database };
  return runProgram(process.execPath, [IMPORT_COMMAND, ...args], env);
}
