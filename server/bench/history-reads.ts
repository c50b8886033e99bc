import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import path from "node:path";
import pg from "pg";
import { type DataFileList, FILES_PATH } from "#lib/operations/files/declaration";
import { openDuckDb } from "#lib/testing/duckdb";
import { HOUR_S, MINUTE_S } from "#lib/units";
import { type Ask, asJson, askWith, copyFiles, klinesPath, ROWS_COUNT, rowsIn, type Window } from "./cold";
import { type Spotwire, startSpotwire } from "./product";
import { rounded } from "./spread";
import { comparedOf, limited, type Row, row } from "./table";

const TICKER = "XAUUSD";
const YEAR: Window = { ticker: TICKER, from: Date.UTC(2016, 0) / 1_000, to: Date.UTC(2017, 0) / 1_000 };
const YEAR_ROWS_COUNT = (YEAR.to - YEAR.from) / MINUTE_S;
const YEAR_MAX_S = 0.3;
/** Of the time of the same rows in pages. */
const YEAR_MAX_RATIO = 0.1;
const HOURS_MAX_MS = 30;
const WARM_COUNT = 8;
const MS_PER_S = 1_000;

type DuckDb = Awaited<ReturnType<typeof openDuckDb>>;

/** A part of the history with as many hours as an answer can have, another one for each number. */
function hours(index: number): Window {
  const from = YEAR.from + index * ROWS_COUNT * HOUR_S;
  return { ticker: TICKER, from, to: from + ROWS_COUNT * HOUR_S };
}

async function timed(what: string, rows: number, work: () => Promise<number>): Promise<number> {
  const startMs = performance.now();
  const count = await work();
  if (count !== rows) throw new Error(`${what}: ${count} rows instead of ${rows}`);
  return performance.now() - startMs;
}

/** Computes klines of an hour from the minutes of files, as JSON. */
async function aggregated({ ask }: DuckDb, fromFiles: string): Promise<number> {
  return asJson(
    await ask(`SELECT epoch(time_bucket(INTERVAL 1 HOUR, time))::DOUBLE AS time, arg_min(open, time)::DOUBLE AS open,
      max(high)::DOUBLE AS high, min(low)::DOUBLE AS low, arg_max(close, time)::DOUBLE AS close,
      sum(tick_volume)::DOUBLE AS tick_volume, sum(real_volume)::DOUBLE AS real_volume, min(spread)::DOUBLE AS spread
      ${fromFiles} GROUP BY 1 ORDER BY 1`),
  );
}

/** Downloads the files of a year, and reads all columns of all rows into a table of DuckDB. @returns how many rows */
async function readFiles(ask: Ask, { ask: query }: DuckDb, folder: string): Promise<number> {
  const list = await ask(`${FILES_PATH}?ticker=${TICKER}&type=klines&from=${YEAR.from}&to=${YEAR.to}`);
  const { items } = (JSON.parse(list.toString()) as { data: DataFileList }).data;
  const files: string[] = [];
  for (const { id, url } of items) {
    const file = path.join(folder, `${id}.parquet`);
    writeFileSync(file, await ask(url));
    files.push(`'${file}'`);
  }
  await query(`CREATE OR REPLACE TABLE year AS SELECT * FROM read_parquet([${files}])`);
  return Number((await query("SELECT count(*)::INTEGER AS count FROM year"))[0]?.count);
}

/** Reads the same year in pages, one after the other. @returns how many rows */
export async function readPages(ask: Ask): Promise<number> {
  let count = 0;
  for (let { from } = YEAR; from < YEAR.to; from += ROWS_COUNT * MINUTE_S) {
    const to = Math.min(YEAR.to, from + ROWS_COUNT * MINUTE_S);
    const page = JSON.parse((await ask(klinesPath({ ticker: TICKER, from, to }, "M1"))).toString());
    count += (page as { data: { count: number } }).data.count;
  }
  return count;
}

/** Reads hours of some windows. */
export async function readHours(ask: Ask, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await ask(klinesPath(hours(index), "H1"));
}

/** What the service took, and what is beside it. */
type Pair = readonly [own: number, beside: number];

/** One round: hours first after a start, and later, in milliseconds; a year as files and in pages, in seconds. */
interface Measured {
  readonly cold: Pair;
  readonly warm: readonly Pair[];
  readonly year: Pair;
}

/** Works on the database of a service over a connection of its own, because those of the pool give up a query after some seconds. */
export async function withClient<Result>(server: Spotwire, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const connectionString = await server.withDatabase(async ({ pool }) => String(pool.options.connectionString));
  const client = new pg.Client({ connectionString });
  await client.connect();
  return work(client).finally(() => client.end());
}

async function measure(server: Spotwire, folder: string): Promise<Measured> {
  const agent = new Agent({ keepAlive: true });
  const ask = askWith(server, agent);
  const fromFiles = await withClient(server, (client) => copyFiles(client, folder));
  const own = (index: number) => timed("hours", ROWS_COUNT, async () => rowsIn(await ask(klinesPath(hours(index), "H1"))));
  const coldMs = await own(0);
  const duckdb = await openDuckDb();
  try {
    const beside = (index: number) => timed("hours of DuckDB", ROWS_COUNT, () => aggregated(duckdb, fromFiles(hours(index))));
    const cold = [coldMs, await beside(0)] as const;
    const warm: Pair[] = [];
    for (let index = 1; index <= WARM_COUNT; index += 1) warm.push([await own(index), await beside(index)]);
    const files = await timed("files", YEAR_ROWS_COUNT, () => readFiles(ask, duckdb, folder));
    const pages = await timed("pages", YEAR_ROWS_COUNT, () => readPages(ask));
    return { cold, warm, year: [files / MS_PER_S, pages / MS_PER_S] };
  } finally {
    duckdb.close();
    agent.destroy();
  }
}

const firsts = (pairs: readonly Pair[]) => pairs.map(([own]) => own);
const compared = (pairs: readonly Pair[]) =>
  comparedOf(
    firsts(pairs),
    pairs.map(([, beside]) => beside),
  );

function rowsOf(measured: readonly Measured[], storedRows: number): Row[] {
  const [cold, years] = [measured.map((one) => one.cold), measured.map((one) => one.year)];
  const warm = measured.flatMap((one) => one.warm);
  const hour = `${rounded(ROWS_COUNT)} H1 of ${rounded(storedRows)} minutes`;
  const [first, later] = [`${hour}, first call after a start`, `${hour}, later calls`];
  const year = `a year of M1, ${rounded(YEAR_ROWS_COUNT)} rows, as files, read by DuckDB`;
  const duckdb = "DuckDB over the same files";
  return [
    limited("history-hours-cold", first, "ms", firsts(cold), HOURS_MAX_MS),
    row("history-hours-cold-duckdb", `${first}, ms`, duckdb, "at most", 1, compared(cold)),
    row("history-hours-warm-duckdb", `${later}, ms`, duckdb, "at most", 1, compared(warm)),
    limited("history-year", year, "s", firsts(years), YEAR_MAX_S),
    row("history-year-pages", `${year}, s`, "the same by REST in pages", "at most", YEAR_MAX_RATIO, compared(years)),
  ];
}

/** How fast stored history is read, each round from a new start. */
export async function measureReads(dataDir: string, folder: string, storedRows: number, rounds: number): Promise<Row[]> {
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const server = await startSpotwire({ DATA_DIR: dataDir });
    try {
      measured.push(await measure(server, folder));
    } finally {
      await server.stop();
    }
  }
  return rowsOf(measured, storedRows);
}
