import type { FileType } from "#lib/contract/files";
import type { IngestReceipt, TickRejection } from "#lib/contract/ingest";
import type { KlineReceipt } from "#lib/contract/ingest-klines";
import type { Instrument } from "#lib/contract/instrument";
import type { HeldBackTicks, PrecedenceReport, UpstreamReport } from "#lib/contract/portal-feeds";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Calendar } from "#lib/domain/calendar";
import type { Side } from "#lib/domain/columns";
import type { Listing } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import type { TickColumns } from "#lib/domain/tick-columns";
import type { Minutes } from "./coverage";
import type { FeedCoverage } from "./feed-watch";
import type { FileSource } from "./file-source";
import type { KlinePush } from "./mending";

/** The current state of a venue; synchronous, memory only. Its only writer is the view. */
export interface MarketView {
  quote(ticker: string): Quote | undefined;
  snapshot(ticker: string): Snapshot | undefined;
  /**
   * Newest klines held in memory, ascending: the open one last, before it the latest closed ones.
   * They win over rows of the store with the same open time, because the recorder writes later.
   */
  recentKlines(ticker: string, timeframe: Timeframe): readonly Kline[];
  /** Rises whenever a kline of this series changes; together with the store's revision it identifies a state of the series. */
  revision(ticker: string, timeframe: Timeframe): number;
}

/** A read of ticks of the past. */
export interface TickQuery {
  readonly ticker: string;
  /** Unix milliseconds, `to` excluded. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Which ticks are read when the range has more than `limit`. */
  readonly end: "oldest" | "newest";
  /** As that of KlineQuery. */
  readonly admitDays?: KlineQuery["admitDays"];
}

/** A read of stored klines: rows with from <= time < to, at most `limit`, from the named end; the answer is always ascending. */
export interface KlineQuery {
  ticker: string;
  timeframe: Timeframe;
  /** Unix seconds, included. */
  from: number;
  /** Unix seconds, excluded. */
  to: number;
  limit: number;
  /** Which rows are kept when the window holds more than `limit`. */
  end: "oldest" | "newest";
  /** Ask or mid prices instead of the bid, of the klines that have them. */
  price?: Side | undefined;
  /** Without minutes of the current day that ended later, Unix seconds. */
  endedBy?: number | undefined;
  /** True when the caller has a fallback: the store then fails early if the database does not answer. */
  prompt?: boolean;
  /** Called before days of minutes are computed, with their number, where klines are computed; throws to refuse them. */
  admitDays?: ((days: number) => void) | undefined;
}

/** The newest quote of a ticker, with the ask range of its trading day so far: klines hold bids only. */
export interface LastQuote {
  readonly ticker: string;
  /** Unix milliseconds. */
  readonly time_msc: number;
  readonly bid: number;
  readonly ask: number;
  /** Null where part of the day was not seen. */
  readonly ask_high: number | null;
  readonly ask_low: number | null;
}

/** The minutes with ticks, according to the stored klines. */
interface StoredMinutes {
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  /** Whether anything is stored from before. */
  readonly earlier: boolean;
}

/** The stored M1 klines of a range. */
interface StoredRuns {
  /** Open time (Unix seconds) of the newest of all, also outside the range. */
  readonly newest: number | null;
  /** Ascending ranges of minutes. Those that an operator struck out count as stored: nothing may fill them. */
  readonly runs: readonly Minutes[];
}

