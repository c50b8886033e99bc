import type { BoardRow } from "#lib/contract/board";
import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Feed } from "./feed";
import { createWants, partsOf, type Topic, topicOf, type Union } from "./wants";

/** A record of a topic, as pages pass it on. */
export type MarketRecord =
  | {
      readonly stream: "snapshot";
      readonly ticker: string;
      readonly data: Snapshot;
      /** Ticks that arrived with it; 0 for one that was known already. */
      readonly ticks: number;
    }
  | {
      readonly stream: "kline";
      readonly ticker: string;
      readonly timeframe: Timeframe;
      readonly data: Kline;
      readonly removed: boolean;
    };

/** The state of a market. */
export type MarketState = Pick<BoardRow, "ticker" | "state" | "reason">;

/** What a connection to the service reports. */
export interface MarketEvents {
  onRecord(record: MarketRecord): void;
  onStatus(status: MarketState): void;
  onFeed(feed: Feed): void;
  /** How far the service's clock is ahead of this one. */
  onAhead(aheadMs: number): void;
  /** How many topics a connection may follow. */
  onMax(topicsCount: number): void;
}

/** Connects to the service until the signal aborts. It subscribes only to what pages request. */
export type OpenMarket = (events: MarketEvents, signal: AbortSignal) => { want(union: Union): void };

/** What the pages of a browser say to each other. */
export type PageMessage =
  | { readonly type: "wants"; readonly from: string; readonly topics: readonly Topic[] }
  /** A new leader asks everybody for their wants. */
  | { readonly type: "call" }
  | { readonly type: "record"; readonly record: MarketRecord }
  | { readonly type: "status"; readonly status: MarketState }
  | { readonly type: "state"; readonly leader: string; readonly feed: Feed | undefined; readonly aheadMs: number | undefined };

/** What a page needs of its browser to share a connection. */
export interface Sharing {
  /** Sends to the other pages, not to this one. */
  post(message: PageMessage): void;
  /** Receives from the other pages until the signal aborts. */
  listen(onMessage: (message: PageMessage) => void, signal: AbortSignal): void;
  /**
   * Runs `lead` once no other page leads, until the signal aborts; then another page may. Settles at the end.
   * @throws if the browser does not let this page take part
   */
  elect(lead: (over: AbortSignal) => void, signal: AbortSignal): Promise<void>;
}

interface MemberOptions {
  /** Differs from that of every other page. */
  readonly id: string;
  readonly sharing: Sharing;
  readonly open: OpenMarket;
  /** How many topics a connection may follow, until the service says it. */
  readonly topicsMaxCount: number;
}

/** Every page repeats its wants, and the leader its state, this often. */
export const BEAT_MS = 5_000;
/** A page that hears nothing from a leader for more beats connects by itself: the leader's page hangs. Beats, because computers sleep. */
const SILENT_MAX_BEATS = 3;

type Wanting = Extract<PageMessage, { type: "wants" }>;
type LeaderOptions = Omit<MemberOptions, "sharing"> & { readonly emit: (message: PageMessage) => void };

const timeOf = (record: MarketRecord | undefined) => (record?.stream === "kline" ? record.data.time : 0);

