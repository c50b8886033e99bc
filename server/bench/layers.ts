import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import type { Database } from "#lib/db";
import { createReader } from "#lib/history/reader";
import { inTransaction } from "#lib/history/transaction";
import { redoImport, undoImport } from "#lib/market/import-undo";
import { storeBatch } from "#lib/market/kline-batches";
import { beginWritten } from "#lib/market/written-import";
import { inPostgres } from "#lib/segments/segment-store";
import { createSegments } from "#lib/segments/segments";
import { HISTORY_FROM_S, history, withDatabase } from "./history";
import type { Effort } from "./load";
import { rounded, spreadOf, spreadText } from "./spread";
import { type Row, ratioOf } from "./table";

/** Nine and a half years of minutes. */
const ROWS_COUNT = 5_000_000;
const TICKER = "XAUUSD";
const CACHE_MB = 64;
const BYTES_TARGET = 8;
const UNDO_TARGET_S = 2;
const HOURS_TARGET_MS = 30;
const TABLES = ["history_content", "history_layer", "history_visible", "kline_tail"];
const SIZE = `SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes FROM unnest($1::text[]) AS name`;
const MONTHS = `SELECT v.start::float8 AS start, c.bytes FROM history_visible v JOIN history_content c ON c.id = v.content
  WHERE v.ticker = $1 AND v.timeframe = 'M1' ORDER BY v.start`;

/** @returns the number of the import */
async function importMinutes({ pool, segments }: Database): Promise<number> {
  const label = { label: "bench", rows: ROWS_COUNT, nowMs: systemClock.now() };
  const number = await inTransaction(pool, (client) => beginWritten(client, label));
  for await (const page of history(ROWS_COUNT))
    await inTransaction(pool, (client) => storeBatch(client, segments, number, page, systemClock.now()));
  return number;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** The hours of all minutes, as a process reads them that has read nothing before. */
function hoursOf({ pool }: Database): Promise<number> {
  const reader = createReader(createSegments(inPostgres, CACHE_MB), pool);
  const to = HISTORY_FROM_S + ROWS_COUNT * 60;
  return timed(() => reader.read(pool, { ticker: TICKER, timeframe: "H1", from: 0, to, limit: ROWS_COUNT, end: "oldest" }));
}

/** The same hours by DuckDB from the same files. */
async function duckHours({ pool }: Database, rounds: number): Promise<number[]> {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-bench-"));
  try {
    const { rows } = await pool.query<{ start: number; bytes: Buffer }>(MONTHS, [TICKER]);
    for (const { start, bytes } of rows) await writeFile(path.join(folder, `${start}.parquet`), bytes);
    const connection = await (await DuckDBInstance.create()).connect();
    const query = `SELECT time_bucket(INTERVAL 1 HOUR, time) AS hour, first(open ORDER BY time), max(high), min(low), last(close ORDER BY time),
      sum(tick_volume) FROM read_parquet('${folder}/*.parquet') GROUP BY hour ORDER BY hour`;
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await timed(() => connection.runAndReadAll(query)));
    return times;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures stored history: its size, hours of all of it, and what an undo takes. */
export function benchLayers({ rounds }: Effort): Promise<Row[]> {
  return withDatabase(async (db) => {
    const number = await importMinutes(db);
    const { rows } = await db.pool.query<{ bytes: number }>(SIZE, [TABLES]);
    const bytes = (rows[0]?.bytes ?? Number.NaN) / ROWS_COUNT;
    const first = await hoursOf(db);
    const [hours, undos, redos]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round += 1) hours.push(await hoursOf(db));
    const duck = await duckHours(db, rounds);
    const admin = { db, clock: systemClock, record: async () => undefined };
    for (let round = 0; round < rounds; round += 1) {
      undos.push((await timed(() => undoImport(admin, number))) / 1_000);
      redos.push((await timed(() => redoImport(admin, number))) / 1_000);
    }
    return [
      {
        id: "layers-bytes",
        what: `a stored M1 kline of ${rounded(ROWS_COUNT)}, all in`,
        value: `${rounded(bytes)} bytes`,
        ratio: ratioOf(spreadOf([bytes]), { target: BYTES_TARGET, against: "1 byte", bound: "at most" }),
      },
      {
        id: "layers-hours",
        what: `H1 of ${rounded(ROWS_COUNT)} minutes, cold; computed for the first time: ${rounded(first)} ms`,
        value: `${spreadText(spreadOf(hours))} ms`,
        anchor: `${spreadText(spreadOf(duck))} ms`,
        ratio: ratioOf(spreadOf(hours.map((ms) => ms / HOURS_TARGET_MS)), {
          target: 1,
          against: `${HOURS_TARGET_MS} ms; the anchor is DuckDB on the same files`,
          bound: "at most",
        }),
      },
      {
        id: "layers-undo",
        what: `undo of an import of ${rounded(ROWS_COUNT)} rows; redo: ${spreadText(spreadOf(redos))} s`,
        value: `${spreadText(spreadOf(undos))} s`,
        ratio: ratioOf(spreadOf(undos.map((s) => s / UNDO_TARGET_S)), {
          target: 1,
          against: `${UNDO_TARGET_S} s`,
          bound: "at most",
        }),
      },
    ];
  });
}
