import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import { isDatabaseAway } from "#lib/db";
import type { Calendar } from "#lib/domain/calendar";
import type { ResolvedWindow, WindowRead } from "#lib/domain/window";
import { coversChanges, coversWindow, isSettled, mergeRows } from "./kline-merge";
import type { Market } from "./ports";
import { SUCCESS_HEAD, SUCCESS_TAIL } from "./question";

/** The parsed query of klines. */
export interface KlinesQuery {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly limit: number | undefined;
}

/** Rows of all remembered windows of one venue together; a row takes about half a kilobyte, object and JSON. */
const CACHE_MAX_ROWS = 100_000;
/** What an empty window counts as, so that the number of windows is bounded too. */
const WINDOW_MIN_ROWS = 20;
const ETAG_CHARACTERS = 27;
/** Fewer newest rows than this are not read: with less overlap every change in the view would need a new read. */
const NEWEST_MIN_ROWS = 8;

/** An encoded answer. */
interface EncodedWindow {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Strong validator of the body; worked out when first asked for. */
  etag(): string;
}

/** The rows of one window as of now. */
export interface Series {
  /**
   * The answer around the rows. It is made again only when the rows, the state or the calendar are others than the last
   * time; the JSON of the rows is made once as long as the rows stay.
   */
  encode(
    state: string,
    calendar: Calendar | undefined,
    make: (rows: readonly Kline[]) => { head: object; items: readonly Kline[] },
  ): EncodedWindow;
}

interface Entry extends Series {
  /** Rows as they were merged last. */
  readonly rows: readonly Kline[];
  /** State of the view they were merged with; null when the view cannot change them any more. */
  readonly viewRevision: number | null;
  readonly historyRevision: number;
}

function encoded(head: object, itemsJson: string): EncodedWindow {
  const text = `${SUCCESS_HEAD}${JSON.stringify(head).slice(0, -1)},"items":${itemsJson}}${SUCCESS_TAIL}`;
  const body = Buffer.from(text);
  let etag: string | undefined;
  return {
    body,
    etag: () => {
      etag ??= `"${createHash("sha256").update(body).digest("base64url").slice(0, ETAG_CHARACTERS)}"`;
      return etag;
    },
  };
}

function createEntry(rows: readonly Kline[], viewRevision: number | null, historyRevision: number): Entry {
  let itemsJson: string | undefined;
  let last: { state: string; calendar: Calendar | undefined; window: EncodedWindow } | undefined;
  return {
    rows,
    viewRevision,
    historyRevision,
    encode(state, calendar, make) {
      if (last !== undefined && last.state === state && last.calendar === calendar) return last.window;
      const { head, items } = make(rows);
      itemsJson ??= JSON.stringify(items);
      last = { state, calendar, window: encoded(head, itemsJson) };
      return last.window;
    },
  };
}

/** Stored rows with those the view holds now over them. */
function mergeWithView(stored: readonly Kline[], market: Market, query: KlinesQuery, read: WindowRead, history: number): Entry {
  const { ticker, timeframe } = query;
  const recent = market.view.recentKlines(ticker, timeframe);
  const rows = mergeRows(stored, recent, read);
  return createEntry(rows, isSettled(rows, recent, read) ? null : market.view.revision(ticker, timeframe), history);
}

/**
 * A window that the view holds whole, in place of a read that found no database; not to be kept.
 * @throws the error of the read where it is another one, or the view does not hold the window
 */
function fromView(market: Market, { ticker, timeframe }: KlinesQuery, read: WindowRead, error: unknown): Series {
  const recent = market.view.recentKlines(ticker, timeframe);
  if (!isDatabaseAway(error) || market.isBehind?.() || !coversWindow(recent, read)) throw error;
  return createEntry(mergeRows([], recent, read), null, 0);
}

/** What is remembered of one venue. */
function createWindows() {
  return {
    entries: new LRUCache<string, Entry>({
      maxSize: CACHE_MAX_ROWS,
      sizeCalculation: ({ rows }) => Math.max(WINDOW_MIN_ROWS, rows.length),
    }),
    /** Reads under way, shared by all who wait for the same window. */
    reads: new Map<string, Promise<Series>>(),
  };
}

/** Remembers windows of klines by what was asked; a window that ends with now is one and the same at any time. */
export function createKlineCache() {
  const venues = new WeakMap<Market, ReturnType<typeof createWindows>>();

  function windowsOf(market: Market) {
    const windows = venues.get(market) ?? createWindows();
    venues.set(market, windows);
    return windows;
  }

  /** Reads the store; history that was rewritten meanwhile is not kept, since some rows may be from before. */
  async function load(market: Market, query: KlinesQuery, read: WindowRead, key: string): Promise<Series> {
    const { ticker, timeframe } = query;
    const history = market.historyRevision();
    const entry = mergeWithView(
      await market.store.read({ ticker, timeframe, ...read, prompt: true }),
      market,
      query,
      read,
      history,
    );
    if (market.historyRevision() === history) windowsOf(market).entries.set(key, entry);
    return entry;
  }

  return {
    /**
     * The rows of a window: remembered ones brought up to date from the view where that is enough, else read anew. While
     * the database is away, the rows of the view where they are all there is in the window.
     * @throws what the store throws
     */
    open(market: Market, query: KlinesQuery, window: ResolvedWindow, nowMs: number): Series | Promise<Series> {
      if (window.read === null) return createEntry([], null, 0);
      const { ticker, timeframe } = query;
      const read =
        window.read.end === "oldest" ? window.read : { ...window.read, limit: Math.max(NEWEST_MIN_ROWS, window.read.limit) };
      const { entries, reads } = windowsOf(market);
      const endsNow = query.to === undefined || query.to * 1000 > nowMs;
      const key = `${ticker} ${timeframe} ${query.from ?? ""} ${endsNow ? "" : window.to} ${window.limit}`;
      const history = market.historyRevision();

      const known = entries.get(key);
      if (known?.historyRevision === history) {
        if (known.viewRevision === null || known.viewRevision === market.view.revision(ticker, timeframe)) return known;
        if (coversChanges(known.rows, market.view.recentKlines(ticker, timeframe))) {
          const updated = mergeWithView(known.rows, market, query, read, history);
          entries.set(key, updated);
          return updated;
        }
      }
      const readKey = `${key} ${history} ${read.to}`;
      const running = reads.get(readKey);
      if (running !== undefined) return running;
      const asked = window.read;
      const reading = load(market, query, read, key)
        .catch((error: unknown) => fromView(market, query, asked, error))
        .finally(() => reads.delete(readKey));
      reads.set(readKey, reading);
      return reading;
    },
  };
}
