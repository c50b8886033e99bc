import type { Instrument } from "./instrument";
import { LIVE_QUERY } from "./markets";
import type { SourceKind } from "./portal-data";
import type { Venue } from "./primitives";

/** What the pages about coverage show: M1 klines, in UTC. Times are ISO 8601. */

/** The list of all instruments of a venue, and the same as a document. */
export const COVERAGE_PATH = "/data";
export const COVERAGE_DOCUMENT_PATH = "/data.json";
/** The page of the coverage of a venue, or of one of its instruments. */
export const coveragePath = (venue: Venue, ticker?: string): string =>
  `${COVERAGE_PATH}${ticker === undefined ? "" : `/${ticker}`}${venue === "live" ? LIVE_QUERY : ""}`;

/** What is stored of a stretch of time. */
interface Covered {
  /** M1 klines that are stored. */
  readonly rows: number;
  /** Minutes in which the market was open by its calendar, between the first and the last kline of all; null where it does not say. */
  readonly open_minutes: number | null;
  /**
   * Open minutes without a kline, at least: klines in closed hours of a month count for open minutes that have none, so it can be less than the
   * gaps of that month. Null where open_minutes is.
   */
  readonly missing_minutes: number | null;
}

/** A UTC month with at least one open minute or kline, as 2024-03. */
export interface MonthCoverage extends Covered {
  readonly month: string;
}

/** The months of a UTC year. */
interface YearSum extends Covered {
  readonly year: number;
}

/** An instrument, and what is stored of it. */
export interface CoverageRow
  extends Covered,
    Pick<Instrument, "ticker" | "name" | "asset_class" | "base_currency" | "quote_currency"> {
  /** Open times of the first and the last kline; null without any. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  /** When stored klines were last added or changed; null without any, and in the sandbox, which computes them. */
  readonly changed_at: string | null;
  /** Ascending, without holes. */
  readonly years: readonly YearSum[];
}

/** All instruments of a venue. */
export interface CoverageReport {
  readonly venue: Venue;
  /** When it was counted. */
  readonly at: string;
  readonly items: readonly CoverageRow[];
}

/** What sources of one kind and provider contributed. */
export interface CoverageSource {
  readonly kind: SourceKind;
  /** Who made the prices, where it is known. */
  readonly provider: string | null;
  /** M1 klines that show today. */
  readonly rows: number;
  /** How many imports, repairs, pushes or corrections; null for a feed and the formula. */
  readonly count: number | null;
  /** The first and the last month with one of these klines, as 2024-03. */
  readonly first_month: string;
  readonly last_month: string;
  /** When the last of them began; null for a feed and the formula. */
  readonly last_at: string | null;
}

/** The coverage of one instrument. */
export interface TickerCoverage {
  readonly venue: Venue;
  readonly row: CoverageRow;
  /** Null where no calendar says when the market is open. */
  readonly calendar: string | null;
  /** Ascending. */
  readonly months: readonly MonthCoverage[];
  /** Those with the most klines first. */
  readonly sources: readonly CoverageSource[];
}
