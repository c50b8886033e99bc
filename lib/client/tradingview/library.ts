/**
 * The part of the Datafeed API of TradingView's Charting Library that is used here, written after its public documentation
 * (https://www.tradingview.com/charting-library-docs/latest/connecting_data/datafeed-api/). The library's own types are compatible
 * by structure.
 */

/** A resolution as the library writes it: minutes, or `1D`, `1W`, `1M`. It is branded as in the library's types. */
export type Resolution = string & { [Symbol.species]: "ResolutionString" };

/** A bar. `time` is Unix milliseconds; that of a day, week or month is midnight UTC of its first trading day. */
export interface LibraryBar {
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

export interface DatafeedConfiguration {
  supported_resolutions: Resolution[];
  exchanges: { value: string; name: string; desc: string }[];
  symbols_types: { name: string; value: string }[];
  supports_marks: boolean;
  supports_timescale_marks: boolean;
  supports_time: boolean;
}

export interface SearchResult {
  symbol: string;
  full_name: string;
  ticker: string;
  description: string;
  exchange: string;
  type: string;
}

export interface SymbolInfo {
  name: string;
  full_name: string;
  ticker: string;
  description: string;
  type: string;
  exchange: string;
  listed_exchange: string;
  currency_code: string;
  timezone: "America/New_York";
  session: string;
  /** Dates without a session, as YYYYMMDD, separated by commas. */
  session_holidays: string;
  /** Dates with other sessions: `SESSION:YYYYMMDD,YYYYMMDD;SESSION:…`. */
  corrections: string;
  format: "price";
  minmov: number;
  pricescale: number;
  visible_plots_set: "ohlcv";
  volume_precision: number;
  has_intraday: boolean;
  intraday_multipliers: string[];
  has_daily: boolean;
  daily_multipliers: string[];
  has_weekly_and_monthly: boolean;
  weekly_multipliers: string[];
  monthly_multipliers: string[];
  supported_resolutions: Resolution[];
  data_status: "streaming";
}

/** What the library asks for: from <= time < to in Unix seconds, and at least `countBack` bars before `to`. */
export interface PeriodParams {
  from: number;
  to: number;
  /** Absent in old versions of the library. */
  countBack?: number;
  firstDataRequest: boolean;
}

export interface HistoryMetadata {
  /** Nothing in the range; the library asks for nothing older unless `nextTime` says that there is something. */
  noData: boolean;
  /** Unix seconds of the newest bar before the range. */
  nextTime?: number;
}

/** What identifies a symbol in a call of the library. */
export interface SymbolName {
  name: string;
  ticker?: string;
}
