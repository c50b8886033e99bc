import type { BarListener } from "#lib/client/bar-source";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import { createBearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import type { Connect } from "./board-store";
import { marketOf, pageClient } from "./market-stream";
import { BEAT_MS, joinMarket, type PageMessage, type Sharing } from "./shared-market";
import { type Topic, topicOf } from "./wants";

/** Pause before other topics are followed: a reader who scrolls past rows does not subscribe to each. */
const SETTLE_MS = 250;
/** Changes with the messages of pages: after an update of the service, older pages keep a connection of their own. */
const NAME = "spotwire-live-market-2";

/** A page by itself. */
const ALONE: Sharing = { post: () => undefined, listen: () => undefined, elect: async (lead, signal) => lead(signal) };

/** Runs once the lock is free, holding it until the signal aborts. A closed or crashed page loses it. */
function electBy(locks: LockManager, name: string): Sharing["elect"] {
  return async (lead, signal) => {
    const hold = () =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", () => resolve());
        lead(signal);
      });
    await locks.request(name, { signal }, hold);
  };
}

/** How this browser shares a connection among its pages with the same key. Without locks, as on plain HTTP, each has its own. */
function sharingOf(credential: Credential): Sharing {
  const { locks } = navigator as { locks?: LockManager };
  if (locks === undefined || typeof BroadcastChannel === "undefined") return ALONE;
  const name = `${NAME} ${credential.kind === "live_page" ? credential.key.id : credential.kind}`;
  try {
    const channel = new BroadcastChannel(name);
    return {
      post: (message) => channel.postMessage(message),
      listen(onMessage, signal) {
        channel.onmessage = ({ data }: MessageEvent<PageMessage>) => onMessage(data);
        signal.addEventListener("abort", () => channel.close());
      },
      elect: electBy(locks, name),
    };
  } catch {
    // Some browsers refuse it where cookies are blocked.
    return ALONE;
  }
}

/** Follows prices, states and klines with a key, over one connection for all visible pages of a browser. */
export const connect: Connect = ({ credential, tell, onFeed, onTick, onAhead }, signal) => {
  const bearers = createBearers();
  const client = pageClient(credential, bearers);
  const charts = new Map<object, { readonly topic: Topic; readonly onBar: BarListener["onBar"] }>();
  let watched: readonly string[] = [];
  let settling: ReturnType<typeof setTimeout> | undefined;
  let said = false;
  const member = joinMarket(
    {
      id: Math.random().toString(36).slice(2),
      sharing: sharingOf(credential),
      open: marketOf(credential, bearers),
      topicsMaxCount: PLAN_DEFAULTS.demo.subscriptionsPerConnection,
    },
    {
      onRecord(record) {
        if (record.stream === "snapshot") {
          if (record.ticks > 0) onTick(record.ticker, record.data.time_msc, record.ticks);
          tell(record.ticker, { price: record.data });
          return;
        }
        const of = topicOf(record);
        for (const { topic, onBar } of charts.values()) if (topic === of) onBar(record.data, record.removed);
      },
      onStatus: ({ ticker, ...state }) => tell(ticker, state),
      onFeed,
      onAhead,
    },
    signal,
  );
  const beating = setInterval(member.beat, BEAT_MS);
  signal.addEventListener("abort", () => {
    clearTimeout(settling);
    clearInterval(beating);
  });

  function want(): void {
    const topics = [
      ...[...charts.values()].map(({ topic }) => topic),
      ...watched.map((ticker) => topicOf({ stream: "snapshot", ticker })),
    ];
    clearTimeout(settling);
    const say = () => member.want([...new Set(topics)]);
    if (said) settling = setTimeout(say, SETTLE_MS);
    else say();
    said ||= topics.length > 0;
  }

  return {
    watch(tickers) {
      if (signal.aborted || (tickers.length === watched.length && tickers.every((ticker) => watched.includes(ticker)))) return;
      watched = tickers;
      want();
    },
    read: (ticker) => async (query, cancel) => (await client.klines({ ticker, ...query }, { signal: cancel })).items,
    follow(ticker: string, timeframe: Timeframe, onBar) {
      if (signal.aborted) return () => undefined;
      const chart = {};
      charts.set(chart, { topic: topicOf({ stream: "kline", ticker, timeframe }), onBar });
      want();
      return () => {
        charts.delete(chart);
        if (!signal.aborted) want();
      };
    },
  };
};
