import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import pg from "pg";
import type { Timeframe } from "#lib/contract/primitives";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { operations } from "#lib/operations/declarations";
import { openDuckDb } from "#lib/testing/duckdb";
import { DAY_S, MINUTE_S } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { ADD_MINUTES, HISTORY_FROM_S, ROWS_TABLE, storeMinutes } from "./history";
import type { Effort } from "./load";
import { type Spotwire, startSpotwire } from "./product";
import { rounded } from "./spread";
import { comparedOf, type Row } from "./table";

const TICKERS_COUNT = 4;
const EACH_COUNT = 150_000;
const STORED_ROWS_COUNT = TICKERS_COUNT * EACH_COUNT;
/** The most rows in an answer. */
export const ROWS_COUNT = 5_000;
/** Windows asked for in one round; all rounds together have fewer than the history. */
const PER_ROUND_COUNT = 8;
const WARM_UP_COUNT = 12;
const MONTH_MAX_S = 31 * DAY_S;
const OK = 200;

/** In the order of the key, as it lies there: the column of the result has the same name and would be sorted. */
const QUERY = `
  SELECT time::float8 AS time, open, high, low, close, tick_volume::float8 AS tick_volume, real_volume, spread FROM bench_kline
    WHERE ticker = $1 AND timeframe = 'M1' AND time >= $2 AND time < $3 ORDER BY bench_kline.time LIMIT ${ROWS_COUNT}`;

const FILES = `SELECT v.ticker, v.start::float8 AS start, c.bytes FROM history_visible v JOIN history_content c ON c.id = v.content
  WHERE v.timeframe = 'M1'`;

/** A part of the history that nobody asked for before. */
export interface Window {
  readonly ticker: string;
  readonly from: number;
  readonly to: number;
}

/** Reads a window as JSON. @returns how many rows it has */
type Reader = (window: Window) => Promise<number>;

/** @returns the URL of the database */
async function fill(db: Pick<Database, "pool" | "segments">): Promise<string> {
  const last = HISTORY_FROM_S + (EACH_COUNT - 1) * MINUTE_S;
  const connectionString = String(db.pool.options.connectionString);
  // A connection of its own, because those of the pool give up a query after some seconds.
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(ROWS_TABLE);
    for (const { ticker } of LIVE_LISTINGS.slice(0, TICKERS_COUNT)) {
      await client.query(ADD_MINUTES, [ticker, HISTORY_FROM_S, last]);
      await storeMinutes(db, ticker, HISTORY_FROM_S, last);
    }
    await client.query("VACUUM ANALYZE bench_kline");
  } finally {
    await client.end();
  }
  return connectionString;
}

/** Each window once: the first of every ticker, then the second. They don't overlap. */
function* windows(): Generator<Window, never> {
  for (let start = 0; start + ROWS_COUNT <= EACH_COUNT; start += ROWS_COUNT)
    for (const { ticker } of LIVE_LISTINGS.slice(0, TICKERS_COUNT)) {
      const from = HISTORY_FROM_S + start * MINUTE_S;
      yield { ticker, from, to: from + ROWS_COUNT * MINUTE_S };
    }
  throw new Error("all windows were used");
}

/** The rows in a body, counted by bytes, because parsing is the client's work. */
export function rowsIn(body: Buffer): number {
  let count = 0;
  for (let at = body.indexOf('"time":'); at !== -1; at = body.indexOf('"time":', at + 1)) count += 1;
  return count;
}

/** Makes JSON of rows. @returns how many are in it */
export const asJson = (rows: unknown[]) => rowsIn(Buffer.from(JSON.stringify(rows)));

/** Asks the service for a path, with a key. @throws Error when the answer is not 200 */
export type Ask = (path: string) => Promise<Buffer>;

/** Asks over the connections of an agent. */
export function askWith({ url, liveKey }: Pick<Spotwire, "url" | "liveKey">, agent: Agent): Ask {
  const headers = { authorization: `Bearer ${liveKey}` };
  return async (pathname) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url + pathname, { agent, headers }, resolve).on("error", reject);
    });
    const body = await buffer(response);
    if (response.statusCode !== OK) throw new Error(`${pathname} was answered with ${response.statusCode}: ${body.toString()}`);
    return body;
  };
}

