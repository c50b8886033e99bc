import { z } from "zod";
import { FailureData } from "./envelope";
import { ERROR_IDS, type ErrorId } from "./errors";
import { STREAM_MESSAGE_ID_MAX_CHARACTERS, STREAM_TICKERS_PER_MESSAGE_MAX_COUNT, TICKER_MAX_CHARACTERS } from "./limits";
import { IsoInstant, StreamName, Ticker, Timeframe, TimeframeParameter, UnixMilliseconds, Venue } from "./primitives";
import { FINAL_DISPLAY_STATES, MarketStatus, STATUS_REASONS } from "./status";
import { Epoch, KlineMessage, QuoteMessage, Sequence, SnapshotMessage } from "./stream-push";

export type { KlineMessage, PushMessage, QuoteMessage, SnapshotMessage } from "./stream-push";

/** Address of the raw WebSocket. */
export const STREAM_PATH = "/api/v1/market/stream";
/** Subprotocol of the raw WebSocket; offered by those who also offer a ticket, optional for the rest. */
export const STREAM_PROTOCOL = "market.v1";
/** Path and namespace of the same messages over Socket.IO. */
export const SOCKET_IO_PATH = "/socket.io/";
export const SOCKET_IO_NAMESPACE = "/market";

/** How a handshake can be refused: an HTTP answer in place of the upgrade, a connect error of Socket.IO. */
export const HANDSHAKE_ERRORS = [
  "unauthorized",
  "account_suspended",
  "insufficient_scope",
  "origin_not_allowed",
  "invalid_parameter",
  "upgrade_required",
  "rate_limited",
  "too_many_connections",
  "internal_error",
  "service_unavailable",
] as const satisfies ErrorId[];

export const STREAM_METHODS = ["subscribe", "unsubscribe", "list", "ping"] as const;
export type StreamMethod = (typeof STREAM_METHODS)[number];

const MessageId = z
  .union([z.int(), z.string().max(STREAM_MESSAGE_ID_MAX_CHARACTERS)])
  .describe("The client's own; it comes back in the answer. It need not be unique, and may be left out.");
/** Each ticker of a message is judged alone, so a text of any form is let through here. */
const TickerTexts = z
  .array(z.string())
  .min(1)
  .max(STREAM_TICKERS_PER_MESSAGE_MAX_COUNT)
  .describe("Compact tickers; each is judged alone.");

const Selection = {
  stream: StreamName,
  tickers: TickerTexts,
  timeframe: TimeframeParameter.optional().describe("Required for kline, refused elsewhere."),
};

/** Where a client left off. */
export const Resume = z
  .object({
    epoch: Epoch,
    seq: z
      .union([Sequence, z.record(z.string().max(TICKER_MAX_CHARACTERS), Sequence)])
      .describe("The last sequence received; by ticker where the message names more than one."),
  })
  .meta({ id: "Resume", description: "Where a client left off: what came after is replayed, else a snapshot is sent." });
export type Resume = z.infer<typeof Resume>;

export const SubscribeParams = z
  .object({
    ...Selection,
    snapshot: z.boolean().optional().describe("Send the current record straight after the ack. True unless said otherwise."),
    resume: Resume.optional(),
  })
  .meta({ id: "SubscribeParams", description: "What to follow; subscriptions add up." });
export type SubscribeParams = z.infer<typeof SubscribeParams>;

export const UnsubscribeParams = z.object(Selection).meta({ id: "UnsubscribeParams", description: "What to follow no longer." });
export type UnsubscribeParams = z.infer<typeof UnsubscribeParams>;

const NoParams = z.object({}).optional().describe("Not read.");

/** The parameters of each method. */
export const METHOD_PARAMS = {
  subscribe: SubscribeParams,
  unsubscribe: UnsubscribeParams,
  list: NoParams,
  ping: NoParams,
} as const;

function clientMessage<Method extends StreamMethod, Params extends z.ZodType>(method: Method, params: Params) {
  return z.object({ id: MessageId.optional(), method: z.literal(method), params });
}

