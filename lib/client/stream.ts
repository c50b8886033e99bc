import type { AfterClose } from "#lib/contract/close-codes";
import { afterClose, closeMeaning } from "#lib/contract/close-codes";
import type { StreamName } from "#lib/contract/primitives";
import type { MarketStatus } from "#lib/contract/status";
import type { Heartbeat, PushMessage, Welcome } from "#lib/contract/stream";
import type { SpotwireError } from "./errors";
import type { Gap } from "./sequence";
import type { Selection, StreamRecords, Subscription } from "./subscription";

/** `idle`: nothing is followed yet. `waiting`: until the next try. `closed`: for good. */
export type StreamState = "idle" | "connecting" | "open" | "waiting" | "closed";

/** The stream went from one state to another. */
export interface StateChange {
  readonly state: StreamState;
  /** While connecting: 1 for the first try since the last good connection. */
  readonly attempt?: number | undefined;
  /** While waiting: milliseconds until the next try. */
  readonly retryInMs?: number | undefined;
  /** What led here, where it was a failure. */
  readonly error?: SpotwireError | undefined;
}

/** A connection that was open has ended. */
export interface StreamClose {
  readonly code: number;
  readonly reason: string;
  /** `retry`: the stream connects again by itself. `terminal`: it does not. */
  readonly after: AfterClose;
  /** What happened, in words. */
  readonly meaning: string;
}

/** Callbacks of a stream. An exception of a callback goes to `onError` as `callback_failed`. */
export interface StreamCallbacks {
  /** Called on connect and on each reconnect; the stream restores its subscriptions by itself. */
  readonly onOpen?: ((welcome: Welcome) => void) | undefined;
  /** Every record of every subscription. */
  readonly onRecord?: ((record: PushMessage) => void) | undefined;
  /** The market of a followed ticker opened, closed, or changed otherwise. */
  readonly onStatus?: ((status: MarketStatus) => void) | undefined;
  /** Followed tickers that are silent, and why. */
  readonly onHeartbeat?: ((heartbeat: Heartbeat) => void) | undefined;
  /** Records are missing. Called before the record that revealed the gap. */
  readonly onGap?: ((gap: Gap) => void) | undefined;
  /** Called for every error, including those the stream recovers from; after a final one the state is `closed`. */
  readonly onError?: ((error: SpotwireError) => void) | undefined;
  readonly onClose?: ((close: StreamClose) => void) | undefined;
  readonly onStateChange?: ((change: StateChange) => void) | undefined;
}

/** How a stream behaves, and its callbacks. */
export interface StreamOptions extends StreamCallbacks {
  /** Maximum records buffered for a `for await` loop before the oldest are dropped; 10,000 by default. */
  readonly bufferMaxRecords?: number | undefined;
}

/** One connection for any number of subscriptions. It connects with the first and stays connected until `close()`. */
export interface Stream {
  readonly state: StreamState;
  /** The id to name when reporting a problem; undefined before the first welcome. */
  readonly connectionId: string | undefined;
  /**
   * Resolves after `close()`, rejects with the error that ended the stream. Without `onError` and without a loop that
   * could throw it, that is where it surfaces.
   */
  readonly closed: Promise<void>;
  /**
   * Follows tickers. `onRecord` is called with each record; without it, and without the stream's, they wait for a
   * `for await` loop over the subscription.
   * @throws SpotwireError invalid_argument, or stream_closed
   */
  subscribe<Name extends StreamName>(
    selection: Selection<Name>,
    onRecord?: (record: StreamRecords[Name]) => void,
  ): Subscription<StreamRecords[Name]>;
  /** Closes the connection and ends every subscription. */
  close(): void;
}

/** The words for the end of a connection. */
export function closeOf(code: number, reason: string, error: SpotwireError | undefined): StreamClose {
  const meaning = closeMeaning(code) ?? error?.detail ?? (code === 1006 ? "The connection broke off." : `Closed with ${code}.`);
  return { code, reason, after: afterClose(code), meaning };
}
