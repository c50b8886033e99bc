import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { acquireDatabase } from "#server/database/database";
import { readEnv } from "#server/env";
import { ROWS_TABLE, writeHistory } from "./history";
import type { Effort } from "./load";
import { rounded } from "./spread";
import { comparedOf, type Row } from "./table";

const ROWS_COUNT = 1_000_000;
/** Each round writes the rows twice, which takes longer than all else that is measured. */
const ROUNDS_MAX_COUNT = 1;
/** What `npm run import` does, without its compiler. */
export const IMPORT_COMMAND = ".next/spotwire/import.mjs";
const COLUMNS = "ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread";

function seconds(work: () => void): number {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
}

/** Measures the complete import command against psql's \copy of the same M1 rows, each into an empty table. */
export async function benchImport({ rounds }: Effort): Promise<Row[]> {
  if (spawnSync("psql", ["--version"]).status !== 0) throw new Error("psql is not installed");
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const [plain, copy] = [path.join(folder, "XAUUSD.csv"), path.join(folder, "copy.csv")];
  await writeHistory(
    plain,
    ROWS_COUNT,
    "time,open,high,low,close,tick_volume,real_volume,spread\n",
    (k) => `${k.time},${k.open},${k.high},${k.low},${k.close},${k.tick_volume},,${k.spread}\n`,
  );
  await writeHistory(
    copy,
    ROWS_COUNT,
    "",
    (k) => `XAUUSD,M1,${k.time},${k.open},${k.high},${k.low},${k.close},${k.tick_volume},,${k.spread}\n`,
  );
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
      times.copy.push(seconds(() => psql(url, `\\copy bench_kline (${COLUMNS}) FROM '${copy}' WITH (FORMAT csv)`)));
      await empty();
      times.import.push(seconds(() => runImport(url, plain)));
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

function psql(url: string, command: string): void {
  execFileSync("psql", [url, "-q", "-v", "ON_ERROR_STOP=1", "-c", command], { stdio: ["ignore", "ignore", "inherit"] });
}

function runImport(url: string, file: string): void {
  const args = [IMPORT_COMMAND, "--venue", "live", "--ticker", "XAUUSD", "--accept-doubts", file];
  execFileSync(process.execPath, args, {
    env: { NODE_ENV: "production", PATH: "/usr/bin:/bin", DATABASE_URL: url, LOG_LEVEL: "error" },
    stdio: ["ignore", "ignore", "inherit"],
  });
}
