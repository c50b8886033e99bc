import type { Timeframe } from "#lib/contract/primitives";

/** A window of klines, half-open on open time: from <= time < to. Instants are Dates or Unix seconds. */
export interface KlinesQuery {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly from?: number | Date | undefined;
  readonly to?: number | Date | undefined;
  /** 1 to 5000; 500 by default. */
  readonly limit?: number | undefined;
  /** The klines as they would have been answered at this instant, not in the future. A fraction of a second is dropped. */
  readonly asOf?: number | Date | undefined;
}

/** The range of trading hours: from now on, and 14 days, unless given. Instants are Dates or Unix seconds. */
export interface HoursQuery {
  readonly ticker: string;
  readonly from?: number | Date | undefined;
  readonly to?: number | Date | undefined;
}

/** At most 100 tickers. */
export interface TickersQuery {
  readonly tickers: readonly string[];
}

/** What to convert: an amount, 1 by default, to at most 50 currencies. */
export interface ConversionQuery {
  readonly from: string;
  readonly to: readonly string[];
  readonly amount?: number | undefined;
}
