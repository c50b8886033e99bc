import type { BarListener, BarSource, LiveState } from "#lib/client/bar-source";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import { type Feed, troubleOf } from "./feed";

/** What an open connection can be asked for. */
export interface Link {
  /** Follows the prices and states of these tickers and of no others. */
  watch(tickers: readonly string[]): void;
  /** Reads and follows the klines of a ticker. */
  readonly read: (ticker: string) => NonNullable<BarSource["read"]>;
  follow(ticker: string, timeframe: Timeframe, onBar: BarListener["onBar"]): () => void;
}

/** A chart that follows the bars of a ticker, on whichever connection is open. */
interface Chart {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly listener: BarListener;
  stop?: (() => void) | undefined;
}

/** Likely reasons, where the service gave none. */
const NO_STREAM = {
  page: `The pages of this browser may have ${PLAN_DEFAULTS.demo.streamConnections} streams.`,
  live_page: `Your live key may lack the scope market:stream, or the pages of this browser have ${PLAN_DEFAULTS.demo.streamConnections} streams.`,
};

function stateOf(feed: Feed): LiveState {
  if (feed.by === "stream") return { phase: "live" };
  // Polling refreshes prices, not klines.
  const why =
    feed.by === "polling"
      ? `Can't open a stream, so this chart is not updated. ${feed.why ?? NO_STREAM[feed.key === "live_page" ? "live_page" : "page"]}`
      : troubleOf(feed);
  return why === undefined ? { phase: "connecting" } : { phase: "stopped", why };
}

/** The charts of a board: each is followed on every new connection, and hears when there is none. */
interface Charts {
  /** A connection was opened. */
  linked(link: Link): void;
  /** The connection was closed. */
  unlinked(): void;
  onFeed(feed: Feed): void;
  bars(ticker: string): BarSource;
}

/** Makes an empty set of charts. */
export function createCharts(): Charts {
  const charts = new Set<Chart>();
  const waiting = new Set<(link: Link) => void>();
  let link: Link | undefined;
  let state: LiveState = { phase: "connecting" };

  const follow = (chart: Chart, from: Link) => {
    chart.stop = from.follow(chart.ticker, chart.timeframe, chart.listener.onBar);
  };
  const tell = (next: LiveState) => {
    state = next;
    for (const { listener } of charts) listener.onState(next);
  };

  return {
    linked(next) {
      link = next;
      for (const chart of charts) follow(chart, next);
      for (const resolve of waiting) resolve(next);
      waiting.clear();
    },
    unlinked() {
      link = undefined;
      for (const chart of charts) chart.stop = undefined;
      tell({ phase: "stopped" });
    },
    onFeed: (feed) => tell(stateOf(feed)),
    bars: (ticker) => ({
      async read(query, signal) {
        const from = link ?? (await new Promise<Link>((resolve) => waiting.add(resolve)));
        return from.read(ticker)(query, signal);
      },
      follow(timeframe, listener) {
        const chart: Chart = { ticker, timeframe, listener };
        charts.add(chart);
        if (link !== undefined) follow(chart, link);
        listener.onState(state);
        return () => {
          charts.delete(chart);
          chart.stop?.();
        };
      },
    }),
  };
}
