import { z } from "zod";
import { type Timeframe, VENUES } from "./primitives";
import type { StatusReason } from "./status";

/** What the operators' pages about stored history read. It is about the live venue; times are ISO 8601, years are UTC. */

/** Gaps, and ranges in closed hours, that are listed for a year, longest first. */
export const DATA_GAPS_PER_YEAR_COUNT = 50;
/** Closures besides weekends and daily breaks that are listed for a year, from its beginning. */
export const DATA_CLOSURES_PER_YEAR_COUNT = 50;
/** Ranges of klines that lack ticks that are listed for a year, newest first. */
export const DATA_LACKS_PER_YEAR_COUNT = 20;
export const DATA_CLOSED_RANGES_PER_YEAR_COUNT = 10;
/** Spikes, frozen runs and jumps that are listed for a year, worst first. */
export const DATA_SUSPECTS_PER_YEAR_COUNT = 20;
/** A kline is a spike when it goes beyond both its neighbors by this many times the mean range of its day. */
export const DATA_SPIKE_MIN_RATIO = 15;
/** Prices are frozen when at least this many klines in a row are the same. */
export const DATA_FROZEN_MIN_MINUTES = 30;
/**
 * A level jumps where a kline opens this many mean ranges of its day away from the close before, for each minute between them as
 * chance adds up, and the prices stay there.
 */
export const DATA_JUMP_MIN_RATIO = 15;
/** Klines before and after a jump whose medians must be apart. */
export const DATA_JUMP_LASTING_COUNT = 60;
/** Imports that are listed for a ticker, newest first. */
export const DATA_SOURCES_MAX_COUNT = 100;

/** A UTC year. */
export const Year = z.string().regex(/^(19[7-9]|20\d|21\d)\d$/, "must be a year from 1970 to 2199.");

/** Asks for the next page of tickers or years by `next_before` of the page before. */
export const DataTickersQuery = z.strictObject({ before: z.string().max(20).optional() });
export type DataTickersQuery = z.infer<typeof DataTickersQuery>;
export const DataYearsQuery = z.strictObject({ before: Year.optional() });
export type DataYearsQuery = z.infer<typeof DataYearsQuery>;
/** The query of the document of coverage. */
export const CoverageQuery = z.strictObject({ venue: z.enum(VENUES).default("sandbox") });
export const DataSuspectsQuery = z.strictObject({ year: Year });
export type DataSuspectsQuery = z.infer<typeof DataSuspectsQuery>;

/** Layers that are listed of a year, newest first; the feed is always among them. */
export const DATA_LAYERS_MAX_COUNT = 100;
export const DataLayersQuery = z.strictObject({ year: Year });
export const DataPastQuery = z.strictObject({
  year: Year,
  as_of: z.iso.datetime({ offset: true, error: "must be an ISO 8601 timestamp with offset." }),
});
export type DataPastQuery = z.infer<typeof DataPastQuery>;

/** The name of what a feed wrote, among the numbers of imports. */
export const FEED_SOURCE = "feed";
const Source = z
  .string()
  .regex(new RegExp(`^(${FEED_SOURCE}|[1-9]\\d{0,8})$`), `must be the number of an import or "${FEED_SOURCE}".`);
export const DataComparisonQuery = z.strictObject({ a: Source, b: Source, before: Year.optional() });
export type DataComparisonQuery = z.infer<typeof DataComparisonQuery>;

/** A page of a list that takes time to count; `next_before` is null on the last one. */
export interface DataPage<Item> {
  readonly items: readonly Item[];
  readonly next_before: string | null;
}

/** The stored M1 klines of a ticker. */
export interface DataTicker {
  readonly ticker: string;
  readonly rows: number;
  /** Open times of the first and last; null without any. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  /** UTC years with at least one. */
  readonly years: number;
  /** What its files take where they lie: of klines, of ticks, and of the ticks of the thirty days before now. */
  readonly bytes: number;
  readonly tick_bytes: number;
  readonly tick_month_bytes: number;
}

/** What an import wrote to a ticker. */
export interface DataImport {
  readonly number: number;
  readonly file: string;
  readonly files: number;
  readonly started_at: string;
  /** Open times of its first and last kline. */
  readonly first_at: string;
  readonly last_at: string;
  readonly stored: number;
  readonly overwritten: number;
  readonly already_there: number;
  readonly undone_at: string | null;
  /** What was doubtful about its files. */
  readonly doubts: readonly string[];
}

/** Klines of a timeframe above M1 that an import wrote to a ticker. They show where no minutes are stored. */
export interface DataLongerImport extends Pick<DataImport, "number" | "file" | "first_at" | "last_at" | "stored" | "undone_at"> {
  readonly timeframe: Timeframe;
  /** Those that minutes covered when they were imported. */
  readonly covered: number;
}

/** Where klines come from. A formula computes those of the sandbox. */
export type SourceKind = "feed" | "import" | "repair" | "push" | "correction" | "formula";

/** Why ticks lack: the feed was lost or silent, the service did not run, or it refused what was pushed. */
export type LackReason = "feed" | "stopped" | "refused";

/** A ticker, and where its klines may come from. */
export interface DataHead {
  readonly ticker: string;
  readonly digits: number;
  readonly pip_size: number;
  /** Null where no calendar says when the market is open. */
  readonly calendar: string | null;
  readonly first_at: string | null;
  readonly last_at: string | null;
  /** The UTC years of which layers say something, also undone ones, and the feed of today; null without any. */
  readonly said: { readonly first: number; readonly last: number } | null;
  /** What its files take where they lie: of layers, of what shows, and of computed klines. */
  readonly bytes: number;
  /** What the files of its ticks take. */
  readonly tick_bytes: number;
  readonly imports: readonly DataImport[];
  readonly longer: readonly DataLongerImport[];
}

