import { LRUCache } from "lru-cache";
import { tagOf } from "#lib/content-encoding";
import type { PriceSide, Timeframe } from "#lib/contract/primitives";
import type { Calendar } from "#lib/domain/calendar";
import { type Kline, toPublic } from "#lib/domain/kline";
import type { ResolvedWindow, WindowRead } from "#lib/domain/window";
import { isDatabaseAway } from "#lib/storage-errors";
import { klinesJson } from "./kline-json";
import { coversChanges, coversWindow, isSettled, mergeRows } from "./kline-merge";
import type { Market } from "./ports";
import { type Call, SUCCESS_HEAD, SUCCESS_TAIL } from "./question";

/** The parsed query of klines. */
export interface KlinesQuery {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly limit: number | undefined;
  /** Instant as of which to answer, Unix seconds. */
  readonly as_of?: number | undefined;
  readonly price?: PriceSide | undefined;
}

/** Rows of all cached windows of a venue together; a row takes about half a kilobyte, object and JSON. */
const CACHE_MAX_ROWS = 100_000;
/** Rows that an empty window counts as, so that the number of windows is bounded too. */
const WINDOW_MIN_ROWS = 20;
/** Smallest number of newest rows to read: with less overlap, every change in the view would need a new read. */
const NEWEST_MIN_ROWS = 8;

/** An encoded answer. */
interface EncodedWindow {
  readonly body: Uint8Array<ArrayBuffer>;
  /** The data in the body. */
  data(): object;
  /** Strong validator of the body; computed on first use. */
  etag(): string;
}

/** The current rows of a window. */
export interface Series {
  /**
   * The encoded answer with these rows. It is encoded again only when the rows, the state or the calendar have changed; the
   * JSON of the rows is reused while they stay the same.
   */
  encode(
    state: string,
    calendar: Calendar | undefined,
    make: (rows: readonly Kline[], lacking: readonly number[]) => { head: object; items: readonly Kline[] },
  ): EncodedWindow;
}

interface Entry extends Series {
  /** Rows of the last merge. */
  readonly rows: readonly Kline[];
  /** Minutes within the rows that lack ticks, Unix seconds. */
  readonly lacking: readonly number[];
  /** Revision of the view they were merged with; null when the view can no longer change them. */
  readonly viewRevision: number | null;
  readonly historyRevision: number;
}

const TAIL = Buffer.from(`}${SUCCESS_TAIL}`);

/**
 * Encodes an answer.
 * @param itemsJson of the items; their place in the body is what to give for the next head
 */
export function encoded(
  head: object,
  items: readonly Kline[],
  itemsJson: Buffer,
): EncodedWindow & { readonly itemsJson: Buffer } {
  const start = Buffer.from(`${SUCCESS_HEAD}${JSON.stringify(head).slice(0, -1)},"items":`);
  const body = Buffer.concat([start, itemsJson, TAIL]);
  let etag: string | undefined;
  return {
    body,
    itemsJson: body.subarray(start.length, -TAIL.length),
    data: () => ({ ...head, items: items.map(toPublic) }),
    etag: () => {
      etag ??= tagOf(body);
      return etag;
    },
  };
}

function createEntry(
  rows: readonly Kline[],
  lacking: readonly number[],
  viewRevision: number | null,
  historyRevision: number,
): Entry {
  /** The part of the last body, so that it is not kept twice. */
  let itemsJson: Buffer | undefined;
  let last: { state: string; calendar: Calendar | undefined; window: EncodedWindow } | undefined;
  return {
    rows,
    lacking,
    viewRevision,
    historyRevision,
    encode(state, calendar, make) {
      if (last !== undefined && last.state === state && last.calendar === calendar) return last.window;
      const { head, items } = make(rows, lacking);
      const window = encoded(head, items, itemsJson ?? klinesJson(items));
      itemsJson = window.itemsJson;
      last = { state, calendar, window };
      return window;
    },
  };
}

