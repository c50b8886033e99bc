import type { IngestReceipt, TickRejection } from "#lib/contract/ingest";
import type { Instrument } from "#lib/contract/instrument";
import type { Kline } from "#lib/contract/kline";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Calendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { FeedSight } from "./feed-watch";

/** What is known now about one venue; synchronous, memory only. Its only writer is the view. */
export interface MarketView {
  quote(ticker: string): Quote | undefined;
  snapshot(ticker: string): Snapshot | undefined;
  /**
   * Newest klines held in memory, ascending: the open one last, before it the latest closed ones.
   * They win over rows of the store with the same open time, because the recorder writes later.
   */
  recentKlines(ticker: string, timeframe: Timeframe): readonly Kline[];
  /** Rises whenever a kline of this series changes; with the store's revision it names a state of the series. */
  revision(ticker: string, timeframe: Timeframe): number;
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
  /** True where somebody waits who has another way: the store gives up early when it does not answer. */
  prompt?: boolean;
}

/** The newest price state of a ticker, with the ask range of its trading day so far: klines hold bids only. */
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

/** In which minutes ticks came, as the stored klines tell it. */
export interface StoredMinutes {
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  /** Whether anything is stored of before. */
  readonly earlier: boolean;
}

/** Stored klines of one venue: a table for live, a formula for the sandbox. */
export interface KlineStore {
  read(query: KlineQuery): Promise<Kline[]>;
  /** The newest price state known of each ticker at `atMs` (Unix ms) or before, for filling the view at start. */
  lastQuotes(atMs: number): Promise<Map<string, LastQuote>>;
  /** The minutes from `from` (Unix seconds) on of which any of these tickers has a kline; absent where klines are computed. */
  minutesSince?(tickers: readonly string[], from: number): Promise<StoredMinutes>;
}

/** The listings and calendars of one venue, as the database has them now. */
export interface Catalogue {
  /** Listings by asset class, then ticker; retired ones are absent. */
  list(): readonly Listing[];
  find(ticker: string): Listing | undefined;
  /** The instrument as the API shows it. */
  instrument(ticker: string): Instrument | undefined;
  /** The compiled calendar of a ticker with its overrides; undefined when it has none. */
  calendar(ticker: string): Calendar | undefined;
}

/** One venue: the same parts twice, with different feeds and kline stores. */
export interface Market {
  readonly venue: Venue;
  readonly catalogue: Catalogue;
  readonly view: MarketView;
  readonly store: KlineStore;
  /** Slug of the bound provider, null where none is. */
  readonly provider: string | null;
  /**
   * Unix milliseconds this venue has reached, where its feed is the clock (a recording, a formula): what comes later
   * may still change. Absent where the venue goes by the wall clock.
   */
  readonly now?: () => number;
  /** Where another node closes klines: the instant (Unix ms) up to which it is known to have done so. */
  readonly closedUpTo?: () => number;
  /** True while there may be newer klines than the view holds; absent where the view is the first to know. */
  readonly isBehind?: () => boolean;
  /** What was noticed of the feed: in which minutes it delivered, how history was read. */
  readonly sight: FeedSight;
  /** Rises when stored history was rewritten (an import): every cached window of this venue is void. */
  historyRevision(): number;
  /**
   * Takes pushed ticks; absent where nothing may be pushed, or where another node takes them. Resolves once the engine has them
   * and the recorder has room.
   */
  readonly push?: ((ticks: readonly Tick[]) => Promise<readonly (TickRejection | null)[]>) | undefined;
  /** Sends pushed ticks to the node that takes them, where it may be another; absent where one node is all. */
  readonly forwardPush?: ((body: ReadableStream<Uint8Array> | null) => Promise<IngestReceipt>) | undefined;
}
