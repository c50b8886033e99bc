import { type Client, createClient } from "#lib/client/client";
import { isSpotwireError, type SpotwireError } from "#lib/client/errors";
import { webSocketDialer } from "#lib/client/socket";
import type { BoardRow } from "#lib/contract/board";
import type { MarketStatus } from "#lib/contract/status";
import { noAnswerOf } from "../portal/no-answer";
import type { Connect, Feed } from "./board-store";

/** Polling starts when no stream is open after this time. */
const PATIENCE_MS = 3_000;
/** Pause between two polls. */
const POLL_MS = 5_000;
const CALL_TIMEOUT_S = 8;
/** Failed requests are ignored: the next poll reports them. */
const ignore = () => undefined;

/** What a failed poll means to the reader. */
function feedOf(error: unknown): Feed {
  if (!isSpotwireError(error) || error.status === undefined || error.status >= 500) return { by: "none", why: noAnswerOf() };
  if (error.status === 429) return { by: "none", why: "limited", retryInS: Math.ceil(pauseAfter(error) / 1_000) };
  return { by: "none", why: "refused", detail: error.detail };
}

function pauseAfter({ retryAfterS = 0 }: Pick<SpotwireError, "retryAfterS">): number {
  return Math.max(POLL_MS, retryAfterS * 1_000);
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

const stateOf = ({
  ticker,
  final_display_state: state,
  reason,
}: MarketStatus): Pick<BoardRow, "ticker" | "state" | "reason"> => ({
  ticker,
  state,
  reason,
});

/** Polls once for what the stream would have delivered. @throws SpotwireError */
async function ask(client: Client, tickers: readonly string[], tell: Parameters<Connect>[0]["tell"]): Promise<void> {
  const [snapshots, statuses] = await Promise.all([client.latestSnapshots({ tickers }), client.marketStatus({ tickers })]);
  for (const snapshot of snapshots.items) tell(snapshot.ticker, { price: snapshot });
  for (const status of statuses.items) tell(status.ticker, stateOf(status));
}

/** Follows prices and states over a stream with the demo key; polls REST while no stream is open. */
export const connect: Connect = ({ key, tickers, tell, onFeed }, signal) => {
  const client = createClient({
    baseUrl: location.origin,
    key,
    maxAttempts: 1,
    maxWaitS: 0,
    timeoutS: CALL_TIMEOUT_S,
    dialer: webSocketDialer(WebSocket),
  });
  let asking = false;
  const isWanted = () => !signal.aborted && stream.state !== "open";

  async function poll(): Promise<void> {
    if (asking) return;
    asking = true;
    while (isWanted()) {
      let waitMs = POLL_MS;
      let feed: Feed = { by: "polling", everyMs: POLL_MS };
      try {
        await ask(client, tickers, tell);
      } catch (error) {
        feed = feedOf(error);
        if (isSpotwireError(error)) waitMs = pauseAfter(error);
      }
      // The stream may have opened during the poll.
      if (isWanted()) onFeed(feed);
      await pause(waitMs, signal);
    }
    asking = false;
  }

  const stream = client.stream({
    onRecord: ({ ticker, data }) => data.type === "snapshot" && tell(ticker, { price: data }),
    onStatus: (status) => tell(status.ticker, stateOf(status)),
    onStateChange({ state }) {
      if (signal.aborted) return;
      if (state === "open") onFeed({ by: "stream" });
      else if (state === "waiting" || state === "closed") void poll();
    },
    onError: ignore,
  });
  stream.subscribe({ stream: "snapshot", tickers }).ready.catch(ignore);
  void pause(PATIENCE_MS, signal).then(poll);
  signal.addEventListener("abort", () => stream.close());
};
