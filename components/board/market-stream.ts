import { createClient } from "#lib/client/client";
import { isSpotwireError, type SpotwireError } from "#lib/client/errors";
import { webSocketDialer } from "#lib/client/socket";
import type { Subscription } from "#lib/client/subscription";
import type { MarketStatus } from "#lib/contract/status";
import { SECOND_MS } from "#lib/units";
import { noAnswerOf } from "../portal/no-answer";
import type { Feed } from "./feed";
import { withServiceClock } from "./service-clock";
import type { MarketState, OpenMarket } from "./shared-market";
import { partsOf, type Topic } from "./wants";

/** Polling starts when no stream is open after this time. */
const PATIENCE_MS = 3_000;
/** Pause between two polls. */
const POLL_MS = 5_000;
const CALL_TIMEOUT_S = 8;
/** Failed requests are ignored: the next poll reports them. */
const ignore = () => undefined;

/** What a failed poll means to the reader. */
function feedOf(error: unknown): Feed {
  if (!isSpotwireError(error) || error.status === undefined) return { by: "none", why: noAnswerOf() };
  if (error.status >= 500) return { by: "none", why: noAnswerOf({ answered: true }) };
  if (error.status === 429) return { by: "none", why: "limited", retryInS: Math.ceil(pauseAfter(error) / SECOND_MS) };
  return { by: "none", why: "refused", detail: error.detail };
}

function pauseAfter({ retryAfterS = 0 }: Pick<SpotwireError, "retryAfterS">): number {
  return Math.max(POLL_MS, retryAfterS * SECOND_MS);
}

/** Waits, but no longer than until the browser is back online or the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}

const stateOf = ({ ticker, final_display_state: state, reason }: MarketStatus): MarketState => ({ ticker, state, reason });

/** A client of this page's service. */
export function pageClient(key: string, onAhead: (aheadMs: number) => void = ignore) {
  return createClient({
    baseUrl: location.origin,
    key,
    maxAttempts: 1,
    maxWaitS: 0,
    timeoutS: CALL_TIMEOUT_S,
    dialer: withServiceClock(webSocketDialer(WebSocket), onAhead),
  });
}

/**
 * Makes connections with a key: they stream prices, states and klines. Snapshots are polled over REST while no stream is open, and
 * always if they are more than the stream may follow.
 */
export function marketOf(key: string): OpenMarket {
  return ({ onRecord, onStatus, onFeed, onAhead, onMax }, signal) => {
    const client = pageClient(key, onAhead);
    const subscriptions = new Map<Topic, Subscription>();
    let asking = false;
    let polled: readonly string[] = [];
    const isOpen = () => stream.state === "open";
    const isWanted = () => !signal.aborted && (!isOpen() || polled.length > 0);

    /** Polls once for what the stream does not deliver. @throws SpotwireError */
    async function ask(): Promise<void> {
      const streamed = isOpen() ? [] : [...subscriptions.keys()].map(partsOf).filter((parts) => parts.stream === "snapshot");
      const tickers = [...streamed.map(({ ticker }) => ticker), ...polled];
      if (tickers.length === 0) return;
      const [snapshots, statuses] = await Promise.all([client.latestSnapshots({ tickers }), client.marketStatus({ tickers })]);
      if (signal.aborted) return;
      for (const data of snapshots.items) onRecord({ stream: "snapshot", ticker: data.ticker, data, ticks: 0 });
      for (const status of statuses.items) onStatus(stateOf(status));
    }

    async function poll(): Promise<void> {
      if (asking) return;
      asking = true;
      while (isWanted()) {
        let waitMs = POLL_MS;
        let feed: Feed = { by: "polling", everyMs: POLL_MS };
        try {
          await ask();
        } catch (error) {
          feed = feedOf(error);
          if (isSpotwireError(error)) waitMs = pauseAfter(error);
        }
        // The stream may have opened during the poll.
        if (isWanted() && !isOpen()) onFeed(feed);
        await pause(waitMs, signal);
      }
      asking = false;
    }

    const stream = client.stream({
      onOpen: ({ limits }) => onMax(limits.subscriptions),
      onRecord(message) {
        const { ticker, event, merged = 0 } = message;
        if (message.type === "snapshot")
          onRecord({ stream: "snapshot", ticker, data: message.data, ticks: event === "update" ? merged + 1 : 0 });
        else if (message.type === "kline")
          onRecord({
            ...{ stream: "kline", ticker, timeframe: message.timeframe },
            ...{ data: message.data, removed: message.event === "removal" },
          });
      },
      onStatus: (status) => onStatus(stateOf(status)),
      onStateChange({ state }) {
        if (signal.aborted) return;
        if (state === "open") onFeed({ by: "stream" });
        else if (state === "waiting" || state === "closed") void poll();
      },
      onError: ignore,
    });

    void pause(PATIENCE_MS, signal).then(poll);
    signal.addEventListener("abort", () => stream.close());
    return {
      want(union) {
        // A terminal close, such as that of a disabled key, leaves polling only.
        if (signal.aborted || stream.state === "closed") return;
        for (const [topic, subscription] of subscriptions) {
          if (union.followed.includes(topic)) continue;
          subscriptions.delete(topic);
          subscription.unsubscribe();
        }
        for (const topic of union.followed) {
          if (subscriptions.has(topic)) continue;
          const { ticker, ...selection } = partsOf(topic);
          const subscription = stream.subscribe({ ...selection, tickers: [ticker] });
          subscriptions.set(topic, subscription);
          subscription.ready.catch(ignore);
        }
        polled = union.polled;
        if (polled.length > 0) void poll();
      },
    };
  };
}
