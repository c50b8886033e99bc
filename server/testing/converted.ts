import { expect } from "vitest";
import { manualClock } from "#lib/clock";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { klineAt } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { readRange } from "#server/store/history/minutes";
import { createReader } from "#server/store/history/reader";
import { inPostgres } from "#server/store/segments/segment-store";
import { createSegments } from "#server/store/segments/segments";
import type { TestDatabase } from "./database";
import { beginTestImport } from "./imports";
import { createRowHistory } from "./row-history";

const FOREVER_S = 4_000_000_000;
/** Too small to keep a month: what is read is what was stored. */
const CACHE_MB = 1;
const alignment = createAlignment();

/** A kline whose values differ by `value`. */
export const rowKline = (ticker: string, time: number, value: number, timeframe: Timeframe = "M1"): Kline => ({
  type: "kline",
  ticker,
  timeframe,
  time,
  open: 1 + value / 10,
  high: 1.5 + value / 10,
  low: 0.5,
  close: 1.23456,
  tick_volume: value + 1,
  real_volume: value % 2 === 0 ? null : value,
  spread: value === 1 ? null : 0.0001,
});

/** Tickers of a database whose klines an earlier release stored, before and after their conversion. */
export function createConversionBench(db: TestDatabase) {
  const rows = createRowHistory(db.pool);

  async function inLayers(ticker: string, timeframe: Timeframe): Promise<Kline[]> {
    const reader = createReader(createSegments(inPostgres, CACHE_MB));
    const all = { ticker, timeframe, from: 0, to: FOREVER_S, limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
    const { columns } = await reader.read(db.pool, all);
    return [...columns.time.keys()].map((row) => klineAt(columns, row, ticker, timeframe));
  }

  return {
    rows,
    inLayers,
    /**
     * Expects that layers show what rows show, in each timeframe, and the same minutes struck out.
     * @param untilS of longer klines only those that ended by then: the rows of open ones were written by a running service
     */
    async expectEqual(ticker: string, untilS = FOREVER_S): Promise<void> {
      for (const timeframe of TIMEFRAMES) {
        const hasEnded = ({ time }: Kline) => timeframe === "M1" || alignment.nextOpenTime(timeframe, time) <= untilS;
        const [layered, stored] = [await inLayers(ticker, timeframe), await rows.read(ticker, timeframe)];
        expect(layered.filter(hasEnded)).toEqual(stored.filter(hasEnded));
      }
      const range = { ticker, timeframe: "M1", from: 0, to: FOREVER_S } as const;
      const { struck } = await readRange(db.pool, createSegments(inPostgres, CACHE_MB), range);
      expect([...struck.time]).toEqual(await rows.struck(ticker));
    },
    await: (ticker: string) => db.pool.query("INSERT INTO history_unconverted VALUES ($1)", [ticker]),
    async waits(ticker: string): Promise<boolean> {
      return (await db.pool.query("SELECT FROM history_unconverted WHERE ticker = $1", [ticker])).rowCount === 1;
    },
    /** Begins an import by the clock of its own machine. @returns its number */
    async begin(startedMs: number, byOperator = false): Promise<number> {
      const number = await beginTestImport({ db, clock: manualClock(startedMs) });
      if (byOperator) await db.pool.query("UPDATE backfill SET by_operator = true WHERE number = $1", [number]);
      return number;
    },
  };
}
