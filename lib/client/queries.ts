import type { FileType } from "#lib/contract/files";
import type { PriceSide, Timeframe } from "#lib/contract/primitives";
import type { Summary } from "#lib/operations/marketSummary/declaration";

/** A window of klines, half-open on open time: from <= time < to. Instants are Dates or Unix seconds. */
export interface KlinesQuery {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly from?: number | Date | undefined;
  readonly to?: number | Date | undefined;
  /** 1 to 5000; 500 by default. */
  readonly limit?: number | undefined;
  /** Ask or mid prices instead of bids, of the klines that have them. */
  readonly price?: PriceSide | undefined;
  /** The klines as they would have been answered at this instant, not in the future. A fraction of a second is dropped. */
  readonly asOf?: number | Date | undefined;
}

/** What to summarise: the trading days with from <= date < to, as `2026-01-05`. A Date stands for its date in UTC. */
export interface SummaryQuery {
  readonly ticker: string;
  readonly from: string | Date;
  readonly to: string | Date;
  /** What a row stands for. */
  readonly by: Summary["by"];
  /** Only the office hours of this city. */
  readonly session?: Summary["session"];
  /** Only the first or last hour of each day or session. */
  readonly part?: Summary["part"];
  /** IANA time zone of the hours of `by: "hour_of_day"`; UTC by default. */
  readonly zone?: string | undefined;
}

/** A window of ticks, half-open: from <= time_msc < to. Instants are Dates or Unix milliseconds, as `time_msc` is. */
export interface TicksQuery {
  readonly ticker: string;
  /** Without it, the newest ticks before `to`. */
  readonly from?: number | Date | undefined;
  /** Now by default. */
  readonly to?: number | Date | undefined;
  /** 1 to 10,000; 1,000 by default. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before, in place of `from`. */
  readonly cursor?: string | undefined;
}

/** The files of a ticker whose period touches a range. Instants are Dates or Unix seconds. */
export interface FilesQuery {
  readonly ticker: string;
  readonly type: FileType;
  readonly from?: number | Date | undefined;
  readonly to?: number | Date | undefined;
  /** Klines alone: ask or mid prices in place of the bid, of the klines that have them. */
  readonly price?: PriceSide | undefined;
  /** Klines alone: the files as they would have been at this instant, not in the future. A fraction of a second is dropped. */
  readonly asOf?: number | Date | undefined;
}

/** A file of the list, and the format in which to get it: Parquet by default. */
export interface FileQuery {
  readonly id: string;
  readonly format?: "parquet" | "csv" | undefined;
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