/** What a client may send. */
export const ClientMessage = z.discriminatedUnion("method", [
  clientMessage("subscribe", SubscribeParams).meta({ id: "SubscribeMessage" }),
  clientMessage("unsubscribe", UnsubscribeParams).meta({ id: "UnsubscribeMessage" }),
  clientMessage("list", NoParams).meta({ id: "ListMessage" }),
  clientMessage("ping", NoParams).meta({ id: "PingMessage" }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;
export type MessageId = z.infer<typeof MessageId> | null;

const ErrorName = z.enum(ERROR_IDS as [ErrorId, ...ErrorId[]]);

/** A subscribed ticker that brings nothing now, and why. */
export const QuietTicker = z
  .object({
    ticker: Ticker,
    final_display_state: z.enum(FINAL_DISPLAY_STATES),
    reason: z.enum(STATUS_REASONS).nullable(),
    next_open_at: IsoInstant.nullable(),
  })
  .meta({ id: "QuietTicker", description: "A subscribed ticker that brings nothing now, and why." });
export type QuietTicker = z.infer<typeof QuietTicker>;

export const TickerRejection = z
  .object({
    ticker: z.string().describe("As it was sent."),
    code: z.int(),
    message: ErrorName,
    detail: z.string().optional(),
    suggestion: z.string().optional().describe("What was probably meant."),
  })
  .meta({ id: "TickerRejection", description: "A ticker that was not taken, and why." });
export type TickerRejection = z.infer<typeof TickerRejection>;

const Subscription = z
  .object({ stream: StreamName, ticker: Ticker, timeframe: Timeframe.optional() })
  .meta({ id: "Subscription", description: "One thing a connection follows." });
export type Subscription = z.infer<typeof Subscription>;

const SubscriptionsCount = z.int().min(0).describe("Subscriptions of this connection now.");

const SubscribeResult = z.object({
  accepted: z.array(Ticker),
  rejected: z.array(TickerRejection),
  resumed: z
    .array(Ticker)
    .optional()
    .describe("Tickers whose missed records follow without a gap. Present when `resume` was asked for."),
  quiet: z.array(QuietTicker).describe("Accepted tickers that bring nothing now, and why; as in heartbeats."),
  subscriptions: SubscriptionsCount,
});
const UnsubscribeResult = z.object({
  accepted: z.array(Ticker),
  rejected: z.array(TickerRejection),
  subscriptions: SubscriptionsCount,
});
const ListResult = z.object({ subscriptions: SubscriptionsCount, items: z.array(Subscription) });
const PingResult = z.object({ time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds.") });

function ack<Method extends StreamMethod, Data extends z.ZodType>(method: Method, data: Data) {
  return z.object({
    type: z.literal("ack"),
    id: MessageId.nullable(),
    method: z.literal(method),
    code: z.literal(0),
    message: z.literal("success"),
    data,
  });
}

/** The answer to a message that was understood. */
export const Ack = z.discriminatedUnion("method", [
  ack("subscribe", SubscribeResult).meta({ id: "SubscribeAck" }),
  ack("unsubscribe", UnsubscribeResult).meta({ id: "UnsubscribeAck" }),
  ack("list", ListResult).meta({ id: "ListAck" }),
  ack("ping", PingResult).meta({ id: "PingAck" }),
]);
export type Ack = z.infer<typeof Ack>;
export type AckOf<Method extends StreamMethod> = Extract<Ack, { method: Method }>;

export const ErrorMessage = z
  .object({
    type: z.literal("error"),
    id: MessageId.nullable().describe("Of the message it answers; null for one that could not be read, or for none."),
    code: z.int(),
    message: ErrorName,
    data: FailureData.extend({ close_code: z.int().optional().describe("The connection is closed with this code next.") }),
  })
  .meta({
    id: "ErrorMessage",
    description: "A message that was not allowed or could not be read, or why the connection is closed.",
  });
export type ErrorMessage = z.infer<typeof ErrorMessage>;

export const MarketStatusMessage = z
  .object({ type: z.literal("market_status"), ticker: Ticker, data: MarketStatus })
  .meta({ id: "MarketStatusMessage", description: "The status of a subscribed ticker changed." });
export type MarketStatusMessage = z.infer<typeof MarketStatusMessage>;

export const Welcome = z
  .object({
    type: z.literal("welcome"),
    protocol: z.literal(STREAM_PROTOCOL),
    connection_id: z.string().describe("Also the request id of the handshake; name it when reporting a problem."),
    venue: Venue,
    time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds."),
    epoch: Epoch,
    heartbeat_interval_s: z.int(),
    limits: z.object({
      connections: z.int().describe("Stream connections of the account, this one included."),
      subscriptions: z.int().describe("Subscriptions of this connection."),
      messages_per_second: z.int(),
      messages_burst: z.int(),
      message_max_bytes: z.int(),
      tickers_per_message: z.int(),
    }),
  })
  .meta({ id: "Welcome", description: "The first message of a connection." });
export type Welcome = z.infer<typeof Welcome>;

export const Heartbeat = z
  .object({
    type: z.literal("heartbeat"),
    time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds."),
    quiet: z
      .array(QuietTicker)
      .describe("Subscribed tickers that bring nothing now, and why: a market that is not open, or no quote for an interval."),
  })
  .meta({ id: "Heartbeat", description: "The connection lives; what is silent, and why." });
export type Heartbeat = z.infer<typeof Heartbeat>;

const ServerShutdown = z
  .object({
    type: z.literal("server_shutdown"),
    time_msc: UnixMilliseconds.describe("The server's clock, Unix milliseconds."),
    reconnect_after_ms: z.int().describe("Connect again at a random moment within this time."),
  })
  .meta({ id: "ServerShutdown", description: "The server is about to close this connection with 1001." });

/** What the service may send. Ignore fields and types you do not know: within v1 they are only added. */
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