/** The path of klines in a window. */
export function klinesPath({ ticker, from, to }: Window, timeframe: Timeframe): string {
  return `${operations.klines.path}?ticker=${ticker}&timeframe=${timeframe}&from=${from}&to=${to}&limit=${ROWS_COUNT}`;
}

/** Copies the files of stored minutes. @returns what DuckDB reads a window from: the rows of its months that are in it */
export async function copyFiles(client: pg.Client, folder: string): Promise<(window: Window) => string> {
  const { rows } = await client.query<{ ticker: string; start: number; bytes: Buffer }>(FILES);
  const file = (ticker: string, start: number) => path.join(folder, `${ticker}-${start}.parquet`);
  for (const { ticker, start, bytes } of rows) writeFileSync(file(ticker, start), bytes);
  return ({ ticker, from, to }) => {
    const months = rows.filter((row) => row.ticker === ticker && row.start < to && row.start + MONTH_MAX_S > from);
    const files = months.map(({ start }) => `'${file(ticker, start)}'`);
    return `FROM read_parquet([${files}]) WHERE time >= to_timestamp(${from}) AND time < to_timestamp(${to})`;
  };
}

/** The same months as files, of which DuckDB reads those of the window. */
async function overParquet(client: pg.Client, folder: string) {
  const fromFiles = await copyFiles(client, folder);
  const duckdb = await openDuckDb();
  const read: Reader = async (window) => {
    const found =
      await duckdb.ask(`SELECT epoch(time)::DOUBLE AS time, open::DOUBLE AS open, high::DOUBLE AS high, low::DOUBLE AS low,
      close::DOUBLE AS close, tick_volume::DOUBLE AS tick_volume, real_volume, spread::DOUBLE AS spread ${fromFiles(window)} ORDER BY time`);
    return asJson(found);
  };
  return { read, close: duckdb.close };
}

async function timed(read: Reader, window: Window): Promise<number> {
  const startMs = performance.now();
  const count = await read(window);
  if (count !== ROWS_COUNT) throw new Error(`${count} rows instead of ${ROWS_COUNT}`);
  return performance.now() - startMs;
}

/** Klines that no cache has, as JSON: over HTTP with a key, against rows of PostgreSQL and against DuckDB in the reading process. */
export async function benchCold({ rounds }: Effort): Promise<Row[]> {
  let connectionString = "";
  const server = await startSpotwire({}, async (db) => {
    connectionString = await fill(db);
  });
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const client = new pg.Client({ connectionString });
  const agent = new Agent({ keepAlive: true });
  let duckdb: Awaited<ReturnType<typeof overParquet>> | undefined;
  try {
    await client.connect();
    duckdb = await overParquet(client, folder);
    const rows: Reader = async ({ ticker, from, to }) =>
      asJson((await client.query({ name: "klines", text: QUERY, values: [ticker, from, to] })).rows);
    const ask = askWith(server, agent);
    const own: Reader = async (window) => rowsIn(await ask(klinesPath(window, "M1")));
    const readers = [own, rows, duckdb.read];
    const times = readers.map((): number[] => []);
    const fresh = windows();
    for (let count = -WARM_UP_COUNT; count < rounds * PER_ROUND_COUNT; count += 1) {
      const window = fresh.next().value;
      const turns = [...readers.entries()];
      for (const [index, read] of count % 2 === 0 ? turns : turns.reverse()) {
        const ms = await timed(read, window);
        if (count >= 0) times[index]?.push(ms);
      }
    }
    const [ownMs = [], ...rivalsMs] = times;
    const what = `\`klines\`, ${rounded(ROWS_COUNT)} of ${rounded(STORED_ROWS_COUNT)} rows, cold, ms`;
    const question = { what, bound: "at most" } as const;
    return [
      { id: "cold-rows", target: 2, against: "rows of PostgreSQL", ...question, ...comparedOf(ownMs, rivalsMs[0] ?? []) },
      { id: "cold-duckdb", target: 2.5, against: "DuckDB over Parquet", ...question, ...comparedOf(ownMs, rivalsMs[1] ?? []) },
    ];
  } finally {
    duckdb?.close();
    agent.destroy();
    await client.end();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
