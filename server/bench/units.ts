import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import {
  HOURS_MAX_DAYS,
  KLINES_MAX_LIMIT_ROWS,
  KLINES_ROWS_PER_COST_UNIT,
  SUMMARY_MAX_DAYS,
  SUMMARY_MINUTES_MAX_DAYS,
  TICKERS_PER_REQUEST_MAX_COUNT,
} from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { createLog } from "#lib/log";
import { operations } from "#lib/operations/declarations";
import { marketSummary } from "#lib/operations/marketSummary/declaration";
import { DAY_MS, DAY_S, isoDate, MINUTE_S } from "#lib/units";
import { acquireDatabase } from "#server/database/database";
import { readEnv } from "#server/env";
import { HISTORY_FROM_S, storeHistory } from "./history";
import { startSpotwire } from "./product";
import { limited, type Row } from "./table";

const STORED_ROWS_COUNT = 50_000;
const CALLS_COUNT = 40;
/** Calls before the measurement, in which code is compiled. */
const WARM_UP_COUNT = 10;
/** What one unit may cost of the event loop. */
const UNIT_MAX_MS = 5;
const IDLE_MS = 3_000;
const INGEST_LINES_COUNT = 10_000;
const SINCE_S = Date.UTC(2020, 0, 2) / 1000;
const SUMMARY_LAST_DAY = Date.UTC(2026, 0, 1) / DAY_MS;
const KLINES_UNITS = KLINES_MAX_LIMIT_ROWS / KLINES_ROWS_PER_COST_UNIT;

type Server = Awaited<ReturnType<typeof startSpotwire>>;

/** The most expensive request of an operation; `index` makes each one different, so that no answer is kept from before. */
interface Worst {
  readonly what: string;
  readonly units: number;
  readonly venue?: "live";
  readonly request: (index: number) => { path: string; method?: "POST"; body?: string; type?: string };
}

const tickers = (listings: readonly { ticker: string }[]) =>
  listings
    .map(({ ticker }) => ticker)
    .slice(0, TICKERS_PER_REQUEST_MAX_COUNT)
    .join(",");
const SANDBOX_TICKERS = tickers(SANDBOX_LISTINGS);

const CURRENCIES = [...new Set(LIVE_LISTINGS.flatMap(({ base, quote }) => [base, quote]))];

const list = (id: "latestQuotes" | "latestSnapshots" | "marketStatus"): Worst => ({
  what: `${operations[id].summary}, ${SANDBOX_LISTINGS.length} tickers`,
  units: 1,
  request: () => ({ path: `${operations[id].path}?tickers=${SANDBOX_TICKERS}` }),
});

function klines(what: string, ticker: string, timeframe: Timeframe, from: (index: number) => number, venue?: "live"): Worst {
  const query = (index: number) => `ticker=${ticker}&timeframe=${timeframe}&from=${from(index)}&limit=${KLINES_MAX_LIMIT_ROWS}`;
  const request = (index: number) => ({ path: `${operations.klines.path}?${query(index)}` });
  return { what, units: KLINES_UNITS, request, ...(venue && { venue }) };
}

function summary(what: string, days: number): Worst {
  const query = (index: number) => {
    const to = SUMMARY_LAST_DAY - index;
    return { from: isoDate((to - days) * DAY_MS), to: isoDate(to * DAY_MS) };
  };
  return {
    what: `Summary ${what}`,
    units: marketSummary.cost(query(0) as Parameters<typeof marketSummary.cost>[0]),
    request: (index) => ({
      path: `${marketSummary.path}?${new URLSearchParams({ ticker: "EURUSD", ...query(index), by: "hour_of_day" })}`,
    }),
  };
}

function tool(what: string, units: number, name: string, args: (index: number) => object): Worst {
  return {
    what: `MCP, ${what}`,
    units,
    request: (id) => ({
      path: "/mcp",
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args(id) } }),
    }),
  };
}

function lines(index: number): string {
  const startMs = Date.now() - INGEST_LINES_COUNT;
  return Array.from({ length: INGEST_LINES_COUNT }, (_, line) => {
    const { ticker } = LIVE_LISTINGS[line % LIVE_LISTINGS.length] ?? { ticker: "EURUSD" };
    return `{"ticker":"${ticker}","time_msc":${startMs + line},"bid":${1 + index / 1e4},"ask":${1.1 + index / 1e4}}\n`;
  }).join("");
}

