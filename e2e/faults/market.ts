import { type PushedTick, tickRows } from "../feeder";
import { openTime, type PlainKline, type PlainTimeframe, plainKlines } from "../plain-klines";

/** Always open, so that its status tells of the feed alone; it is added with a low `stale_after`. */
export const OPEN_TICKER = "XFTUSD";
export const STALE_AFTER_S = 5;
/** All of five digits. */
export const TICKERS = [
  ...["EURUSD", "GBPUSD", "AUDUSD", "NZDUSD", "USDCAD", "USDCHF", "EURGBP", "EURCHF", "GBPCHF"],
  OPEN_TICKER,
] as const;
export const TIMEFRAMES = ["M1", "M5", "H1", "D1"] as const satisfies readonly PlainTimeframe[];

/**
 * What became of a tick. `uncertain`: a batch was not answered, and was refused as too late when it was sent again; nobody
 * can tell whether the first try was taken.
 */
type Fate = "pending" | "in" | "out" | "uncertain";

/** A tick that was sent, and what became of it. */
export interface SentTick {
  readonly tick: PushedTick;
  fate: Fate;
}

/** How many ticks had each fate. */
type Totals = Readonly<Record<Fate, number>>;

/** What the market must be by the ticks that are in. */
export interface Reference {
  add(tick: PushedTick): SentTick;
  /** The tick that was sent for a ticker with this time. */
  find(ticker: string, timeMs: number): SentTick | undefined;
  /** The newest tick that is in; undefined before the first. */
  newest(ticker: string): PushedTick | undefined;
  /** Klines of a ticker by open time; null for one that an uncertain tick may belong to. */
  klines(ticker: string, timeframe: PlainTimeframe): Map<number, PlainKline | null>;
  totals(): Totals;
}

/** Makes an empty one. */
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
