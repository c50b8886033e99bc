import { KLINE_CLOSE_DELAY_MS, STREAM_HEARTBEAT_INTERVAL_S, STREAM_RESUME_MAX_AGE_S } from "#lib/contract/limits";
import type { StreamMethod } from "#lib/contract/stream";
import type { PushedType } from "./asyncapi-examples-pushed";

/** How a message is called, what it does in a line, and what is to be known about it. */
export interface Words {
  readonly title: string;
  readonly summary: string;
  readonly description: string;
}

/** Of what a client sends, by method. */
export const CLIENT_WORDS: Readonly<Record<StreamMethod, Words>> = {
  subscribe: {
    title: "Subscribe",
    summary: "Follow a stream of some tickers.",
    description:
      "Subscriptions add up. `timeframe` is required for `kline` and refused elsewhere. Each ticker is judged alone. Unless `snapshot` is false, the current record of each is sent straight after the ack. With `resume`, what was missed is replayed instead, where it is still held.",
  },
  unsubscribe: {
    title: "Unsubscribe",
    summary: "Follow a stream of some tickers no longer.",
    description: "Names what was subscribed: the stream, the tickers, and for `kline` the timeframe.",
  },
  list: {
    title: "List",
    summary: "Ask what this connection follows.",
    description: "`params` is not read and may be left out.",
  },
  ping: {
    title: "Ping",
    summary: "Ask whether the connection is alive.",
    description: "For clients that cannot see the pings of the WebSocket protocol. `params` is not read and may be left out.",
  },
};

/** Of the answer to each method. */
export const ACK_WORDS: Readonly<Record<StreamMethod, Words>> = {
  subscribe: {
    title: "Subscribe ack",
    summary: "What was taken, and what was not.",
    description:
      "`rejected` names each ticker that was not taken, with the code and identifier that REST would answer. `quiet` names the accepted ones that bring nothing now, and why, so that silence is not taken for a fault.",
  },
  unsubscribe: {
    title: "Unsubscribe ack",
    summary: "What is followed no longer.",
    description: "`subscriptions` is how many are left.",
  },
  list: {
    title: "List ack",
    summary: "What this connection follows.",
    description: "One item for each ticker of each stream; klines of two timeframes are two.",
  },
  ping: {
    title: "Ping ack",
    summary: "The connection is alive.",
    description: "`time_msc` is the server's clock.",
  },
};

/** Of what the service sends of its own accord, by type. */
export const PUSHED_WORDS: Readonly<Record<PushedType, Words>> = {
  welcome: {
    title: "Welcome",
    summary: "The first message of a connection.",
    description: "Says what counts for this connection: venue, epoch, heartbeat interval and limits.",
  },
  error: {
    title: "Error",
    summary: "A message that was not allowed or could not be read, or why the connection is closed.",
    description:
      "The envelope of a failed REST answer, with the same codes. `id` is that of the message it answers, or null. With `close_code` the connection is closed next.",
  },
  quote: {
    title: "Quote",
    summary: "A bid/ask price state of a subscribed ticker.",
    description: "`data` is what REST gives.",
  },
  snapshot: {
    title: "Snapshot",
    summary: "The quote of a subscribed ticker with its trading day.",
    description: "`data` is what REST gives.",
  },
  kline: {
    title: "Kline",
    summary: "A kline of a subscribed ticker and timeframe.",
    description: `\`data\` is what REST gives. It is sent as it changes, and once with \`closed: true\`, ${KLINE_CLOSE_DELAY_MS} ms after its end. That last one is never left out.`,
  },
  market_status: {
    title: "Market status",
    summary: "The status of a subscribed ticker changed.",
    description: "`data` is what REST gives. Treat a value you do not know as `unknown`.",
  },
  heartbeat: {
    title: "Heartbeat",
    summary: `Every ${STREAM_HEARTBEAT_INTERVAL_S} seconds: the connection lives.`,
    description:
      "`quiet` names the subscribed tickers that bring nothing now, and why: a market that is not open, or no quote for an interval.",
  },
  server_shutdown: {
    title: "Server shutdown",
    summary: "The server is about to close this connection with 1001.",
    description: `Connect again at a random moment within \`reconnect_after_ms\`, and resume: records are held for ${STREAM_RESUME_MAX_AGE_S} seconds where the source was not restarted.`,
  },
};