const WORST: readonly Worst[] = [
  { what: operations.instruments.summary, units: 1, request: () => ({ path: operations.instruments.path }) },
  list("latestQuotes"),
  list("latestSnapshots"),
  list("marketStatus"),
  {
    what: `Conversion to ${CURRENCIES.length} currencies`,
    units: 1,
    request: (index) => ({ path: `${operations.conversion.path}?from=USD&to=${CURRENCIES}&amount=${index + 1}` }),
  },
  {
    what: `Market status at a past time, ${SANDBOX_LISTINGS.length} tickers`,
    units: 1,
    request: (index) => {
      const at = new Date((SINCE_S + index * DAY_S) * 1000).toISOString();
      return { path: `${operations.marketStatus.path}?tickers=${SANDBOX_TICKERS}&at=${at}` };
    },
  },
  {
    what: `Trading hours of ${HOURS_MAX_DAYS} days`,
    units: 1,
    request: (index) => {
      const from = SINCE_S + index * DAY_S;
      return { path: `${operations.marketHours.path}?ticker=TESTMETAL&from=${from}&to=${from + HOURS_MAX_DAYS * DAY_S}` };
    },
  },
  summary(`of ${SUMMARY_MINUTES_MAX_DAYS} days of minutes`, SUMMARY_MINUTES_MAX_DAYS),
  summary(`of ${SUMMARY_MAX_DAYS} days of hours`, SUMMARY_MAX_DAYS),
  summary("of a year of hours", 366),
  klines(`M1 klines of the sandbox, ${KLINES_MAX_LIMIT_ROWS} rows`, "EURUSD", "M1", (index) => SINCE_S + 4 * index * DAY_S),
  klines(`H4 klines of the sandbox, ${KLINES_MAX_LIMIT_ROWS} rows`, "EURUSD", "H4", (index) => SINCE_S + index * DAY_S),
  klines("D1 klines of the sandbox since 2020", "EURUSD", "D1", (index) => SINCE_S + index * DAY_S),
  klines("MN1 klines of the sandbox since 2020", "GBPUSD", "MN1", (index) => SINCE_S + index * DAY_S),
  klines("MN1 klines of the sandbox since 1970", "AUDUSD", "MN1", (index) => index),
  klines(
    `M1 klines of live, ${KLINES_MAX_LIMIT_ROWS} rows`,
    "XAUUSD",
    "M1",
    (index) => HISTORY_FROM_S + index * MINUTE_S,
    "live",
  ),
  {
    what: `M1 klines of live as CSV, ${KLINES_MAX_LIMIT_ROWS} rows`,
    units: KLINES_UNITS,
    venue: "live",
    request: (index) => {
      const query = `ticker=XAUUSD&timeframe=M1&from=${HISTORY_FROM_S + index * MINUTE_S}&limit=${KLINES_MAX_LIMIT_ROWS}`;
      return { path: `${operations.klines.path}?${query}&format=csv` };
    },
  },
  klines("M1 klines of live since 1970", "XAUUSD", "M1", (index) => index, "live"),
  {
    what: operations.createStreamTicket.summary,
    units: 1,
    request: () => ({ path: operations.createStreamTicket.path, method: "POST" }),
  },
  tool("latest quotes, all tickers", 1, "latestQuotes", () => ({ tickers: SANDBOX_TICKERS.split(",") })),
  tool(`M1 klines, ${KLINES_MAX_LIMIT_ROWS} rows`, KLINES_UNITS, "klines", (index) => ({
    ticker: "EURUSD",
    timeframe: "M1",
    from: SINCE_S + 4 * index * DAY_S,
    limit: KLINES_MAX_LIMIT_ROWS,
  })),
  {
    what: `${operations.ingestTicks.summary}, ${INGEST_LINES_COUNT} lines (a batch may have ten times as many)`,
    units: 1,
    venue: "live",
    request: (index) => ({
      path: operations.ingestTicks.path,
      method: "POST",
      body: lines(index),
      type: operations.ingestTicks.body?.mediaType ?? "",
    }),
  },
];

async function call(server: Server, { venue, request }: Worst, index: number): Promise<number> {
  const { path: target, method = "GET", body, type = "application/json" } = request(index);
  const headers = {
    authorization: `Bearer ${venue === "live" ? server.liveKey : server.testKey}`,
    ...(method === "POST" && { "content-type": type, accept: "application/json, text/event-stream" }),
  };
  const response = await fetch(server.url + target, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${target}: ${text.slice(0, 500)}`);
  return Buffer.byteLength(text);
}

/** The share of its time that the event loop works without requests, because the sandbox's feed never pauses. */
async function idleShare(server: Server): Promise<number> {
  const before = server.loopSeconds();
  await systemClock.wait(IDLE_MS);
  return ((server.loopSeconds() - before) * 1000) / IDLE_MS;
}

async function measure(server: Server, worst: Worst, idle: number): Promise<Row> {
  for (let index = 0; index < WARM_UP_COUNT; index++) await call(server, worst, index);
  let bytes = 0;
  const startMs = performance.now();
  const before = server.loopSeconds();
  for (let index = WARM_UP_COUNT; index < WARM_UP_COUNT + CALLS_COUNT; index++) bytes += await call(server, worst, index);
  const units = CALLS_COUNT * worst.units;
  const loopMs = (server.loopSeconds() - before) * 1000 - idle * (performance.now() - startMs);
  const ms = Math.max(0, loopMs) / units;
  const what = `${worst.what}: event loop per unit, beside ${Math.round(bytes / units)} bytes`;
  return limited(worst.what, what, "ms", [ms], UNIT_MAX_MS);
}

/**
 * Decides what each operation costs in units, which no other bench shows: what one unit of the rate limit buys at most: CPU of the event loop, and bytes. The most expensive request of each
 * operation that could be found, each with another window, one at a time.
 */
export async function benchUnits(): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const env = readEnv({ DATA_DIR: folder, LOG_LEVEL: "error" });
  const { db, release } = await acquireDatabase(env, createLog("error"), systemClock);
  await storeHistory(db, STORED_ROWS_COUNT);
  const settings = { DATABASE_URL: String(db.pool.options.connectionString), LIVE_FEED: "push" };
  const server = await startSpotwire({ ...settings, NEXTAUTH_SECRET: randomBytes(32).toString("hex") });
  try {
    const rows: Row[] = [];
    const idle = await idleShare(server);
    for (const worst of WORST) rows.push(await measure(server, worst, idle));
    return rows;
  } finally {
    await server.stop();
    await release();
    rmSync(folder, { recursive: true, force: true });
  }
}