/** Stored rows, overlaid with the current rows of the view. */
function mergeWithView(
  { rows: stored, lacking }: Pick<Entry, "rows" | "lacking">,
  market: Market,
  query: KlinesQuery,
  read: WindowRead,
  history: number,
): Entry {
  const { ticker, timeframe } = query;
  const recent = market.view.recentKlines(ticker, timeframe);
  const rows = mergeRows(stored, recent, read);
  return createEntry(rows, lacking, isSettled(rows, recent, read) ? null : market.view.revision(ticker, timeframe), history);
}

/**
 * Answers a window from the view alone when the database is unavailable. The result must not be cached.
 * @throws the error of the read when the database is available, or when the view does not hold the whole window
 */
function fromView(market: Market, { ticker, timeframe }: KlinesQuery, read: WindowRead, error: unknown): Series {
  const recent = market.view.recentKlines(ticker, timeframe);
  if (!isDatabaseAway(error) || market.isBehind() || !coversWindow(recent, read)) throw error;
  return createEntry(mergeRows([], recent, read), [], null, 0);
}

/** The cached windows of a venue. */
function createWindows() {
  return {
    entries: new LRUCache<string, Entry>({
      maxSize: CACHE_MAX_ROWS,
      sizeCalculation: ({ rows }) => Math.max(WINDOW_MIN_ROWS, rows.length),
    }),
    /** Reads in flight, shared by all requests for the same window. */
    reads: new Map<string, Promise<Series>>(),
  };
}

/** Caches windows of klines by query; a window that ends with now keeps its key as time passes. */
export function createKlineCache() {
  const venues = new WeakMap<Market, ReturnType<typeof createWindows>>();

  function windowsOf(market: Market) {
    const windows = venues.get(market) ?? createWindows();
    venues.set(market, windows);
    return windows;
  }

  /** Reads the store. The revision is that of before the read: if history is rewritten during it, nobody gets these rows again. */
  async function load(call: Call<KlinesQuery>, read: WindowRead, key: string): Promise<Series> {
    const { market, query, admitDays } = call;
    const { ticker, timeframe } = query;
    const history = market.historyRevision();
    const rows = await market.store.read({ ticker, timeframe, ...read, prompt: true, admitDays });
    const [first] = rows;
    const lacking = first && (await market.store.stored?.lacking.minutes(ticker, first.time, read.to));
    const entry = mergeWithView({ rows, lacking: lacking ?? [] }, market, query, read, history);
    windowsOf(market).entries.set(key, entry);
    return entry;
  }

  return {
    /**
     * The rows of a window: cached rows updated from the view where that is enough, otherwise read from the store. While
     * the database is unavailable, the rows of the view, if it holds the whole window.
     * @throws what the store throws
     */
    open(call: Call<KlinesQuery>, window: ResolvedWindow): Series | Promise<Series> {
      const { market, query, nowMs, admitDays } = call;
      if (window.read === null) return createEntry([], [], null, 0);
      const { ticker, timeframe } = query;
      const read =
        window.read.end === "oldest" ? window.read : { ...window.read, limit: Math.max(NEWEST_MIN_ROWS, window.read.limit) };
      const { entries, reads } = windowsOf(market);
      const endsNow = query.to === undefined || query.to * 1000 > nowMs;
      const key = `${ticker} ${timeframe} ${query.from ?? ""} ${endsNow ? "" : window.to} ${window.limit} ${read.end === "newest" ? read.from : ""}`;
      const history = market.historyRevision();

      const known = entries.get(key);
      if (known?.historyRevision === history) {
        if (known.viewRevision === null || known.viewRevision === market.view.revision(ticker, timeframe)) return known;
        if (coversChanges(known.rows, market.view.recentKlines(ticker, timeframe))) {
          const updated = mergeWithView(known, market, query, read, history);
          entries.set(key, updated);
          return updated;
        }
      }
      // A caller without a limit does not share the read of one with a limit, which may be refused.
      const readKey = `${key} ${history} ${read.to} ${admitDays === undefined ? "" : "limited"}`;
      const running = reads.get(readKey);
      if (running !== undefined) return running;
      const asked = window.read;
      const reading = load(call, read, key)
        .catch((error: unknown) => fromView(market, query, asked, error))
        .finally(() => reads.delete(readKey));
      reads.set(readKey, reading);
      return reading;
    },
  };
}
