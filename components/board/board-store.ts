import type { BarSource } from "#lib/client/bar-source";
import type { BoardRow } from "#lib/contract/board";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import type { Credential } from "../portal/credential";
import { noAnswerOf } from "../portal/no-answer";
import { whileVisible } from "../portal/while-visible";
import { createCharts, type Link } from "./charts";
import type { Feed } from "./feed";
import { createSpeedMeter, type TickSpeed } from "./tick-speed";

interface Connection {
  readonly credential: Credential;
  /** Updates the board with new data of a ticker. */
  tell(ticker: string, change: Partial<Pick<BoardRow, "price" | "state" | "reason">>): void;
  onFeed(feed: Feed): void;
  /** Ticks arrived over the stream; `tickMs` is when the service got the newest. */
  onTick(ticker: string, tickMs: number, count: number): void;
  /** How far the service's clock is ahead of this one. */
  onAhead(aheadMs: number): void;
}

/** Updates a board until the signal aborts. */
export type Connect = (connection: Connection, signal: AbortSignal) => Link;

/** The rows of a board and their source. Listeners run at most once per frame. */
export interface BoardStore {
  row(ticker: string): BoardRow | undefined;
  feed(): Feed;
  /** Unix milliseconds of the newest price, null before the first. */
  lastMs(): number | null;
  /** How fast ticks reach this page, by what it measured itself. */
  speed(): TickSpeed;
  followRow(ticker: string, listener: () => void): () => void;
  followFeed(listener: () => void): () => void;
  /** Follows these tickers instead of the first ones; of more, the first. */
  watch(tickers: readonly string[]): void;
  /** The source of a chart of a ticker; it shares the connection. */
  bars(ticker: string): BarSource;
  /** Connects while the page is visible, if there is a credential; call the result to stop. */
  start(): () => void;
}

interface BoardStoreOptions {
  readonly rows: readonly BoardRow[];
  /** Undefined for a board that never updates. */
  readonly credential: Credential | undefined;
  /** Loaded on first use, so that it does not delay the page. */
  readonly load: () => Promise<Connect>;
}

/** Tickers followed at once, as many as the demo key may: each is a subscription. */
const WATCHED_MAX_COUNT = PLAN_DEFAULTS.demo.subscriptionsPerConnection;

const newest = (rows: Iterable<BoardRow>): number | null =>
  Array.from(rows).reduce<number | null>(
    (last, { price }) => (price === null ? last : Math.max(last ?? 0, price.time_msc)),
    null,
  );

function add<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Creates a board that does not update until it is started. */
export function createBoardStore({ rows, credential, load }: BoardStoreOptions): BoardStore {
  const known = new Map(rows.map((row) => [row.ticker, row]));
  const rowListeners = new Map(rows.map(({ ticker }) => [ticker, new Set<() => void>()]));
  const feedListeners = new Set<() => void>();
  const changed = new Set<string>();
  const charts = createCharts();
  let watched: readonly string[] = [...known.keys()].slice(0, WATCHED_MAX_COUNT);
  let feed: Feed = { by: "page" };
  let last = newest(rows);
  let frame = 0;
  let running: AbortController | undefined;
  let link: Link | undefined;
  const meter = createSpeedMeter();
  /** When the service got the ticks that the next frame shows. */
  const unpainted = new Map<string, number>();
  let aheadMs: number | undefined;

  function flush(): void {
    frame = 0;
    for (const ticker of changed) for (const listener of rowListeners.get(ticker) ?? []) listener();
    changed.clear();
    const shown = [...unpainted.values()];
    unpainted.clear();
    const ahead = aheadMs;
    if (shown.length === 0 || ahead === undefined) return;
    // A task after the frame's callbacks runs once the frame was painted.
    setTimeout(() => {
      for (const tickMs of shown) meter.painted(tickMs, Date.now() + ahead);
    });
  }

  function onTick(ticker: string, tickMs: number, count: number): void {
    meter.arrived(Date.now(), count);
    unpainted.set(ticker, tickMs);
  }

  function onAhead(ms: number): void {
    aheadMs = ms;
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
    charts.onFeed(next);
  }

  function connect(credential: Credential): void {
    const connecting = new AbortController();
    const { signal } = connecting;
    running = connecting;
    load().then(
      (open) => {
        if (signal.aborted) return;
        link = open({ credential, tell, onFeed, onTick, onAhead }, signal);
        link.watch(watched);
        charts.linked(link);
      },
      // A script of the page could not be loaded.
      () => signal.aborted || onFeed({ by: "none", why: noAnswerOf() }),
    );
  }

  function disconnect(): void {
    running?.abort();
    running = undefined;
    link = undefined;
    meter.clear();
    charts.unlinked();
  }

  return {
    row: (ticker) => known.get(ticker),
    feed: () => feed,
    lastMs: () => last,
    speed: () => meter.speed(Date.now()),
    followRow: (ticker, listener) => add(rowListeners.get(ticker) ?? new Set(), listener),
    followFeed: (listener) => add(feedListeners, listener),
    watch(tickers) {
      watched = tickers.slice(0, WATCHED_MAX_COUNT);
      link?.watch(watched);
    },
    bars: charts.bars,
    start() {
      if (credential === undefined) return () => undefined;
      // A hidden page leaves the connection: a key allows few, and few tickers on each.
      return whileVisible(() => {
        connect(credential);
        return disconnect;
      });
    },
  };
}
