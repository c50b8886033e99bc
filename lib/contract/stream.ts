import { z } from "zod";
import { FailureData } from "./envelope";
import { ERROR_IDS, type ErrorId } from "./errors";
import { STREAM_MESSAGE_ID_MAX_CHARACTERS, STREAM_TICKERS_PER_MESSAGE_MAX_COUNT, TICKER_MAX_CHARACTERS } from "./limits";
import { IsoInstant, StreamName, Ticker, Timeframe, TimeframeParameter, UnixMilliseconds, Venue } from "./primitives";
import { FINAL_DISPLAY_STATES, MarketStatus, STATUS_REASONS } from "./status";
import { IngestParams, IngestResult } from "./stream-ingest";
import { Epoch, KlineMessage, QuoteMessage, Sequence, SnapshotMessage } from "./stream-push";

export type { KlineMessage, PushMessage, QuoteMessage, SnapshotMessage } from "./stream-push";

/** Address of the raw WebSocket. */
export const STREAM_PATH = "/api/v1/market/stream";
/** Version of the message protocol, and the subprotocol of the raw WebSocket in which its messages are JSON. */
export const STREAM_PROTOCOL = "market.v1";
/**
 * Subprotocols of the raw WebSocket, by the encoding of their messages, which are otherwise the same. One of them is required
 * with a ticket; without any, messages are JSON. Of several, the first one that a client offers is selected.
 */
export const STREAM_PROTOCOLS = { json: STREAM_PROTOCOL, msgpack: `${STREAM_PROTOCOL}.msgpack` } as const;
/** How the messages of a connection are written. */
export type StreamEncoding = keyof typeof STREAM_PROTOCOLS;
/** Path and namespace of the Socket.IO transport. */
export const SOCKET_IO_PATH = "/socket.io/";
export const SOCKET_IO_NAMESPACE = "/market";

/** Errors that refuse a handshake: an HTTP response instead of the upgrade, or a connect error on Socket.IO. */
export const HANDSHAKE_ERRORS = [
  "unauthorized",
  "key_not_yet_valid",
  "account_suspended",
  "live_access_required",
  "not_in_plan",
  "insufficient_scope",
  "origin_not_allowed",
  "address_not_allowed",
  "invalid_parameter",
  "upgrade_required",
  "rate_limited",
  "too_many_connections",
  "internal_error",
  "service_unavailable",
] as const satisfies ErrorId[];

export const STREAM_METHODS = ["subscribe", "unsubscribe", "list", "ping", "ingest"] as const;
export type StreamMethod = (typeof STREAM_METHODS)[number];

const MessageId = z
  .union([z.int(), z.string().max(STREAM_MESSAGE_ID_MAX_CHARACTERS)])
  .describe("Chosen by the client and returned in the answer. Optional; it does not have to be unique.");
/** Each ticker of a message is checked on its own later, so any text is accepted here. */
const TickerTexts = z
  .array(z.string())
  .min(1)
  .max(STREAM_TICKERS_PER_MESSAGE_MAX_COUNT, `takes at most ${STREAM_TICKERS_PER_MESSAGE_MAX_COUNT} tickers.`)
  .describe("Tickers in compact form. Each one is accepted or rejected on its own.");

const Selection = {
  stream: StreamName,
  tickers: TickerTexts,
  timeframe: TimeframeParameter.optional().describe("Required for `kline`, not allowed for other streams."),
};

/** The last record a client received. */
export const Resume = z
  .object({
    epoch: Epoch,
    seq: z
      .union([Sequence, z.record(z.string().max(TICKER_MAX_CHARACTERS), Sequence)])
      .describe("The last sequence number received. With several tickers, an object from ticker to sequence number."),
  })
  .meta({
    id: "Resume",
    description:
      "The last record the client received. Later records are replayed; if they are no longer available, a snapshot is sent, and klines that closed meanwhile have to be read over REST.",
  });
export type Resume = z.infer<typeof Resume>;

export const SubscribeParams = z
  .object({
    ...Selection,
    snapshot: z.boolean().optional().describe("Whether to send the current record right after the ack (default true)."),
    resume: Resume.optional(),
  })
  .meta({ id: "SubscribeParams", description: "What to subscribe to. Subscriptions add to the existing ones." });
export type SubscribeParams = z.infer<typeof SubscribeParams>;

