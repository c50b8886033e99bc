import type { BoardRow } from "./board";
import type { Instrument } from "./instrument";
import type { Kline } from "./kline";
import type { Venue } from "./primitives";
import type { MarketStatus, StatusReason } from "./status";

/** Klines of M30 that are read of a market: 24 hours of trading, which hold its trading day. */
export const SPARK_COUNT = 48;
/** The highest value of a line; the lowest is 0. */
export const SPARK_TOP = 100;
/** Klines that a market's page has from the start. */
export const FIRST_BARS_COUNT = 150;
/** Closures listed around the coming fortnight; a market with more of them is described as such. */
export const CLOSURES_MAX_COUNT = 100;
export const FORTNIGHT_DAYS = 14;

/**
 * What a page of the live venue takes from the limit of the pages of its reader's account, in units: about what its snapshots, states and
 * klines would cost as calls. Its stream and later reads count by themselves.
 */
export const LIVE_PAGE_COST_UNITS = 3;
/** The query that asks a page for the live venue. */
export const LIVE_QUERY = "?venue=live";
/** The page of all markets, or of one, in a venue; undefined: in the one that its reader is shown first. */
export const marketPath = (venue: Venue | undefined, ticker?: string): string =>
  `/markets${ticker === undefined ? "" : `/${ticker}`}${venue === undefined ? "" : `?venue=${venue}`}`;
/** Why a reader who did not ask for the sandbox is shown it. */
export type LiveRefusal = "signed_out" | "unverified" | "no_role" | "no_key" | "no_access" | "rate_limited" | "not_listed";

/** One row of the list of markets. */
export interface MarketRow
  extends BoardRow,
    Pick<Instrument, "name" | "asset_class" | "base_currency" | "quote_currency" | "pip_size"> {
  /**
   * The trading day of the price, from 0 (the lowest) to SPARK_TOP: the previous close that the day's change is measured from, the
   * closes of each half hour, and the price; empty when unknown.
   */
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

/** The kline of a week or a month as far as it is over. */
export interface PeriodRange extends Pick<Kline, "time" | "high" | "low"> {}

/** What the page of a market shows. */
export interface MarketDetail {
  readonly venue: Venue;
  readonly row: MarketRow;
  readonly instrument: Instrument;
  readonly status: MarketStatus;
  /** The newest klines of H1, ascending; empty while the database does not respond. */
  readonly bars: readonly PackedBar[];
  /** The trading week and month of its price, as their klines have them; null when unknown. */
  readonly ranges: { readonly W1: PeriodRange | null; readonly MN1: PeriodRange | null };
  /** The smallest spread of each half hour of the last 24 hours of trading, ascending, as [Unix seconds, price units]. */
  readonly spreads: readonly (readonly [time: number, spread: Kline["spread"]])[];
  /** When the market is open, from the past that a chart shows to a fortnight ahead; null when unknown or too fine. */
  readonly hours: {
    readonly from: number;
    readonly to: number;
    readonly open: readonly (readonly [opens: number, closes: number])[];
  } | null;
  /**
   * The closures from the day before this UTC day to a day after the coming fortnight, ascending: a fortnight of any time zone;
   * null when unknown or too many.
   */
  readonly closures: readonly Closure[] | null;
  /** Whether the live venue lists the instrument. */
  readonly in_live: boolean;
}
