import { CLOSES } from "#lib/contract/close-codes";
import { failureExample } from "#lib/contract/envelope";
import type { ErrorId } from "#lib/contract/errors";
import { klineExample } from "#lib/contract/kline";
import {
  PLAN_DEFAULTS,
  STREAM_HEARTBEAT_INTERVAL_S,
  STREAM_MESSAGE_MAX_BYTES,
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_PER_SECOND_COUNT,
  STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
} from "#lib/contract/limits";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import { marketStatusExample } from "#lib/contract/status";
import { type ErrorMessage, type ServerMessage, STREAM_PROTOCOL } from "#lib/contract/stream";
import { EPOCH, type Example, NOW_MSC, QUIET, SEQUENCE } from "./asyncapi-examples";

/** Messages the service pushes; an ack is always an answer. */
export type PushedType = Exclude<ServerMessage["type"], "ack">;

function errorMessage(error: ErrorId, id: ErrorMessage["id"], details: Partial<ErrorMessage["data"]>): ErrorMessage {
  const failure = failureExample(error);
  return { type: "error", id, ...failure, data: { ...failure.data, ...details } };
}

const pushed = { event: "update", ticker: quoteExample.ticker, epoch: EPOCH, seq: SEQUENCE } as const;

/** Examples of each type, typed by the contract. */
export const PUSHED_EXAMPLES: {
  readonly [Type in PushedType]: readonly Example<Extract<ServerMessage, { type: Type }>>[];
} = {
  welcome: [
    {
      name: "welcome",
      summary: "A connection on the standard plan.",
      payload: {
        type: "welcome",
        protocol: STREAM_PROTOCOL,
        connection_id: "req_01J0Z7",
        venue: "live",
        time_msc: NOW_MSC,
        epoch: EPOCH,
        heartbeat_interval_s: STREAM_HEARTBEAT_INTERVAL_S,
        limits: {
          connections: PLAN_DEFAULTS.standard.streamConnections,
          subscriptions: PLAN_DEFAULTS.standard.subscriptionsPerConnection,
          messages_per_second: STREAM_MESSAGES_PER_SECOND_COUNT,
          messages_burst: STREAM_MESSAGES_BURST_COUNT,
          message_max_bytes: STREAM_MESSAGE_MAX_BYTES,
          tickers_per_message: STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
        },
      },
    },
  ],
  error: [
    {
      name: "missing_parameter",
      summary: "A subscribe message for klines without a timeframe.",
      payload: errorMessage("missing_parameter", 5, { detail: "`timeframe` is required.", parameter: "timeframe" }),
    },
    {
      name: "unreadable",
      summary: "A message that is not JSON, so its `id` is unknown.",
      payload: errorMessage("invalid_parameter", null, { detail: "The message is not JSON." }),
    },
    {
      name: "slow_consumer",
      summary: "The server closes the connection next.",
      payload: errorMessage("slow_consumer", null, { close_code: CLOSES.slow_consumer.code }),
    },
  ],
  quote: [
    {
      name: "snapshot",
      summary: "The current quote, right after the ack.",
      payload: { type: "quote", ...pushed, event: "snapshot", data: quoteExample },
    },
    {
      name: "merged",
      summary: "A slow connection: this quote replaces three others, so the sequence jumps by four.",
      payload: { type: "quote", ...pushed, seq: SEQUENCE + 4, merged: 3, data: quoteExample },
    },
  ],
  snapshot: [{ name: "update", summary: "The next snapshot.", payload: { type: "snapshot", ...pushed, data: snapshotExample } }],
  kline: [
    {
      name: "open",
      summary: "A kline that is still open.",
      payload: { type: "kline", ...pushed, timeframe: klineExample.timeframe, closed: false, data: klineExample },
    },
    {
      name: "closed",
      summary: "The same kline, now final.",
      payload: {
        type: "kline",
        ...pushed,
        seq: SEQUENCE + 1,
        timeframe: klineExample.timeframe,
        closed: true,
        data: { ...klineExample, tick_volume: klineExample.tick_volume + 1 },
      },
    },
    {
      name: "correction",
      summary: "A closed kline whose minutes were completed after an outage.",
      payload: {
        type: "kline",
        ...pushed,
        event: "correction",
        seq: SEQUENCE + 2,
        timeframe: klineExample.timeframe,
        closed: true,
        data: { ...klineExample, time: klineExample.time - 3_600 },
      },
    },
  ],
  market_status: [
    {
      name: "weekend",
      summary: "The market closed for the weekend.",
      payload: { type: "market_status", ticker: marketStatusExample.ticker, data: marketStatusExample },
    },
  ],
  heartbeat: [
    {
      name: "all_live",
      summary: "All subscribed tickers are receiving quotes.",
      payload: { type: "heartbeat", time_msc: NOW_MSC, quiet: [] },
    },
    {
      name: "weekend",
      summary: "One market is closed.",
      payload: { type: "heartbeat", time_msc: Date.parse(marketStatusExample.updated_at), quiet: [QUIET] },
    },
  ],
  server_shutdown: [
    {
      name: "restart",
      summary: "Reconnect within five seconds.",
      payload: { type: "server_shutdown", time_msc: NOW_MSC, reconnect_after_ms: 5_000 },
    },
  ],
};
