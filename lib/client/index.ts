export type { FileType } from "#lib/contract/files";
export type { Instrument } from "#lib/contract/instrument";
export type { Kline, KlineWindow } from "#lib/contract/kline";
export type { StreamName, Timeframe } from "#lib/contract/primitives";
export type { Quote } from "#lib/contract/quote";
export type { Snapshot } from "#lib/contract/snapshot";
export type { MarketStatus } from "#lib/contract/status";
export type {
  Heartbeat,
  KlineMessage,
  PushMessage,
  QuietTicker,
  QuoteMessage,
  SnapshotMessage,
  TickerRejection,
  Welcome,
} from "#lib/contract/stream";
export type { StreamTicket } from "#lib/contract/stream-ticket";
export type { Conversion } from "#lib/operations/conversion/declaration";
export type { DataFile, DataFileList } from "#lib/operations/files/declaration";
export type { KeyInfo } from "#lib/operations/key/declaration";
export type { TradingHours } from "#lib/operations/marketHours/declaration";
export type { Summary, SummaryRow } from "#lib/operations/marketSummary/declaration";
export {
  type Client,
  type ClientOptions,
  type ConversionList,
  createClient,
  type InstrumentList,
  type MarketStatusList,
  type QuoteList,
  type SnapshotList,
} from "./client";
export type { ClientClock } from "./clock";
export type { MessagePack } from "./connection";
export { type ClientErrorId, isSpotwireError, SpotwireError, type SpotwireErrorFacts, type SpotwireErrorId } from "./errors";
export type * from "./queries";
export type { RateLimit } from "./rate-limit";
export type { CallOptions } from "./rest";
export type { Gap } from "./sequence";
export type { Dialer, Handshake, Socket, SocketEnd, SocketHandlers } from "./socket";
export type { StateChange, Stream, StreamCallbacks, StreamClose, StreamListener, StreamOptions, StreamState } from "./stream";
export type { RecoveredKline, Selection, StreamRecords, SubscribeResult, Subscription } from "./subscription";
