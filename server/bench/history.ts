import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { manualClock } from "#lib/clock";
import { compileCalendar } from "#lib/domain/calendar";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { columnsOf, emptyColumns, type KlineColumns, setRow } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Kline } from "#lib/domain/kline";
import { periodOf } from "#lib/domain/period";
import { createAlignment } from "#lib/domain/timeframe";
import { MINUTE_S } from "#lib/units";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices, type SandboxPrices } from "#server/feed/sandbox/prices";
import type { Database } from "#server/store/database/db";
import { say } from "#server/store/history/layers";
import { inTransaction } from "#server/store/history/transaction";
import { saidBy } from "#server/store/segments/segments";

/** First minute of the bench history, Unix seconds: 2015-01-01, so that five million minutes are in the past. */
export const HISTORY_FROM_S = 1_420_070_400;
/** The sandbox has no minutes before 2020: these are the ones that are moved. */
const SANDBOX_FROM_S = 1_577_836_800;
/** All of them are in the past of this clock. */
const SANDBOX_NOW_MS = Date.UTC(2040, 0);

/** The rival of stored klines: a table of rows. */
export const ROWS_TABLE = `CREATE TABLE IF NOT EXISTS bench_kline (
  ticker text COLLATE "C" NOT NULL, timeframe text COLLATE "C" NOT NULL, time bigint NOT NULL,
  open float8 NOT NULL, high float8 NOT NULL, low float8 NOT NULL, close float8 NOT NULL, tick_volume float8 NOT NULL, real_volume float8, spread float8,
  PRIMARY KEY (ticker, timeframe, time))`;

/** Inserts M1 klines of the instrument $1 into that table, from $2 to $3 inclusive (Unix seconds), in primary key order. */
export const ADD_MINUTES = `
  INSERT INTO bench_kline (ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread)
  SELECT $1, 'M1', time, 1.1, 1.2, 1.0, 1.1 + (time / 60 % 1000) * 0.0001, 60, NULL, 0.0001
    FROM generate_series($2::bigint, $3::bigint, 60) AS time`;

type Stored = Pick<Database, "pool" | "segments">;

async function store({ pool, segments }: Stored, ticker: string, columns: KlineColumns): Promise<void> {
  const statements = saidBy(columns, FEED_LAYER, Number.NaN);
  await inTransaction(pool, (client) => say(client, segments, { ticker, timeframe: "M1" }, statements));
}

/** Stores the same klines as ADD_MINUTES as segments, a month at a time. */
export async function storeMinutes(db: Stored, ticker: string, from: number, to: number): Promise<void> {
  for (let first = from; first <= to; ) {
    const end = Math.min(to + MINUTE_S, periodOf("M1", first).to);
    const columns = emptyColumns((end - first) / MINUTE_S);
    for (let row = 0, time = first; time < end; row += 1, time += MINUTE_S) {
      const close = 1.1 + ((time / MINUTE_S) % 1_000) * 0.0001;
      const values = { open: 1.1, high: 1.2, low: 1, close, tick_volume: 60, real_volume: null, spread: 0.0001 };
      setRow(columns, row, { time, ...values });
    }
    await store(db, ticker, columns);
    first = end;
  }
}

/** Stores `rows` synthetic M1 klines of XAUUSD. */
export async function storeHistory(db: Stored, rows: number): Promise<void> {
  for await (const page of history(rows)) await store(db, "XAUUSD", columnsOf(page));
}

/** The prices of the sandbox, as if its markets never closed. */
function sandboxPrices(): SandboxPrices {
  const listings = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing]));
  const always = compileCalendar({ kind: "always" }, []);
  const catalogue = { list: () => SANDBOX_LISTINGS, find: (ticker: string) => listings.get(ticker), calendar: () => always };
  return createSandboxPrices({ catalogue, seed: 1 });
}

/** Generates `rows` synthetic M1 klines of XAUUSD, a month at a time, as imports store them. */
async function* history(rows: number): AsyncGenerator<Kline[]> {
  const store = createSandboxKlines({
    prices: sandboxPrices(),
    clock: manualClock(SANDBOX_NOW_MS),
    alignment: createAlignment(),
    blocks: createBlockStore(makeBlocksHere()),
  });
  const movedS = SANDBOX_FROM_S - HISTORY_FROM_S;
  const to = HISTORY_FROM_S + rows * MINUTE_S;
  for (let from = HISTORY_FROM_S; from < to; ) {
    const end = Math.min(to, periodOf("M1", from).to);
    const range = { from: from + movedS, to: end + movedS, limit: (end - from) / MINUTE_S, end: "oldest" } as const;
    const klines = await store.read({ ticker: "XAUUSD", timeframe: "M1", ...range });
    yield klines.map((kline) => ({ ...kline, time: kline.time - movedS }));
    from = end;
  }
}

/** Writes texts to a file, one after the other. */
async function writeTexts(file: string, texts: AsyncIterable<string> | Iterable<string>): Promise<void> {
  await pipeline(texts, createWriteStream(file));
}

const rowOf = (k: Kline) => `${k.time},${k.open},${k.high},${k.low},${k.close},${k.tick_volume},,${k.spread}\n`;

/** Writes M1 klines of XAUUSD as a file to import. */
export function writeMinutes(file: string, rows: number): Promise<void> {
  async function* texts() {
    yield "time,open,high,low,close,tick_volume,real_volume,spread\n";
    for await (const page of history(rows)) yield page.map(rowOf).join("");
  }
  return writeTexts(file, texts());
}

/** Writes the same M1 klines as a file to copy into the table of rows. */
export function writeRows(file: string, rows: number): Promise<void> {
  async function* texts() {
    for await (const page of history(rows)) yield page.map((kline) => `XAUUSD,M1,${rowOf(kline)}`).join("");
  }
  return writeTexts(file, texts());
}

/** Writes ticks of EURUSD as a file to import, of whole minutes. @returns how many */
export async function writeTicks(file: string, atLeast: number): Promise<number> {
  let count = 0;
  function* texts() {
    const series = sandboxPrices().series("EURUSD");
    if (series === undefined) throw new Error("the sandbox has no EURUSD");
    yield "time,bid,ask\n";
    for (let minute = SANDBOX_FROM_S / MINUTE_S; count < atLeast; minute += 1) {
      const ticks = series.ticks(minute);
      count += ticks.length;
      yield ticks.map(({ time_msc, bid, ask }) => `${time_msc},${bid},${ask}\n`).join("");
    }
  }
  await writeTexts(file, texts());
  return count;
}