export const UnsubscribeParams = z.object(Selection).meta({ id: "UnsubscribeParams", description: "What to unsubscribe from." });
export type UnsubscribeParams = z.infer<typeof UnsubscribeParams>;

const NoParams = z.object({}).meta({ id: "NoParams", description: "Ignored." }).optional();

/** The parameters of each method. */
export const METHOD_PARAMS = {
  subscribe: SubscribeParams,
  unsubscribe: UnsubscribeParams,
  list: NoParams,
  ping: NoParams,
  ingest: IngestParams,
} as const;

function clientMessage<Method extends StreamMethod, Params extends z.ZodType>(method: Method, params: Params) {
  return z.object({ id: MessageId.optional(), method: z.literal(method).describe("What to do."), params });
}

/** What a client may send. */
export const ClientMessage = z.discriminatedUnion("method", [
  clientMessage("subscribe", SubscribeParams).meta({ id: "SubscribeMessage" }),
  clientMessage("unsubscribe", UnsubscribeParams).meta({ id: "UnsubscribeMessage" }),
  clientMessage("list", NoParams).meta({ id: "ListMessage" }),
  clientMessage("ping", NoParams).meta({ id: "PingMessage" }),
  clientMessage("ingest", IngestParams).meta({ id: "IngestMessage" }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;
export type MessageId = z.infer<typeof MessageId> | null;

const ErrorName = z.enum(ERROR_IDS as [ErrorId, ...ErrorId[]]);

/** A subscribed ticker without new records, and why. */
export const QuietTicker = z
  .object({
    ticker: Ticker,
    final_display_state: z.enum(FINAL_DISPLAY_STATES).describe("The state to show to users."),
    reason: z.enum(STATUS_REASONS).nullable().describe("Reason for the state; null if there is nothing to explain."),
    next_open_at: IsoInstant.nullable().describe("Next open of the market; null if unknown or never."),
  })
  .meta({ id: "QuietTicker", description: "A subscribed ticker without new records, and why." });
export type QuietTicker = z.infer<typeof QuietTicker>;

export const TickerRejection = z
  .object({
    ticker: z.string().describe("The ticker as the client sent it."),
    code: z.int().describe("Error code: HTTP status × 100 + n."),
    message: ErrorName.describe("Stable error identifier."),
    detail: z.string().optional().describe("What was wrong with this ticker."),
    suggestion: z.string().optional().describe("The ticker you probably meant."),
  })
  .meta({ id: "TickerRejection", description: "A ticker that was rejected, and why." });
export type TickerRejection = z.infer<typeof TickerRejection>;

const Subscription = z
  .object({ stream: StreamName, ticker: Ticker, timeframe: Timeframe.optional() })
  .meta({ id: "Subscription", description: "One subscription of a connection." });
export type Subscription = z.infer<typeof Subscription>;

const SubscriptionsCount = z.int().min(0).describe("Current number of subscriptions on this connection.");

const SubscribeResult = z.object({
  accepted: z.array(Ticker).describe("Tickers that are now subscribed, including those that already were."),
  rejected: z.array(TickerRejection).describe("Tickers that were rejected, and why."),
  resumed: z
    .array(Ticker)
    .optional()
    .describe("Tickers whose missed records are replayed without a gap. Present when the request contained `resume`."),
  quiet: z.array(QuietTicker).describe("Accepted tickers without new records, and why; the same as in heartbeats."),
  subscriptions: SubscriptionsCount,
});
const UnsubscribeResult = z.object({
  accepted: z.array(Ticker).describe("Tickers that are no longer subscribed."),
  rejected: z.array(TickerRejection).describe("Tickers that were rejected, and why."),
  subscriptions: SubscriptionsCount,
});
const ListResult = z.object({
  subscriptions: SubscriptionsCount,
  items: z.array(Subscription).describe("All subscriptions of this connection."),
});
const PingResult = z.object({ time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds.") });

function ack<Method extends StreamMethod, Data extends z.ZodType>(method: Method, data: Data) {
  return z.object({
    type: z.literal("ack").describe("Type of the message."),
    id: MessageId.nullable().describe("The `id` of the message this answers; null if it had none."),
    method: z.literal(method).describe("The method of the message this answers."),
    code: z.literal(0).describe("0: the message was handled."),
    message: z.literal("success").describe("Stable identifier of the result."),
    data: data.describe("Result of the method."),
  });
}

/** The answer to a valid message. */
export const Ack = z.discriminatedUnion("method", [
  ack("subscribe", SubscribeResult).meta({ id: "SubscribeAck" }),
  ack("unsubscribe", UnsubscribeResult).meta({ id: "UnsubscribeAck" }),
  ack("list", ListResult).meta({ id: "ListAck" }),
  ack("ping", PingResult).meta({ id: "PingAck" }),
  ack("ingest", IngestResult).meta({ id: "IngestAck" }),
]);
export type Ack = z.infer<typeof Ack>;
export type AckOf<Method extends StreamMethod> = Extract<Ack, { method: Method }>;

export const ErrorMessage = z
  .object({
    type: z.literal("error").describe("Type of the message."),
    id: MessageId.nullable().describe(
      "The `id` of the message this answers. Null if that message had none or could not be parsed, or if this answers no message.",
    ),
    code: z.int().describe("Error code: HTTP status × 100 + n. A code is never reused."),
    message: ErrorName.describe("Stable error identifier."),
    data: FailureData.extend({
      close_code: z.int().optional().describe("The server closes the connection with this code next."),
      expected_seq: z
        .int()
        .optional()
        .describe("After a refused ingest message: send again from this `seq` on. Until then, others are ignored."),
    }).describe("Details of the error."),
  })
  .meta({
    id: "ErrorMessage",
    description: "Why a message was refused or could not be parsed, or why the connection is about to be closed.",
  });
export type ErrorMessage = z.infer<typeof ErrorMessage>;

export const MarketStatusMessage = z
  .object({ type: z.literal("market_status").describe("Type of the message."), ticker: Ticker, data: MarketStatus })
  .meta({ id: "MarketStatusMessage", description: "The market status of a subscribed ticker changed." });
export type MarketStatusMessage = z.infer<typeof MarketStatusMessage>;

export const Welcome = z
  .object({
    type: z.literal("welcome").describe("Type of the message."),
    protocol: z.literal(STREAM_PROTOCOL).describe("Version of the message protocol."),
    connection_id: z.string().describe("Also the request ID of the handshake. Include it when you report a problem."),
    venue: Venue.describe("The venue of the key."),
    time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds."),
    epoch: Epoch,
    heartbeat_interval_s: z.int().describe("Seconds between two heartbeats."),
    limits: z
      .object({
        connections: z.int().describe("Maximum stream connections of the account, including this one."),
        subscriptions: z.int().describe("Maximum subscriptions on this connection."),
        messages_per_second: z.int().describe("Messages that the client can send per second."),
        messages_burst: z.int().describe("Messages that the client can send at once."),
        message_max_bytes: z.int().describe("Maximum size of a message from the client, in bytes."),
        tickers_per_message: z.int().describe("Maximum tickers in one message."),
      })
      .describe("Limits of this connection."),
  })
  .meta({ id: "Welcome", description: "The first message of a connection." });
export type Welcome = z.infer<typeof Welcome>;

export const Heartbeat = z
  .object({
    type: z.literal("heartbeat").describe("Type of the message."),
    time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds."),
    quiet: z
      .array(QuietTicker)
      .describe(
        "Subscribed tickers without new records, and why: the market is not open, or no quote arrived within the heartbeat interval.",
      ),
  })
  .meta({ id: "Heartbeat", description: "The connection is alive. Lists the tickers without new records, and why." });
export type Heartbeat = z.infer<typeof Heartbeat>;

const ServerShutdown = z
  .object({
    type: z.literal("server_shutdown").describe("Type of the message."),
    time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds."),
    reconnect_after_ms: z.int().describe("Reconnect after a random delay of at most this long."),
  })
  .meta({ id: "ServerShutdown", description: "The server is about to close this connection with 1001." });

/** What the service can send. Clients ignore fields and types they do not know: v1 only adds to them. */
export const SERVER_MESSAGES = {
  welcome: Welcome,
  ack: Ack,
  error: ErrorMessage,
  quote: QuoteMessage,
  snapshot: SnapshotMessage,
  kline: KlineMessage,
  market_status: MarketStatusMessage,
  heartbeat: Heartbeat,
  server_shutdown: ServerShutdown,
} as const;
export type ServerMessage = {
  [Type in keyof typeof SERVER_MESSAGES]: z.infer<(typeof SERVER_MESSAGES)[Type]>;
}[keyof typeof SERVER_MESSAGES];
