import type { BoardRow } from "./board";
import type { Instrument } from "./instrument";
import type { Kline } from "./kline";
import type { Venue } from "./primitives";
import type { MarketStatus, StatusReason } from "./status";

/** Klines of M30 behind the line of a row: 24 hours of trading. */
export const SPARK_COUNT = 48;
/** The highest value of a line; the lowest is 0. */
export const SPARK_TOP = 100;
/** Klines that a market's page has from the start. */
export const FIRST_BARS_COUNT = 150;
/** Closures listed for the coming fortnight; a market with more of them is described as such. */
export const CLOSURES_MAX_COUNT = 100;
export const FORTNIGHT_DAYS = 14;

/**
 * What a page of the live venue takes from the rate limit of its reader's key, in units: about what its snapshots, states and
 * klines would cost as calls. Its stream and later reads count by themselves.
 */
export const LIVE_PAGE_COST_UNITS = 3;
/** The query that asks a page of the markets for the live venue; without it, it shows the sandbox. */
export const LIVE_QUERY = "?venue=live";
/** The page of all markets of a venue, or of one. */
export const marketPath = (venue: Venue, ticker?: string): string =>
  `/markets${ticker === undefined ? "" : `/${ticker}`}${venue === "live" ? LIVE_QUERY : ""}`;
/** Why a reader who asked for the live venue is shown the sandbox. */
export type LiveRefusal = "signed_out" | "unverified" | "no_key" | "no_access" | "rate_limited" | "not_listed";

/** One row of the list of markets. */
export interface MarketRow
  extends BoardRow,
    Pick<Instrument, "name" | "asset_class" | "base_currency" | "quote_currency" | "pip_size"> {
  /** Closes of the last 24 hours of trading, from 0 (the lowest) to SPARK_TOP; empty when unknown. */
  readonly spark: readonly number[];
}

/** A kline in the order time, open, high, low, close, tick volume: a page carries many. */
type PackedBar = readonly [time: number, open: number, high: number, low: number, close: number, volume: number];

/** A time in which a market is closed. */
export interface Closure {
  /** Unix seconds. */
  readonly from: number;
  readonly to: number;
  readonly reason: StatusReason | null;
}

/** What the page of a market shows. */
export interface MarketDetail {
  readonly venue: Venue;
  readonly row: MarketRow;
  readonly instrument: Instrument;
  readonly status: MarketStatus;
  /** The newest klines of H1, ascending; empty while the database does not respond. */
  readonly bars: readonly PackedBar[];
  /** The smallest spread of each half hour of the last 24 hours of trading, ascending, as [Unix seconds, price units]. */
  readonly spreads: readonly (readonly [time: number, spread: Kline["spread"]])[];
  /** When the market is open, from the past that a chart shows to a fortnight ahead; null when unknown or too fine. */
  readonly hours: {
    readonly from: number;
    readonly to: number;
    readonly open: readonly (readonly [opens: number, closes: number])[];
  } | null;
  /** The closures from the start of this UTC day to a fortnight later, ascending; null when unknown or too many. */
  readonly closures: readonly Closure[] | null;
  /** The venue whose calendar these closures are from: the live one, where it lists the instrument. */
  readonly closures_of: Venue;
}
