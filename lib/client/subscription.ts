import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type {
  AckOf,
  KlineMessage,
  PushMessage,
  QuietTicker,
  QuoteMessage,
  SnapshotMessage,
  TickerRejection,
} from "#lib/contract/stream";
import { createBuffer } from "./buffer";
import { SpotwireError } from "./errors";
import type { Follower, SubscriptionRequest, Topic } from "./topics";

/** A kline that closed while the stream was away and was read over REST. */
export interface RecoveredKline extends KlineMessage {
  readonly recovered: true;
}

/** The records of each stream. */
export interface StreamRecords {
  readonly quote: QuoteMessage;
  readonly snapshot: SnapshotMessage;
  readonly kline: KlineMessage | RecoveredKline;
}

/** What to follow. */
export interface Selection<Name extends StreamName = StreamName> {
  readonly stream: Name;
  /** Compact tickers, any number; they are sent in as few messages as the service allows. */
  readonly tickers: readonly string[];
  /** Required for kline, invalid for other streams. */
  readonly timeframe?: Timeframe | undefined;
  /** Whether to receive the current record first; true by default. */
  readonly snapshot?: boolean | undefined;
}

/** The result for the tickers of a subscription. */
export interface SubscribeResult {
  readonly accepted: readonly string[];
  readonly rejected: readonly TickerRejection[];
  /** Accepted tickers whose market is not fully open, and why. */
  readonly quiet: readonly QuietTicker[];
}

/** Followed tickers, until `unsubscribe()` or the end of the stream; reconnects do not end it. */
export interface Subscription<Message extends PushMessage = PushMessage> extends AsyncIterable<Message> {
  readonly stream: StreamName;
  readonly tickers: readonly string[];
  /**
   * Resolves when the service has answered for every ticker for the first time. Rejects with a SpotwireError when it accepted
   * none of them, or the stream ended first.
   */
  readonly ready: Promise<SubscribeResult>;
  /** Records dropped because a `for await` loop fell behind; `onError` receives `buffer_overflow` for the first one. */
  readonly dropped: number;
  /** Ends the subscription and its loop. Leaving the loop does the same. */
  unsubscribe(): void;
}

/** What a subscription needs from its stream. */
interface SubscriptionHost {
  readonly bufferMaxRecords: number;
  /** True when the stream's callback receives the records, so that none need to be buffered for a loop. */
  readonly taken: boolean;
  /** Reports an error to the stream's `onError`; false when there is none. */
  report(error: SpotwireError): boolean;
  /** Runs a callback of the user; its exceptions do not reach the stream. */
  call(callback: () => void): void;
  leave(follower: Follower): void;
}

const errorOfRejection = ({ ticker, code, message, detail, suggestion }: TickerRejection) =>
  new SpotwireError(message, `${ticker}: ${detail ?? message}${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`, {
    code,
    status: Math.floor(code / 100),
    data: { tickers: [ticker], ...(suggestion !== undefined && { suggestion }) },
  });

/** Makes a subscription, and what its stream uses of it; `onRecord` is called with each of its records. */
export function createSubscription(
  request: SubscriptionRequest,
  host: SubscriptionHost,
  onRecord: ((message: PushMessage) => void) | undefined,
): { readonly subscription: Subscription; readonly follower: Follower } {
  const unanswered = new Set(request.tickers);
  const followed = new Set(request.tickers);
  const result = { accepted: [] as string[], rejected: [] as TickerRejection[], quiet: [] as QuietTicker[] };
  const buffer = createBuffer<PushMessage>(host.bufferMaxRecords);
  let buffering = onRecord === undefined && !host.taken;
  let iterated = false;
  let overflowed = false;
  let settle: { resolve(result: SubscribeResult): void; reject(error: SpotwireError): void } | undefined;
  const ready = new Promise<SubscribeResult>((resolve, reject) => {
    settle = { resolve, reject };
  });

  /** Rejects `ready`. An error that was `reported` elsewhere must not also be an unhandled rejection. */
  function fail(error: SpotwireError, reported: boolean): void {
    if (reported) ready.catch(() => {});
    settle?.reject(error);
  }

  function finish(error: SpotwireError | undefined): void {
    buffer.end(error);
    fail(error ?? new SpotwireError("aborted", "Unsubscribed before the service answered."), true);
  }

  function answered({ ticker }: Topic): void {
    if (unanswered.delete(ticker) && unanswered.size === 0) settle?.resolve(result);
  }

  const follower: Follower = {
    onRecord(message) {
      if (onRecord !== undefined) host.call(() => onRecord(message));
      if (!buffering) return;
      if (buffer.push(message) || overflowed) return;
      overflowed = true;
      host.report(
        new SpotwireError("buffer_overflow", `More than ${host.bufferMaxRecords} records are buffered; the oldest are dropped.`),
      );
    },
    onAccepted(topic, { quiet }: AckOf<"subscribe">["data"]) {
      if (!unanswered.has(topic.ticker)) return;
      result.accepted.push(topic.ticker);
      result.quiet.push(...quiet.filter(({ ticker }) => ticker === topic.ticker));
      answered(topic);
    },
    onRejected(topic, rejection) {
      if (unanswered.has(topic.ticker)) result.rejected.push(rejection);
      const error = errorOfRejection(rejection);
      const reported = host.report(error);
      followed.delete(topic.ticker);
      if (followed.size > 0) return answered(topic);
      // No ticker is left that could deliver a record.
      host.leave(follower);
      buffer.end(error);
      fail(error, reported);
    },
    end(error) {
      finish(error);
      return iterated;
    },
  };

  function unsubscribe(): void {
    host.leave(follower);
    finish(undefined);
  }

  const subscription: Subscription = {
    stream: request.stream,
    tickers: request.tickers,
    ready,
    get dropped() {
      return buffer.dropped;
    },
    unsubscribe,
    [Symbol.asyncIterator]() {
      if (iterated) throw new SpotwireError("invalid_argument", "A subscription supports one loop; create another subscription.");
      iterated = true;
      buffering = true;
      // From here on the loop throws the errors.
      ready.catch(() => {});
      return {
        next: () => buffer.next(),
        return: async () => {
          unsubscribe();
          return { value: undefined, done: true };
        },
      };
    },
  };

  return { subscription, follower };
}
