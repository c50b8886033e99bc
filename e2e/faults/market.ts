import { type PushedTick, tickRows } from "../feeder";
import { openTime, type PlainKline, type PlainTimeframe, plainKlines } from "../plain-klines";

/** Always open, so that its status depends on the feed alone; it is added with a low `stale_after`. */
export const OPEN_TICKER = "XFTUSD";
export const STALE_AFTER_S = 5;
/** All have five digits. */
export const TICKERS = [
  "EURUSD",
  "GBPUSD",
  "AUDUSD",
  "NZDUSD",
  "USDCAD",
  "USDCHF",
  "EURGBP",
  "EURCHF",
  "GBPCHF",
  OPEN_TICKER,
] as const;
export const TIMEFRAMES = ["M1", "M5", "H1", "D1"] as const satisfies readonly PlainTimeframe[];

/**
 * The fate of a tick. `uncertain`: a batch was not answered, and was rejected as too late when it was sent again, so it is
 * unknown whether the first attempt was accepted.
 */
type Fate = "pending" | "in" | "out" | "uncertain";

/** A tick that was sent, and its fate. */
export interface SentTick {
  readonly tick: PushedTick;
  fate: Fate;
}

/** The number of ticks by fate. */
type Totals = Readonly<Record<Fate, number>>;

/** The expected state of the market, from the accepted ticks. */
export interface Reference {
  add(tick: PushedTick): SentTick;
  /** The tick of a ticker with this time. */
  find(ticker: string, timeMs: number): SentTick | undefined;
  /** The newest accepted tick; undefined before the first. */
  newest(ticker: string): PushedTick | undefined;
  /** Klines of a ticker by open time; null for one that may contain an uncertain tick. */
  klines(ticker: string, timeframe: PlainTimeframe): Map<number, PlainKline | null>;
  totals(): Totals;
}

/** Creates an empty one. */
export function createReference(): Reference {
  const sent = new Map<string, Map<number, SentTick>>(TICKERS.map((ticker) => [ticker, new Map()]));
  const of = (ticker: string) => [...(sent.get(ticker)?.values() ?? [])];
  return {
    add(tick) {
      const entry: SentTick = { tick, fate: "pending" };
      sent.get(tick.ticker)?.set(tick.time_msc, entry);
      return entry;
    },
    find: (ticker, timeMs) => sent.get(ticker)?.get(timeMs),
    newest: (ticker) => of(ticker).findLast(({ fate }) => fate === "in")?.tick,
    klines(ticker, timeframe) {
      const taken = of(ticker).filter(({ fate }) => fate === "in");
      const rows = plainKlines(tickRows(taken.map(({ tick }) => tick)), timeframe);
      const klines = new Map<number, PlainKline | null>(rows.map((row) => [row.time, row]));
      for (const { tick, fate } of of(ticker))
        if (fate === "uncertain") klines.set(openTime(timeframe, Math.floor(tick.time_msc / 1000)), null);
      return klines;
    },
    totals() {
      const totals = { pending: 0, in: 0, out: 0, uncertain: 0 };
      for (const ticker of TICKERS) for (const { fate } of of(ticker)) totals[fate] += 1;
      return totals;
    },
  };
}
