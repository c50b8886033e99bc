import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { systemClock } from "#lib/clock";
import { compileCalendar } from "#lib/domain/calendar";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { MINUTE_S } from "#lib/units";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices } from "#server/feed/sandbox/prices";

/** First minute of the bench history, Unix seconds: 2024-01-01. */
export const HISTORY_FROM_S = 1_704_067_200;
const PAGE_ROWS = 5_000;

/** Inserts M1 klines of the live instrument $1, from $2 to $3 inclusive (Unix seconds), in primary key order. */
export const ADD_MINUTES = `
  INSERT INTO kline (venue, ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread)
  SELECT 'live', $1, 'M1', time, 1.1, 1.2, 1.0, 1.1 + (time / 60 % 1000) * 0.0001, 60, NULL, 0.0001
    FROM generate_series($2::bigint, $3::bigint, 60) AS time`;

/** Generates `rows` synthetic M1 klines of XAUUSD in pages. */
export async function* history(rows: number): AsyncGenerator<Kline[]> {
  const listings = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing]));
  const always = compileCalendar({ kind: "always" }, []);
  const catalogue = { list: () => SANDBOX_LISTINGS, find: (ticker: string) => listings.get(ticker), calendar: () => always };
  const prices = createSandboxPrices({ catalogue, seed: 1 });
  const store = createSandboxKlines({
    prices,
    clock: systemClock,
    alignment: createAlignment(),
    blocks: createBlockStore(makeBlocksHere()),
  });
  const to = HISTORY_FROM_S + rows * MINUTE_S;
  for (let from = HISTORY_FROM_S; from < to; from += PAGE_ROWS * MINUTE_S) {
    const limit = Math.min(PAGE_ROWS, (to - from) / MINUTE_S);
    yield await store.read({ ticker: "XAUUSD", timeframe: "M1", from, to, limit, end: "oldest" });
  }
}

/** Writes the history to a file, one line per kline. */
export async function writeHistory(file: string, rows: number, header: string, line: (kline: Kline) => string): Promise<void> {
  const out = createWriteStream(file);
  out.write(header);
  for await (const page of history(rows)) if (!out.write(page.map(line).join(""))) await once(out, "drain");
  out.end();
  await once(out, "finish");
}