/** What a layer said of a UTC month. */
interface DataLayerMonth {
  /** As 2024-03. */
  readonly month: string;
  /** Open times of the first and the last minute. */
  readonly first_at: string;
  readonly last_at: string;
  readonly rows: number;
  /** Those that show, or that take a kline out. */
  readonly shown: number;
}

/** What a source said of the minutes of a UTC year. */
export interface DataLayer {
  /** The number of the import; null for the feed. */
  readonly number: number | null;
  readonly kind: SourceKind;
  /** Its file or, without one, what it is; empty for the feed. */
  readonly label: string;
  readonly started_at: string | null;
  readonly undone_at: string | null;
  /** What can be done with it now. */
  readonly change: "undo" | "redo" | null;
  readonly rows: number;
  readonly shown: number;
  readonly bytes: number;
  /** Ascending. */
  readonly months: readonly DataLayerMonth[];
}

/** The layers of a UTC year, as they lie over each other: the one that counts most is first. */
export interface DataLayers {
  readonly year: number;
  readonly layers: readonly DataLayer[];
  /** How many there are. */
  readonly count: number;
  /** Minutes of the feed that are in no layer yet; they show unless another layer covers them. */
  readonly open_rows: number;
}

/** The minutes of a UTC month as they showed at an instant. */
interface DataPastMonth {
  /** As 2024-03. */
  readonly month: string;
  readonly rows: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

/** A UTC year as it showed at an instant. */
export interface DataPast {
  readonly as_of: string;
  /** Null where nothing of the year showed. */
  readonly coverage: Omit<DataYearCoverage, "lacking"> | null;
  /** Ascending, months with klines. */
  readonly months: readonly DataPastMonth[];
  /** Minutes that show now and did not then, that showed then and do not now, and that have other values now. */
  readonly since: { readonly added: number; readonly removed: number; readonly changed: number };
}

/**
 * Why minutes in which the market was open have no kline: an operator struck them out, this service knows why it got no ticks, or nothing is
 * known of them but that nothing is stored.
 */
export type GapReason = "missing" | "struck" | LackReason;

/** Minutes without a kline in which the market was open. Closed hours inside do not count. */
export interface DataGap {
  readonly from: string;
  /** Excluded. */
  readonly to: string;
  readonly open_minutes: number;
  readonly reason: GapReason;
}

/** A time in which the market was closed, but for weekends and daily breaks. */
export interface DataClosure {
  readonly from: string;
  /** Excluded. */
  readonly to: string;
  readonly reason: StatusReason;
}

/** Klines in hours in which the market was closed. */
export interface DataClosedRange {
  readonly from: string;
  /** The open time of the last one. */
  readonly to: string;
  readonly rows: number;
  /** The close of the first one. */
  readonly close: number;
}

/** Klines that this service recorded only in part, and nothing has mended. */
export interface DataLack {
  /** Open times of the first and the last of them. */
  readonly from: string;
  readonly to: string;
  readonly rows: number;
  readonly reason: LackReason;
}

/** A UTC year of a ticker, between the first and the last stored minute: each minute is stored, closed or a gap. */
export interface DataYearCoverage {
  readonly year: number;
  readonly from: string;
  readonly to: string;
  readonly rows: number;
  /** Null where the calendar does not say when the market was open. */
  readonly minutes: { readonly closed: number; readonly gap: number; readonly in_closed_hours: number } | null;
  /** For each UTC day of the year, open minutes by the calendar and those that are stored. Empty without a calendar. */
  readonly days: { readonly open: readonly number[]; readonly stored: readonly number[] };
  readonly gap_count: number;
  readonly gaps: readonly DataGap[];
  readonly closures: readonly DataClosure[];
  readonly lacking: readonly DataLack[];
}

/** The same with what operators alone see. */
export interface DataYear extends DataYearCoverage {
  readonly closed_range_count: number;
  readonly closed_ranges: readonly DataClosedRange[];
  readonly timeframes: Readonly<Record<Timeframe, number>>;
}

/** A kline far off its neighbors. */
interface DataSpike {
  readonly at: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** The close before and the open after. */
  readonly before: number;
  readonly after: number;
  /** How far it goes beyond both, in mean ranges of its day. */
  readonly ratio: number;
}

/** Klines in a row with the same prices. */
interface DataFrozenRun {
  readonly from: string;
  /** The open time of the last one. */
  readonly to: string;
  readonly rows: number;
  readonly close: number;
}

/** A kline from which on the prices have another level: another instrument, or a source with other prices. */
interface DataJump {
  readonly at: string;
  /** The close before, and the open. */
  readonly before: number;
  readonly open: number;
  /** How far it jumps, in mean ranges of its day. */
  readonly ratio: number;
}

/** Suspicious places of a year. */
export interface DataSuspects {
  readonly year: number;
  readonly spikes: readonly DataSpike[];
  readonly frozen: readonly DataFrozenRun[];
  readonly jumps: readonly DataJump[];
}

/** How the versions that two sources have of the same minutes of a year differ. */
export interface DataComparison {
  readonly year: number;
  /** Minutes that both have. */
  readonly common: number;
  /** Those with the same open, high, low and close. */
  readonly equal: number;
  /** Differences of the closes, in pips. */
  readonly median_pips: number;
  readonly max_pips: number;
  readonly max_at: string;
  /** Where the second source agrees much better with the first when it is moved by so many hours, in which months (1 to 12). */
  readonly shift: { readonly hours: number; readonly months: readonly number[] } | null;
}
