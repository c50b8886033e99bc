import { appendFileSync, copyFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { acquireDatabase } from "#server/database/database";
import { readEnv } from "#server/env";
import type { Database } from "#server/store/database/db";
import { ROWS_TABLE, writeMinutes, writeRows, writeTicks } from "./history";
import { copyInto, IMPORT_MINUTES, psql, requirePsql, runImport, seconds } from "./import";
import { rounded } from "./spread";
import { comparedOf, limited, type Row, row } from "./table";

const ROWS_COUNT = 1_000_000;
const TICKS_COUNT = 500_000;
const MINUTE_MAX_BYTES = 8;
/** What the guides say that one takes. */
const TICK_MAX_BYTES = 3;
/** Of the bytes of a row with its index. */
const MINUTE_MAX_RATIO = 0.1;
const IMPORT_MIN_RATIO = 1.2;
const ROW = "a row of PostgreSQL with its index";

const EMPTY = "TRUNCATE bench_kline, import_job, history_content, history_layer, history_visible, history_derived, tick_segment";
const MINUTE_BYTES = `SELECT sum(octet_length(bytes))::float8 / ${ROWS_COUNT} AS bytes FROM history_content WHERE id IN (
  SELECT content FROM history_layer UNION SELECT content FROM history_visible UNION SELECT content FROM history_derived)`;
const ROW_BYTES = `SELECT pg_total_relation_size('bench_kline')::float8 / ${ROWS_COUNT} AS bytes`;
const TICK_BYTES = "SELECT sum(bytes)::float8 / sum(rows) AS bytes FROM tick_segment";

/** Values that a row gets from the one that is copied, where one of them differs. */
const VALUES = ["open", "high", "low", "close", "tick_volume", "real_volume", "spread"];
const listed = (table: string) => `(${VALUES.map((name) => `${table}.${name}`).join(", ")})`;
const TAKE_OVER = `INSERT INTO bench_kline SELECT * FROM copied ON CONFLICT (ticker, timeframe, time)
  DO UPDATE SET (${VALUES.join(", ")}) = ${listed("excluded")} WHERE ${listed("bench_kline")} IS DISTINCT FROM ${listed("excluded")}`;

async function bytesOf({ pool }: Database, text: string): Promise<number> {
  return (await pool.query<{ bytes: number }>(text)).rows[0]?.bytes ?? Number.NaN;
}

/** The files of both contestants, in a folder. */
async function writeFiles(folder: string) {
  const fileOf = (name: string) => path.join(folder, name);
  const files = {
    minutes: fileOf("XAUUSD.csv"),
    again: fileOf("again.csv"),
    rows: fileOf("rows.csv"),
    ticks: fileOf("EURUSD.csv"),
  };
  await writeMinutes(files.minutes, ROWS_COUNT);
  // The same file is known as done before it is read, whatever its name; one with an empty line more is read and compared.
  copyFileSync(files.minutes, files.again);
  appendFileSync(files.again, "\n");
  await writeRows(files.rows, ROWS_COUNT);
  const ticks = await writeTicks(files.ticks, TICKS_COUNT);
  return { ...files, ticksCount: ticks };
}

/** Imports and copies the same rows twice, the first time into empty tables. @returns seconds, and bytes after the first time */
async function measure(db: Database, files: Awaited<ReturnType<typeof writeFiles>>) {
  const url = String(db.pool.options.connectionString);
  const importFile = (file: string) => seconds(() => runImport({ DATABASE_URL: url }, ...IMPORT_MINUTES, file));
  await db.pool.query(EMPTY);
  const copy = await seconds(() => psql(url, copyInto("bench_kline", files.rows)));
  const rowBytes = await bytesOf(db, ROW_BYTES);
  const temporary = "CREATE TEMPORARY TABLE copied (LIKE bench_kline)";
  const copyAgain = await seconds(() => psql(url, temporary, copyInto("copied", files.rows), TAKE_OVER));
  await db.pool.query(EMPTY);
  const first = await importFile(files.minutes);
  const minuteBytes = await bytesOf(db, MINUTE_BYTES);
  return { minuteBytes, rowBytes, first, again: await importFile(files.again), copy, copyAgain };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function rowsOf(measured: readonly Measured[], tickBytes: number, ticksCount: number): Row[] {
  const all = (name: keyof Measured) => measured.map((one) => one[name]);
  const rates = (name: keyof Measured) => all(name).map((each) => ROWS_COUNT / each);
  const bytes = all("minuteBytes");
  const [rows, kline] = [`${rounded(ROWS_COUNT)} M1 rows`, `a stored M1 kline, of ${rounded(ROWS_COUNT)}`];
  const compared = [comparedOf(rates("first"), rates("copy")), comparedOf(rates("again"), rates("copyAgain"))] as const;
  const [empty, upsert] = ["psql `\\copy` into an empty table", "psql `\\copy`, then `ON CONFLICT`"];
  const again = "import of the same rows from another file, rows/s";
  return [
    limited("history-minute", kline, "bytes", bytes, MINUTE_MAX_BYTES),
    row("history-minute-rows", `${kline}, bytes`, ROW, "at most", MINUTE_MAX_RATIO, comparedOf(bytes, all("rowBytes"))),
    limited("history-tick", `a stored tick, of ${rounded(ticksCount)}`, "bytes", [tickBytes], TICK_MAX_BYTES),
    row("history-import", `import of ${rows}, rows/s`, empty, "at least", IMPORT_MIN_RATIO, compared[0]),
    row("history-import-again", again, upsert, "at least", IMPORT_MIN_RATIO, compared[1]),
  ];
}

/** What imports store, and how fast, in a database that no service uses. */
export async function measureWrites(folder: string, rounds: number): Promise<Row[]> {
  requirePsql();
  const files = await writeFiles(folder);
  const env = readEnv({ DATA_DIR: path.join(folder, "data"), LOG_LEVEL: "error" });
  const { db, release } = await acquireDatabase(env, createLog("error"), systemClock);
  try {
    await db.pool.query(ROWS_TABLE);
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measure(db, files));
    await runImport(
      { DATABASE_URL: String(db.pool.options.connectionString) },
      "--ticker",
      "EURUSD",
      "--accept-doubts",
      files.ticks,
    );
    return rowsOf(measured, await bytesOf(db, TICK_BYTES), files.ticksCount);
  } finally {
    await release();
  }
}
