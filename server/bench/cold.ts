import { Agent, get } from "node:http";
import { buffer } from "node:stream/consumers";
import pg from "pg";
import { operations } from "#lib/contract/operations";
import type { Database } from "#lib/db";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { createPartitions } from "#lib/market/partitions";
import { MINUTE_S } from "#lib/units";
import { ADD_MINUTES, HISTORY_FROM_S, storeMinutes } from "./history";
import type { Effort } from "./load";
import { startSpotwire } from "./product";
import { rounded, spreadOf, spreadText } from "./spread";
import { type Row, ratioOf } from "./table";

const STORED_ROWS_COUNT = 20_000_000;
const TICKERS_COUNT = 40;
const EACH_COUNT = STORED_ROWS_COUNT / TICKERS_COUNT;
const ROWS_COUNT = 5_000;
/** Windows asked for in one round. */
const PER_SECOND_COUNT = 10;
const WARM_UP_COUNT = 30;
const TARGET = 0.6;

/** In the order of the key, as it lies there: the column of the result has the same name and would be sorted. */
const QUERY = `
  SELECT time::float8 AS time, open, high, low, close, tick_volume::float8 AS tick_volume, real_volume, spread FROM kline
    WHERE venue = 'live' AND ticker = $1 AND timeframe = 'M1' AND time >= $2 AND time < $3 ORDER BY kline.time LIMIT ${ROWS_COUNT}`;

/** @returns the URL of the database */
async function fill(db: Pick<Database, "pool" | "segments">): Promise<string> {
  const last = HISTORY_FROM_S + (EACH_COUNT - 1) * MINUTE_S;
  await createPartitions(db.pool)(HISTORY_FROM_S, last);
  const connectionString = String(db.pool.options.connectionString);
  // A connection of its own, because those of the pool give up a query after some seconds.
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const { ticker } of LIVE_LISTINGS.slice(0, TICKERS_COUNT)) {
      // As rows, for the anchor, which is how earlier releases stored them.
      await client.query(ADD_MINUTES, [ticker, HISTORY_FROM_S, last]);
      await storeMinutes(db, ticker, HISTORY_FROM_S, last);
    }
    await client.query("VACUUM ANALYZE kline");
  } finally {
    await client.end();
  }
  return connectionString;
}

/** A part of the history that nobody asked for before. */
interface Window {
  readonly ticker: string;
  readonly from: number;
  readonly to: number;
}

/** Each window once: the first of every ticker, then the second. They don't overlap. */
function* windows(): Generator<Window> {
  for (let start = 0; start + ROWS_COUNT <= EACH_COUNT; start += ROWS_COUNT)
    for (const { ticker } of LIVE_LISTINGS.slice(0, TICKERS_COUNT)) {
      const from = HISTORY_FROM_S + start * MINUTE_S;
      yield { ticker, from, to: from + ROWS_COUNT * MINUTE_S };
    }
  throw new Error("all windows were used");
}

async function timed(work: () => Promise<number>): Promise<number> {
  const startMs = performance.now();
  const count = await work();
  if (count !== ROWS_COUNT) throw new Error(`${count} rows instead of ${ROWS_COUNT}`);
  return performance.now() - startMs;
}

/** The rows in a body, counted by bytes, because parsing is the client's work. */
function rowsIn(body: Buffer): number {
  let count = 0;
  for (let at = body.indexOf('"time":'); at !== -1; at = body.indexOf('"time":', at + 1)) count += 1;
  return count;
}

/** Measures klines that no cache has against the bare query for the same rows, whose pages PostgreSQL has read before. */
export async function benchCold({ seconds, rounds }: Effort): Promise<Row[]> {
  process.stderr.write(`  filling ${rounded(STORED_ROWS_COUNT)} rows takes some minutes …\n`);
  let connectionString = "";
  const server = await startSpotwire({}, async (db) => {
    connectionString = await fill(db);
  });
  const client = new pg.Client({ connectionString });
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${server.liveKey}` };
  async function asked({ ticker, from, to }: Window): Promise<Buffer> {
    const url = `${server.url}${operations.klines.path}?ticker=${ticker}&timeframe=M1&from=${from}&to=${to}&limit=${ROWS_COUNT}`;
    const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      get(url, { agent, headers }, resolve).on("error", reject);
    });
    return buffer(response);
  }
  const queried = async ({ ticker, from, to }: Window) =>
    (await client.query({ name: "klines", text: QUERY, values: [ticker, from, to], rowMode: "array" })).rows.length;
  const fresh = windows();
  const next = () => fresh.next().value as Window;
  const [owns, anchors]: [number[], number[]] = [[], []];
  try {
    await client.connect();
    const each = Math.ceil(PER_SECOND_COUNT * seconds);
    for (let count = -WARM_UP_COUNT; count < rounds * each; count += 1) {
      const window = next();
      await queried(window);
      let body: Buffer = Buffer.alloc(0);
      const own = () =>
        timed(async () => {
          body = await asked(window);
          return ROWS_COUNT;
        });
      const order = count % 2 === 0 ? (["own", "anchor"] as const) : (["anchor", "own"] as const);
      for (const who of order) {
        const ms = who === "own" ? await own() : await timed(() => queried(window));
        if (count >= 0) (who === "own" ? owns : anchors).push(ms);
      }
      if (rowsIn(body) !== ROWS_COUNT)
        throw new Error(`${rowsIn(body)} rows instead of ${ROWS_COUNT}: ${body.toString("utf8", 0, 300)}`);
    }
  } finally {
    agent.destroy();
    await client.end();
    await server.stop();
  }
  const ratio = spreadOf(owns.map((own, index) => own / (anchors[index] ?? Number.NaN)));
  return [
    {
      id: "cold",
      what: `\`klines\`, ${rounded(ROWS_COUNT)} rows, cold, table of ${rounded(STORED_ROWS_COUNT)} rows`,
      value: `${spreadText(spreadOf(owns))} ms`,
      anchor: `${spreadText(spreadOf(anchors))} ms`,
      ratio: ratioOf(ratio, { target: TARGET, against: "the bare query of those rows", bound: "at most" }),
    },
  ];
}
