import type { BoardRow } from "#lib/contract/board";
import { type NoAnswer, noAnswerOf } from "../portal/no-answer";

/** Where the board currently gets its prices. */
export type Feed =
  | { readonly by: "page" }
  | { readonly by: "stream" }
  | { readonly by: "polling"; readonly everyMs: number }
  | { readonly by: "none"; readonly why: NoAnswer }
  | { readonly by: "none"; readonly why: "limited"; readonly retryInS: number }
  | { readonly by: "none"; readonly why: "refused"; readonly detail: string };

interface Connection {
  readonly key: string;
  readonly tickers: readonly string[];
  /** Updates the board with new data of a ticker. */
  tell(ticker: string, change: Partial<Pick<BoardRow, "price" | "state" | "reason">>): void;
  onFeed(feed: Feed): void;
}

/** Updates a board until the signal aborts. */
export type Connect = (connection: Connection, signal: AbortSignal) => void;

/** The rows of a board and their source. Listeners run at most once per frame. */
export interface BoardStore {
  row(ticker: string): BoardRow | undefined;
  feed(): Feed;
  /** Unix milliseconds of the newest price, null before the first. */
  lastMs(): number | null;
  followRow(ticker: string, listener: () => void): () => void;
  followFeed(listener: () => void): () => void;
  /** Connects while the page is visible; call the result to stop. */
  start(): () => void;
}

interface BoardStoreOptions {
  readonly rows: readonly BoardRow[];
  /** The public demo key. */
  readonly demoKey: string;
  /** Loaded on first use, so that it does not delay the page. */
  readonly load: () => Promise<Connect>;
}

const newest = (rows: Iterable<BoardRow>): number | null =>
  Array.from(rows).reduce<number | null>(
    (last, { price }) => (price === null ? last : Math.max(last ?? 0, price.time_msc)),
    null,
  );

function add(listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Creates a board that does not update until it is started. */
export function createBoardStore({ rows, demoKey, load }: BoardStoreOptions): BoardStore {
  const known = new Map(rows.map((row) => [row.ticker, row]));
  const rowListeners = new Map(rows.map(({ ticker }) => [ticker, new Set<() => void>()]));
  const feedListeners = new Set<() => void>();
  const changed = new Set<string>();
  let feed: Feed = { by: "page" };
  let last = newest(rows);
  let frame = 0;
  let running: AbortController | undefined;

  function flush(): void {
    frame = 0;
    for (const ticker of changed) for (const listener of rowListeners.get(ticker) ?? []) listener();
    changed.clear();
  }

  function tell(ticker: string, change: Parameters<Connection["tell"]>[1]): void {
    const row = known.get(ticker);
    if (row === undefined) return;
    known.set(ticker, { ...row, ...change });
    if (change.price) last = Math.max(last ?? 0, change.price.time_msc);
    changed.add(ticker);
    if (frame === 0) frame = requestAnimationFrame(flush);
  }

  function onFeed(next: Feed): void {
    feed = next;
    for (const listener of feedListeners) listener();
  }

  function connect(): void {
    if (running !== undefined || document.hidden) return;
    running = new AbortController();
    const { signal } = running;
    load().then(
      (open) => {
        if (!signal.aborted) open({ key: demoKey, tickers: [...known.keys()], tell, onFeed }, signal);
      },
      // A script of the page could not be loaded.
      () => onFeed({ by: "none", why: noAnswerOf() }),
    );
  }

  function disconnect(): void {
    running?.abort();
    running = undefined;
  }

  return {
    row: (ticker) => known.get(ticker),
    feed: () => feed,
    lastMs: () => last,
    followRow: (ticker, listener) => add(rowListeners.get(ticker) ?? new Set(), listener),
    followFeed: (listener) => add(feedListeners, listener),
    start() {
      // A hidden page closes its connection: the demo key allows few per address.
      const onVisibility = () => (document.hidden ? disconnect() : connect());
      document.addEventListener("visibilitychange", onVisibility);
      connect();
      return () => {
        document.removeEventListener("visibilitychange", onVisibility);
        disconnect();
      };
    },
  };
}
