import { KLINE_CLOSE_DELAY_MS, STREAM_HEARTBEAT_INTERVAL_S, STREAM_RESUME_MAX_AGE_S } from "#lib/contract/limits";
import type { StreamMethod } from "#lib/contract/stream";
import type { PushedType } from "./asyncapi-examples-pushed";

/** Title, one-line summary and description of a message. */
export interface Words {
  readonly title: string;
  readonly summary: string;
  readonly description: string;
}

const SAME_AS_REST = "`data` is the same object that REST returns.";

/** Words for client messages, by method. */
export const CLIENT_WORDS: Readonly<Record<StreamMethod, Words>> = {
  subscribe: {
    title: "Subscribe",
    summary: "Subscribe to a stream for one or more tickers.",
    description:
      "Subscriptions add to the existing ones. `timeframe` is required for `kline` and not allowed for other streams. Each ticker is accepted or rejected on its own. Unless `snapshot` is false, the server sends the current record of each ticker right after the ack. With `resume`, it replays the records you missed instead. If they are no longer available, it sends the current record: then read the klines that closed meanwhile over REST.",
  },
  unsubscribe: {
    title: "Unsubscribe",
    summary: "Unsubscribe from a stream for one or more tickers.",
    description: "Names the stream, the tickers and, for `kline`, the timeframe of the subscriptions to end.",
  },
  list: {
    title: "List",
    summary: "List the subscriptions of this connection.",
    description: "`params` is optional and ignored.",
  },
  ping: {
    title: "Ping",
    summary: "Check that the connection is alive.",
    description: "For clients that cannot see WebSocket protocol pings. `params` is optional and ignored.",
  },
  ingest: {
    title: "Ingest",
    summary: "Push ticks to the live venue.",
    description:
      "Needs the scope `market:ingest`. Messages are handled in order and acked by `seq`. Keep those without an ack: send them again on the next connection, and after an error from its `expected_seq` on. A tick that is pushed twice is rejected as `duplicate`.",
  },
};

/** Words for acks, by method. */
export const ACK_WORDS: Readonly<Record<StreamMethod, Words>> = {
  subscribe: {
    title: "Subscribe ack",
    summary: "Which tickers were accepted and which were rejected.",
    description:
      "`rejected` lists each rejected ticker with the same code and identifier as in REST. `quiet` lists the accepted tickers without new records, and why, so that you do not mistake a closed market for a fault.",
  },
  unsubscribe: {
    title: "Unsubscribe ack",
    summary: "Which subscriptions ended.",
    description: "`subscriptions` is the number of remaining subscriptions.",
  },
  list: {
    title: "List ack",
    summary: "The subscriptions of this connection.",
    description: "One item per stream and ticker. Klines in two timeframes are two items.",
  },
  ping: {
    title: "Ping ack",
    summary: "The connection is alive.",
    description: "`time_msc` is the server's clock.",
  },
  ingest: {
    title: "Ingest ack",
    summary: "What became of the ticks of a message.",
    description: "Accepted ticks are in the engine and survive a clean shutdown.",
  },
};

/** Words for the messages the server pushes, by type. */
export const PUSHED_WORDS: Readonly<Record<PushedType, Words>> = {
  welcome: {
    title: "Welcome",
    summary: "The first message of a connection.",
    description: "Contains the venue, epoch, heartbeat interval and limits of this connection.",
  },
  error: {
    title: "Error",
    summary: "Why a message was refused or could not be parsed, or why the connection is about to be closed.",
    description:
      "The same envelope and codes as a REST error. `id` is the `id` of the message it answers, or null. If `close_code` is present, the server closes the connection next.",
  },
  quote: {
    title: "Quote",
    summary: "A quote of a subscribed ticker.",
    description: SAME_AS_REST,
  },
  snapshot: {
    title: "Snapshot",
    summary: "The quote of a subscribed ticker, with figures for its trading day.",
    description: SAME_AS_REST,
  },
  kline: {
    title: "Kline",
    summary: "A kline of a subscribed ticker and timeframe.",
    description: `${SAME_AS_REST} The kline is sent when it changes, and once with \`closed: true\`, ${KLINE_CLOSE_DELAY_MS} ms after its end. The closed kline is never dropped while the connection lasts. A new epoch begins with the current kline; those that closed before it are not sent. When stored minutes change later, the closed klines that change with them are sent with the event \`correction\`.`,
  },
  market_status: {
    title: "Market status",
    summary: "The market status of a subscribed ticker changed.",
    description: `${SAME_AS_REST} Treat a value you do not know as \`unknown\`.`,
  },
  heartbeat: {
    title: "Heartbeat",
    summary: `Sent every ${STREAM_HEARTBEAT_INTERVAL_S} seconds while the connection is alive.`,
    description:
      "`quiet` lists the subscribed tickers without new records, and why: the market is not open, or no quote arrived within the heartbeat interval.",
  },
  server_shutdown: {
    title: "Server shutdown",
    summary: "The server is about to close this connection with 1001.",
    description: `Reconnect after a random delay of at most \`reconnect_after_ms\`, and resume. Records are kept for ${STREAM_RESUME_MAX_AGE_S} seconds unless the source itself restarts: then an epoch begins with the current records.`,
  },
};