/** Knows which klines of the live venue lack ticks. */
export interface LackingKlines {
  /** Rises when ranges were added or removed. */
  revision(): number;
  /**
   * Open times (Unix seconds) of the M1 klines with from <= time < to that this service recorded only in part and nothing has
   * mended, ascending. Does not ask the database where no range is known.
   */
  minutes(ticker: string, from: number, to: number): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** The klines of a venue: a table for live, a formula for the sandbox. */
export interface KlineStore {
  read(query: KlineQuery): Promise<Kline[]>;
  /**
   * What `read` would have answered at an instant, Unix seconds: of what was stored and not undone then, minutes that had ended.
   * @throws Fault invalid_parameter when more than KLINES_AS_OF_MAX_MINUTES would have to be read, service_unavailable while that
   * instant is not known yet
   */
  readAt(query: KlineQuery, atS: number): Promise<Kline[]>;
  /** Ticks that the venue took, ascending by time, those of one time in the order in which they were taken. */
  readTicks(query: TickQuery): Promise<Pick<TickColumns, "time" | "bid" | "ask">>;
  /** The newest quote of each ticker at or before `atMs` (Unix ms), for filling the view at start. */
  lastQuotes(atMs: number): Promise<Map<string, LastQuote>>;
  /** What is known of its minutes as they are stored; null where klines are computed. */
  readonly stored: StoredKlines | null;
}

/** What is known of stored klines, besides their values. */
export interface StoredKlines {
  /** Open times of the klines with from <= time < to (Unix seconds) that were imported as such, not computed from minutes. */
  importedTimes(ticker: string, timeframe: Timeframe, from: number, to: number): Promise<readonly number[]>;
  /**
   * The stored M1 klines of a ticker with from <= time < to (Unix seconds). Such reads run one at a time.
   * @throws Fault service_unavailable when too many wait
   */
  runs(ticker: string, from: number, to: number): Promise<StoredRuns>;
  /** The M1 klines that a correction struck out, as they were, ascending. */
  struckBy(correction: number, ticker: string): Promise<readonly Kline[]>;
  /** Which of them lack ticks. */
  readonly lacking: Pick<LackingKlines, "revision" | "minutes">;
  /** The minutes since `from` (Unix seconds) in which any of these tickers has a kline. */
  minutesSince(tickers: readonly string[], from: number): Promise<StoredMinutes>;
}

/** A range of M1 klines that changed after the fact: open times in Unix seconds, both included. */
export interface ChangedMinutes {
  readonly first: number;
  readonly last: number;
  /** Number of the correction that struck some of them out. */
  readonly struck?: number | undefined;
}

/** The current listings and calendars of a venue. */
export interface Catalogue {
  /** Listings by asset class, then ticker; retired ones are absent. The same array until a listing or a calendar changes. */
  list(): readonly Listing[];
  find(ticker: string): Listing | undefined;
  /** The instrument as the API shows it. */
  instrument(ticker: string): Instrument | undefined;
  /** The compiled calendar of a ticker with its overrides; undefined when it has none. */
  calendar(ticker: string): Calendar | undefined;
}

/** The feed of a venue as operators see it. */
interface FeedState {
  /** The providers behind it. */
  readonly providers: readonly UpstreamReport[];
  /** Which of several providers are in force; null where there is one, or none. */
  readonly precedence: PrecedenceReport | null;
  /** The ticks that were kept out; null where ticks are not filtered. */
  readonly heldBack: HeldBackTicks | null;
  /** True where the ticks that reach the venue are kept. */
  readonly keepsTicks: boolean;
}

/** What became of a tick: null when it was accepted. */
export type Outcome = TickRejection | null;

/** Takes what is pushed to a venue: the process that leads it, or one that sends it there. */
export interface Leader {
  /**
   * Resolves once the ticks are in the engine and a kill cannot lose them.
   * @param read ticks, and for what was none the reason
   * @returns what became of each, in order; a reason stays as it is
   * @throws Fault service_unavailable when none could be taken
   */
  push(read: readonly (Tick | TickRejection)[]): Promise<readonly Outcome[]>;
  /** Most ticks of one `push` of which it tells what became of each. */
  readonly pushMaxTicks: number;
  /**
   * Takes the ticks of an NDJSON body.
   * @param tickers that the key may push; none: all
   * @throws Fault as `push`; invalid_parameter and payload_too_large for a body that cannot be read
   */
  takeTicks(body: AsyncIterable<Uint8Array> | null, tickers: readonly string[]): Promise<IngestReceipt>;
  /** Stores the closed M1 klines of an NDJSON body, all that can be stored or none. @throws Fault as `takeTicks` */
  takeKlines(body: AsyncIterable<Uint8Array> | null, push: KlinePush): Promise<KlineReceipt>;
}

/** A venue as a process reads it, wherever its events are made. Both venues have the same parts, with different feeds and kline stores. */
export interface Market {
  readonly venue: Venue;
  readonly catalogue: Catalogue;
  readonly view: MarketView;
  readonly store: KlineStore;
  /** Its history as files. */
  readonly files: Readonly<Record<FileType, FileSource>>;
  /** Slug of the bound provider, null without one. */
  readonly provider: string | null;
  /** The provider in force for a ticker, where clients see which of several is; else `provider`. */
  providerOf(ticker: string): string | null;
  /** False for an instrument that the feed is known not to bring: its provider does not offer it, or it was never pushed. */
  isOffered(ticker: string): boolean;
  feed(): FeedState;
  /**
   * The time of this venue when the wall clock is at `wallMs`, both in Unix milliseconds: the same, unless its feed sets the time (a
   * recording, a formula).
   */
  timeAt(wallMs: number): number;
  /** The instant (Unix ms) up to which klines are closed when the wall clock is at `wallMs`. */
  closedUpTo(wallMs: number): number;
  /** True while there may be newer klines than the view holds. */
  isBehind(): boolean;
  /** What was observed of the feed: in which minutes it delivered, and how history was loaded. */
  readonly coverage: FeedCoverage;
  /** Rises when stored history was rewritten (an import): every cached window of this venue is void. */
  historyRevision(): number;
  /** Takes what is pushed to it. */
  readonly leader: Leader;
}
