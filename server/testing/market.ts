import { systemClock } from "#lib/clock";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { createFeedWatch, type FeedWatch } from "#lib/market/feed-watch";
import type { MendedMarket } from "#lib/market/ingest-klines";
import { createLeader } from "#lib/market/leader";
import type { Catalogue, Leader, Market } from "#lib/market/ports";
import { memoryFiles } from "#lib/testing/memory-files";
import { createView } from "#server/view/view";
import { eventOf } from "./events";
import { createMemoryKlines, type MemoryKlines } from "./memory-klines";

/** A venue in memory whose prices are set by the test. */
export interface TestMarket extends Market {
  /** Stored klines; additions after a read only show after `historyChanged`. */
  readonly store: MemoryKlines;
  /** What it observes of its feed; each quote that is set counts as a tick. */
  readonly watch: FeedWatch;
  /** Reads of the store so far. */
  reads(): number;
  /** The newest quote of a ticker, with a snapshot of the same prices. */
  quote(ticker: string, bid: number, ask: number, timeMs: number): void;
  /** A kline in the view, as the engine would publish it. */
  kline(kline: Kline): void;
  /** Stored history was rewritten. */
  historyChanged(): void;
}

const NOT_PROVIDED = {
  bid_high: null,
  bid_low: null,
  ask_high: null,
  ask_low: null,
  last: null,
  last_high: null,
  last_low: null,
  open: null,
  close: null,
  change: null,
  change_pct: null,
};

const round = (price: number) => Number(price.toFixed(6));

/** A kline that differs from others only in its open time and close. */
export function testKline(ticker: string, timeframe: Timeframe, time: number, close = 1.1): Kline {
  const prices = { open: 1.1, high: Math.max(1.1, close), low: Math.min(1.1, close), close };
  return { type: "kline", ticker, timeframe, time, ...prices, tick_volume: 10, real_volume: null, spread: 0.00008 };
}

/** `count` consecutive klines of a timeframe from M1 to H1. */
export function testKlines(ticker: string, timeframe: Timeframe, from: number, count: number, stepS: number): Kline[] {
  return Array.from({ length: count }, (_, index) => testKline(ticker, timeframe, from + index * stepS, 1.1 + (index % 7) / 1e5));
}

/** Creates an empty venue over a catalogue. */
export function createTestMarket(venue: Venue, catalogue: Catalogue): TestMarket {
  const view = createView();
  const memory = createMemoryKlines();
  const watch = createFeedWatch(systemClock, null);
  const provider = venue === "sandbox" ? "sandbox" : null;
  const about = { venue, catalogue, timeAt: (wallMs: number) => wallMs };
  let history = 0;
  let reads = 0;
  const store: MemoryKlines = {
    ...memory,
    read(query) {
      reads += 1;
      return memory.read(query);
    },
  };
  return {
    ...about,
    view,
    store,
    files: memoryFiles(),
    watch,
    coverage: watch.coverage,
    provider,
    providerOf: () => provider,
    isOffered: () => true,
    feed: () => ({ providers: [], precedence: null, heldBack: null, keepsTicks: false }),
    closedUpTo: about.timeAt,
    isBehind: () => false,
    leader: createLeader({ market: about, push: null, mend: null, clock: systemClock }),
    historyRevision: () => history,
    reads: () => reads,
    quote(ticker, bid, ask, timeMs) {
      watch.tick(timeMs);
      const price = { ticker, time_msc: timeMs, bid, ask, mid: round((bid + ask) / 2), spread: round(ask - bid) };
      view.apply([eventOf({ type: "quote", ...price }), eventOf({ type: "snapshot", ...price, ...NOT_PROVIDED })]);
    },
    kline: (record) => view.apply([eventOf(record)]),
    historyChanged: () => {
      history += 1;
    },
  };
}

interface Taking {
  readonly push: Leader["push"];
  readonly mend: MendedMarket["mend"];
}

/** Accepts everything. */
const ACCEPTING: Taking = {
  push: async (read) => read.map((tick) => (typeof tick === "string" ? tick : null)),
  mend: async (klines) => ({ outcomes: klines.map(() => null), number: 1, changed: [] }),
};

/** Makes a venue take pushes, as if this process led it; returns what ends that. */
export function lead(market: Market, { push, mend }: Taking = ACCEPTING): () => void {
  const { leader } = market;
  Object.assign(market, { leader: createLeader({ market, push, mend, clock: systemClock }) });
  return () => void Object.assign(market, { leader });
}
