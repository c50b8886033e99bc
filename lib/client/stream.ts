import type { AfterClose } from "#lib/contract/close-codes";
import { afterClose, closeMeaning } from "#lib/contract/close-codes";
import type { KlineWindow } from "#lib/contract/kline";
import type { StreamName } from "#lib/contract/primitives";
import type { MarketStatus } from "#lib/contract/status";
import type { Heartbeat, PushMessage, Welcome } from "#lib/contract/stream";
import type { SpotwireError } from "./errors";
import type { KlinesQuery } from "./queries";
import type { CallOptions } from "./rest";
import type { Gap } from "./sequence";
import type { Selection, StreamRecords, Subscription } from "./subscription";

/** `idle`: nothing is followed. `waiting`: for the next attempt. `closed`: the stream has ended. */
export type StreamState = "idle" | "connecting" | "open" | "waiting" | "closed";

/** A change of the stream's state. */
export interface StateChange {
  readonly state: StreamState;
  /** While connecting: 1 for the first attempt since the last good connection. */
  readonly attempt?: number | undefined;
  /** While waiting: milliseconds until the next attempt. */
  readonly retryInMs?: number | undefined;
  /** The error that caused the change, if any; while connecting, why the attempt before failed. */
  readonly error?: SpotwireError | undefined;
}

/** The end of an open connection. */
export interface StreamClose {
  readonly code: number;
  readonly reason: string;
  /** `retry`: the stream reconnects. `terminal`: it does not. */
  readonly after: AfterClose;
  /** Description of what happened. */
  readonly meaning: string;
}

/** Callbacks of a stream. An exception of a callback goes to `onError` as `callback_failed`. */
export interface StreamCallbacks {
  /** Called on connect and on each reconnect; the stream restores its subscriptions. */
  readonly onOpen?: ((welcome: Welcome) => void) | undefined;
  /** Every record of every subscription. */
  readonly onRecord?: ((record: PushMessage) => void) | undefined;
  /** The market status of a followed ticker changed. */
  readonly onStatus?: ((status: MarketStatus) => void) | undefined;
  /** Lists followed tickers without new records, and why. */
  readonly onHeartbeat?: ((heartbeat: Heartbeat) => void) | undefined;
  /**
   * Records are missing: of quotes and snapshots those between two sequences; of klines those that closed and could not be read
   * over REST, or all while `recover` is false. Called before the record that revealed the gap.
   */
  readonly onGap?: ((gap: Gap) => void) | undefined;
  /** Called for every error, including those the stream recovers from; after a final one the state is `closed`. */
  readonly onError?: ((error: SpotwireError) => void) | undefined;
  readonly onClose?: ((close: StreamClose) => void) | undefined;
  readonly onStateChange?: ((change: StateChange) => void) | undefined;
}

/** Callbacks of one of several users of a stream. Their records come with their subscriptions. */
export type StreamListener = Omit<StreamCallbacks, "onRecord">;

/** Options and callbacks of a stream. */
export interface StreamOptions extends StreamCallbacks {
  /** Maximum records buffered for a `for await` loop before the oldest are dropped; 10,000 by default. */
  readonly bufferMaxRecords?: number | undefined;
  /**
   * Reads klines that closed while the stream was away over REST and delivers them, with `recovered: true`, before the stream goes
   * on; true by default. It needs the scope market:read. Without a key and a `fetch` of its own, a client cannot do so.
   */
  readonly recover?: boolean | undefined;
}

/** One connection for any number of subscriptions, also several to the same ticker. It connects with the first one and stays connected until `close()`. */
export interface Stream {
  readonly state: StreamState;
  /** Include this id when you report a problem; undefined before the first connection. */
  readonly connectionId: string | undefined;
  /**
   * Resolves after `close()`, and rejects with the error that ended the stream if neither `onError` nor a loop receives it.
   */
  readonly closed: Promise<void>;
  /**
   * Follows tickers. Calls `onRecord` with each record. Without it, and without the stream's `onRecord`, records are buffered
   * for a `for await` loop over the subscription.
   * @throws SpotwireError invalid_argument, or stream_closed
   */
  subscribe<Name extends StreamName>(
    selection: Selection<Name>,
    onRecord?: (record: StreamRecords[Name]) => void,
  ): Subscription<StreamRecords[Name]>;
  /**
   * Also calls these callbacks, so that several parts of a program can share the stream; `state` says what was before.
   * @returns a function that stops it
   */
  listen(listener: StreamListener): () => void;
  /** Reads klines over REST, as the client that made the stream does. @throws SpotwireError */
  klines(query: KlinesQuery, options?: CallOptions): Promise<KlineWindow>;
  /** Closes the connection and ends every subscription. */
  close(): void;
}

/** Describes the end of a connection. */
export function closeOf(code: number, reason: string, error: SpotwireError | undefined): StreamClose {
  const meaning = closeMeaning(code) ?? error?.detail ?? (code === 1006 ? "The connection broke." : `Closed with ${code}.`);
  return { code, reason, after: afterClose(code), meaning };
}