/** The page that holds the connection: it follows what all want, and passes on what arrives. */
function createLeader({ id, open, topicsMaxCount, emit }: LeaderOptions, over: AbortSignal) {
  const wants = createWants(topicsMaxCount);
  const latest = new Map<Topic, MarketRecord>();
  const statuses = new Map<string, MarketState>();
  let max = topicsMaxCount;
  let feed: Feed | undefined;
  let aheadMs: number | undefined;

  const report = () => emit({ type: "state", leader: id, feed, aheadMs });
  const market = open(
    {
      onRecord(record) {
        if (record.stream === "snapshot") latest.set(topicOf(record), { ...record, ticks: 0 });
        // Others are corrections of older klines.
        else if (!record.removed && record.data.time >= timeOf(latest.get(topicOf(record)))) latest.set(topicOf(record), record);
        emit({ type: "record", record });
      },
      onStatus(status) {
        statuses.set(status.ticker, status);
        emit({ type: "status", status });
      },
      onFeed(next) {
        feed = next;
        report();
      },
      onAhead(next) {
        aheadMs = next;
        report();
      },
      onMax(next) {
        max = next;
        follow();
      },
    },
    over,
  );

  function follow(): void {
    const union = wants.union(max);
    const topics = new Set([...union.followed, ...union.polled.map((ticker) => topicOf({ stream: "snapshot", ticker }))]);
    const tickers = new Set([...topics].map((topic) => partsOf(topic).ticker));
    // What is not followed any more would be out of date for who wants it next.
    for (const topic of latest.keys()) if (!topics.has(topic)) latest.delete(topic);
    for (const ticker of statuses.keys()) if (!tickers.has(ticker)) statuses.delete(ticker);
    market.want(union);
  }

  return {
    take({ from, topics }: Wanting): void {
      const { fresh, joined } = wants.set(from, topics);
      follow();
      // The service sends the latest record only with the first subscription.
      for (const topic of fresh) {
        const record = latest.get(topic);
        const status = statuses.get(partsOf(topic).ticker);
        if (record !== undefined) emit({ type: "record", record });
        if (status !== undefined) emit({ type: "status", status });
      }
      if (joined) report();
    },
    beat(): void {
      wants.beat();
      follow();
      report();
    },
  };
}

/** A page's part in a shared connection. */
interface Member {
  /** Wants these topics from now on and no others. */
  want(topics: readonly Topic[]): void;
  /** To be called every `BEAT_MS`. */
  beat(): void;
}

/**
 * Takes part in a connection that the pages of a browser share, until the signal aborts. One page leads: it connects and passes
 * records on. When it leaves, the next one connects, and every page repeats what it wants.
 */
export function joinMarket(options: MemberOptions, events: Omit<MarketEvents, "onMax">, signal: AbortSignal): Member {
  const { id, sharing } = options;
  const shared = new AbortController();
  let topics: readonly Topic[] = [];
  let leading: ReturnType<typeof createLeader> | undefined;
  let leader: string | undefined;
  let feed = "";
  let silentBeats = 0;

  const say = () => {
    const message: Wanting = { type: "wants", from: id, topics };
    if (!shared.signal.aborted) sharing.post(message);
    leading?.take(message);
  };

  function onState({ leader: from, feed: next, aheadMs }: Extract<PageMessage, { type: "state" }>): void {
    if (aheadMs !== undefined) events.onAhead(aheadMs);
    if (next === undefined) return;
    // Charts read again what closed between two connections.
    if (leader !== undefined && leader !== from) events.onFeed({ by: "page" });
    const text = JSON.stringify(next);
    if (leader !== from || text !== feed) events.onFeed(next);
    leader = from;
    feed = text;
  }

  function hear(message: PageMessage): void {
    if (signal.aborted) return;
    if (message.type === "record" && topics.includes(topicOf(message.record))) events.onRecord(message.record);
    else if (message.type === "status") events.onStatus(message.status);
    else if (message.type === "state") onState(message);
  }

  function lead(over: AbortSignal): void {
    const emit = (message: PageMessage) => {
      if (over.aborted) return;
      if (!shared.signal.aborted) sharing.post(message);
      hear(message);
    };
    leading = createLeader({ ...options, emit }, over);
    over.addEventListener("abort", () => {
      leading = undefined;
    });
    say();
    emit({ type: "call" });
  }

  /** Connects for this page only. */
  function leadAlone(): void {
    if (signal.aborted || shared.signal.aborted) return;
    leave();
    lead(signal);
  }

  function leave(): void {
    if (shared.signal.aborted) return;
    sharing.post({ type: "wants", from: id, topics: [] });
    shared.abort();
  }

  signal.addEventListener("abort", leave);
  sharing.listen((message) => {
    if (message.type === "wants") {
      leading?.take(message);
      return;
    }
    silentBeats = 0;
    if (message.type === "call") say();
    else hear(message);
  }, shared.signal);
  sharing.elect(lead, shared.signal).catch(leadAlone);
  return {
    want(next) {
      if (signal.aborted) return;
      topics = next;
      say();
    },
    beat() {
      say();
      silentBeats += 1;
      if (leading !== undefined) leading.beat();
      else if (silentBeats > SILENT_MAX_BEATS) leadAlone();
    },
  };
}
