import { type Client, createClient } from "#lib/client/client";
import { isSpotwireError, SpotwireError } from "#lib/client/errors";
import { webSocketDialer } from "#lib/client/socket";
import type { Stream } from "#lib/client/stream";
import type { Subscription } from "#lib/client/subscription";
import { CLOSES } from "#lib/contract/close-codes";
import type { MarketStatus } from "#lib/contract/status";
import type { PushMessage } from "#lib/contract/stream";
import { SECOND_MS } from "#lib/units";
import type { ApiFailure } from "../portal/api";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { noAnswerOf } from "../portal/no-answer";
import type { Feed } from "./feed";
import { withServiceClock } from "./service-clock";
import type { MarketRecord, MarketState, OpenMarket } from "./shared-market";
import { partsOf, type Topic, type Union } from "./wants";

/** Polling starts when no stream is open after this time. */
const PATIENCE_MS = 3_000;
/** Pause between two polls. */
const POLL_MS = 5_000;
const CALL_TIMEOUT_S = 8;
/** Pause before a stream whose token ended is opened with a new one. */
const REOPEN_MS = SECOND_MS;
const UNAUTHORIZED = 401;
/** Failed requests are ignored: the next poll reports them. */
const ignore = () => undefined;

/** What a failed poll means to the reader. */
function feedOf(error: unknown, key: Credential["kind"]): Feed {
  if (!isSpotwireError(error) || error.status === undefined) return { by: "none", why: noAnswerOf() };
  if (error.status >= 500) return { by: "none", why: noAnswerOf({ answered: true }) };
  if (error.status === 429) return { by: "none", why: "limited", retryInS: Math.ceil(pauseAfter(error) / SECOND_MS), key };
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

/** The record of a message, as pages pass it on; undefined for a stream that none follows. */
function recordOf(message: PushMessage): MarketRecord | undefined {
  const { type, ticker, event, merged = 0 } = message;
  if (type === "snapshot") return { stream: type, ticker, data: message.data, ticks: event === "update" ? merged + 1 : 0 };
  if (type !== "kline") return undefined;
  return { stream: type, ticker, timeframe: message.timeframe, data: message.data, removed: event === "removal" };
}

/** Why the portal issued no token, as a refusal that ends a stream, or as a fault that passes. */
function noToken({ id, detail }: ApiFailure): Error {
  if (id === "network") return new Error(detail);
  const status = id === "unauthorized" || id === "not_found" ? UNAUTHORIZED : id === "rate_limited" ? 429 : 503;
  return new SpotwireError(id, detail, { status });
}

/** Sends requests with a bearer token; a rejected, expired one is replaced once. */
export function fetchAs(bearers: Bearers, credential: Credential): typeof fetch {
  return async (url, init) => {
    const send = async () => {
      const given = await bearers.get(credential);
      if ("failure" in given) throw noToken(given.failure);
      return fetch(url, { ...init, headers: { authorization: `Bearer ${given.bearer}` } });
    };
    const response = await send();
    return response.status === UNAUTHORIZED && bearers.forget(credential) ? send() : response;
  };
}

/** A client of this page's service. */
export function pageClient(credential: Credential, bearers: Bearers, onAhead: (aheadMs: number) => void = ignore): Client {
  const client: Client = createClient({
    baseUrl: location.origin,
    fetch: fetchAs(bearers, credential),
    ticket: async () => (await client.createStreamTicket()).ticket,
    maxAttempts: 1,
    maxWaitS: 0,
    timeoutS: CALL_TIMEOUT_S,
    dialer: withServiceClock(webSocketDialer(WebSocket), onAhead),
  });
  return client;
}

/** Ends the subscriptions of all topics but these. */
function endOthers(subscriptions: Map<Topic, Subscription>, topics: readonly Topic[]): void {
  for (const [topic, subscription] of subscriptions) {
    if (topics.includes(topic)) continue;
    subscriptions.delete(topic);
    subscription.unsubscribe();
  }
}

/**
 * Makes connections with a key: they stream prices, states and klines. Snapshots are polled over REST while no stream is open, and
 * always if they are more than the stream may follow. A stream ends with its token, and another one is opened with the next.
 */
export function marketOf(credential: Credential, bearers: Bearers): OpenMarket {
  return ({ onRecord, onStatus, onFeed, onAhead, onMax }, signal) => {
    const client = pageClient(credential, bearers, onAhead);
    const subscriptions = new Map<Topic, Subscription>();
    let asking = false;
    let refusal: string | undefined;
    let union: Union = { followed: [], polled: [] };
    const isOpen = () => stream.state === "open";
    const isWanted = () => !signal.aborted && (!isOpen() || union.polled.length > 0);

    /** Polls once for what the stream does not deliver. @throws SpotwireError */
    async function ask(): Promise<void> {
      const streamed = isOpen() ? [] : [...subscriptions.keys()].map(partsOf).filter((parts) => parts.stream === "snapshot");
      const tickers = [...streamed.map(({ ticker }) => ticker), ...union.polled];
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
        let feed: Feed = { by: "polling", everyMs: POLL_MS, key: credential.kind, why: refusal };
        try {
          await ask();
        } catch (error) {
          feed = feedOf(error, credential.kind);
          if (isSpotwireError(error)) waitMs = pauseAfter(error);
        }
        // The stream may have opened during the poll.
        if (isWanted() && !isOpen()) onFeed(feed);
        await pause(waitMs, signal);
      }
      asking = false;
    }

    function openStream(): Stream {
      let tokenEnded = false;
      return client.stream({
        onOpen: ({ limits }) => onMax(limits.subscriptions),
        onRecord(message) {
          const record = recordOf(message);
          if (record !== undefined) onRecord(record);
        },
        onStatus: (status) => onStatus(stateOf(status)),
        onClose({ code }) {
          tokenEnded = code === CLOSES.unauthorized.code;
        },
        onStateChange({ state, error }) {
          if (signal.aborted) return;
          refusal = error?.code === undefined ? undefined : error.detail;
          if (state === "open") onFeed({ by: "stream" });
          else if (state === "closed" && tokenEnded && bearers.forget(credential)) {
            // Charts read what closed in between.
            onFeed({ by: "page" });
            void pause(REOPEN_MS, signal).then(reopen);
          } else if (state === "waiting" || state === "closed") void poll();
        },
        onError: ignore,
      });
    }

    function reopen(): void {
      if (signal.aborted) return;
      subscriptions.clear();
      stream = openStream();
      follow();
    }

    function follow(): void {
      // A terminal close, such as that of a disabled key, leaves polling only.
      if (signal.aborted || stream.state === "closed") return;
      endOthers(subscriptions, union.followed);
      for (const topic of union.followed) {
        if (subscriptions.has(topic)) continue;
        const { ticker, ...selection } = partsOf(topic);
        const subscription = stream.subscribe({ ...selection, tickers: [ticker] });
        subscriptions.set(topic, subscription);
        subscription.ready.catch(ignore);
      }
      if (union.polled.length > 0) void poll();
    }

    let stream = openStream();
    void pause(PATIENCE_MS, signal).then(poll);
    signal.addEventListener("abort", () => stream.close());
    return {
      want(next) {
        union = next;
        follow();
      },
    };
  };
}
