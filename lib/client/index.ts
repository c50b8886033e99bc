export type { Conversion } from "#lib/contract/conversion";
export type { DataFile, DataFileList, FileType } from "#lib/contract/files";
export type { TradingHours } from "#lib/contract/hours";
export type { Instrument } from "#lib/contract/instrument";
export type { KeyInfo } from "#lib/contract/key";
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
export { type ClientErrorId, isSpotwireError, SpotwireError, type SpotwireErrorFacts, type SpotwireErrorId } from "./errors";
export type { MessagePack } from "./message-pack";
export type { ConversionQuery, FileQuery, FilesQuery, HoursQuery, KlinesQuery, TickersQuery, TicksQuery } from "./queries";
export type { RateLimit } from "./rate-limit";
export type { RecoveredKline } from "./recovery";
export type { CallOptions } from "./rest";
export type { Gap } from "./sequence";
export type { Dialer, Handshake, Socket, SocketEnd, SocketHandlers } from "./socket";
export type { StateChange, Stream, StreamCallbacks, StreamClose, StreamListener, StreamOptions, StreamState } from "./stream";
export type { Selection, StreamRecords, SubscribeResult, Subscription } from "./subscription";
