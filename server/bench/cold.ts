import { systemClock } from "#lib/clock";
import { operations } from "#lib/contract/operations";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { createKlineStore } from "#lib/market/kline-store";
import { MINUTE_S } from "#lib/units";
import { type Contestant, startChild } from "./child";
import { type Stores, startNode, startStores } from "./cluster-nodes";
import { freePort } from "./cluster-redis";
import type { Row } from "./table";

/** The file that `npm start` runs. */
const BUILT_SERVER = ".next/spotwire/main.mjs";
const ROWS_COUNT = 10_000_000;
const RUNS_COUNT = 5;
const TARGET_S = 2;
const ANSWER_MAX_MS = 60_000;
const LOOK_INTERVAL_MS = 5;
const TICKER = "EURUSD";
const BID = 1.23456;

/** Minutes up to now, the same number for each instrument, in the order of the key. */
const FILL = `
  INSERT INTO kline (venue, ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread)
  SELECT 'live', $1, 'M1', time, 1.1, 1.2, 1.0, 1.1 + (time / 60 % 1000) * 0.0001, 60, NULL, 0.0001
    FROM generate_series($2::bigint, $3::bigint, 60) AS time`;

/** Stores about `rows` minutes; returns the open time of the last one, Unix seconds. */
async function fill({ db }: Stores, rows: number): Promise<number> {
  const each = Math.ceil(rows / LIVE_LISTINGS.length);
  const last = Math.floor(Date.now() / 1000 / MINUTE_S) * MINUTE_S - MINUTE_S;
  const first = last - (each - 1) * MINUTE_S;
  await createKlineStore(db.pool, "live").ensurePartitions(first, last);
  for (const { ticker } of LIVE_LISTINGS) await db.pool.query(FILL, [ticker, first, last]);
  await db.pool.query("VACUUM ANALYZE kline");
  return last;
}

/** Pushes one tick, so that there is a quote. */
async function pushTick(ingest: Contestant, key: string): Promise<void> {
  const body = JSON.stringify({ ticker: TICKER, time_msc: Date.now(), bid: BID, ask: BID + 0.0001 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" };
  const response = await fetch(ingest.url + operations.ingestTicks.path, { method: "POST", headers, body });
  const text = await response.text();
  if (!text.includes('"accepted":1')) throw new Error(`the tick was not accepted: ${text}`);
}

/** Milliseconds from `fromMs` to the first correct answer; retries after refused connections and other answers. */
async function untilRight(url: string, key: string, isRight: (text: string) => boolean, fromMs: number): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  for (;;) {
    const text = await fetch(url, { headers }).then(
      (response) => response.text(),
      () => "",
    );
    const elapsedMs = performance.now() - fromMs;
    if (isRight(text)) return elapsedMs;
    if (elapsedMs > ANSWER_MAX_MS) throw new Error(`no correct answer from ${url}: ${text}`);
    await systemClock.wait(LOOK_INTERVAL_MS);
  }
}

interface ColdStart {
  readonly quotesMs: number;
  readonly klinesMs: number;
  /** Distinguishes a slow start from a busy machine. */
  readonly cpuMs: number;
}

/** Starts an edge like an operator; returns the milliseconds until quotes and klines are correct, and the CPU time until then. */
async function coldStart({ shared }: Stores, key: string, last: number): Promise<ColdStart> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const quotes = `${url}${operations.latestQuotes.path}?tickers=${TICKER}`;
  const window = `from=${last - 999 * MINUTE_S}&to=${last + MINUTE_S}&limit=1000`;
  const klines = `${url}${operations.klines.path}?ticker=${TICKER}&timeframe=M1&${window}`;
  const fromMs = performance.now();
  const starting = startChild(BUILT_SERVER, {
    ...shared,
    ROLE: "edge",
    PORT: `${port}`,
    HOST: "127.0.0.1",
    LOG_LEVEL: "info",
  });
  try {
    const [quotesMs, klinesMs] = await Promise.all([
      untilRight(quotes, key, (text) => text.includes(`"bid":${BID}`), fromMs),
      untilRight(klines, key, (text) => text.includes(`"time":${last}`) && text.split('"time":').length > 1000, fromMs),
    ]);
    return { quotesMs, klinesMs, cpuMs: (await starting).cpuSeconds() * 1000 };
  } finally {
    await (await starting).stop();
  }
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** Measures the time from the start of an edge to its first correct answers, with ten million stored klines. */
export async function benchCold(): Promise<Row[]> {
  const stores = await startStores();
  if (stores === undefined) return [{ what: "cold edge", value: "skipped: neither valkey-server nor redis-server is installed" }];
  try {
    const last = await fill(stores, ROWS_COUNT);
    const ingest = await startNode(stores, "ingest");
    try {
      await pushTick(ingest, ingest.liveKey);
      const runs: ColdStart[] = [];
      for (let run = 0; run < RUNS_COUNT; run += 1) runs.push(await coldStart(stores, ingest.liveKey, last));
      const spread = (times: readonly number[]) =>
        `${Math.round(median(times))} ms (${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))})`;
      const row = (what: string, times: readonly number[]): Row => ({
        what: `cold edge, ${ROWS_COUNT / 1e6} million klines stored: ${what}`,
        value: spread(times),
        ratio: { value: median(times) / 1000 / TARGET_S, target: 1, against: `${TARGET_S} s`, bound: "at most" },
      });
      return [
        row(
          "first correct quote",
          runs.map(({ quotesMs }) => quotesMs),
        ),
        row(
          "first 1000 correct klines",
          runs.map(({ klinesMs }) => klinesMs),
        ),
        { what: "the same: CPU time of the edge until then", value: spread(runs.map(({ cpuMs }) => cpuMs)) },
      ];
    } finally {
      await ingest.stop();
    }
  } finally {
    await stores.stop();
  }
}
