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

/** The records of each stream. */
export interface StreamRecords {
  readonly quote: QuoteMessage;
  readonly snapshot: SnapshotMessage;
  readonly kline: KlineMessage;
}

/** What to follow. */
export interface Selection<Name extends StreamName = StreamName> {
  readonly stream: Name;
  /** Compact tickers, any number; they are sent in as few messages as the service takes. */
  readonly tickers: readonly string[];
  /** Required for kline, refused elsewhere. */
  readonly timeframe?: Timeframe | undefined;
  /** Whether the current record is wanted first; true unless said otherwise. */
  readonly snapshot?: boolean | undefined;
}

/** What became of the tickers of a subscription. */
export interface SubscribeResult {
  readonly accepted: readonly string[];
  readonly rejected: readonly TickerRejection[];
  /** Accepted tickers whose market is not plainly open, and why. */
  readonly quiet: readonly QuietTicker[];
}

/** What is followed, until `unsubscribe()` or the end of the stream; reconnects do not end it. */
export interface Subscription<Message extends PushMessage = PushMessage> extends AsyncIterable<Message> {
  readonly stream: StreamName;
  readonly tickers: readonly string[];
  /**
   * Resolves when the service has answered for every ticker for the first time. Rejects with a SpotwireError when it took
   * none of them, or the stream ended before.
   */
  readonly ready: Promise<SubscribeResult>;
  /** Records that a `for await` loop did not take in time; `onError` hears of the first. */
  readonly dropped: number;
  /** Ends the subscription and its loop. Leaving the loop does it too. */
  unsubscribe(): void;
}

/** What the subscription needs of its stream. */
interface SubscriptionHost {
  readonly bufferMaxRecords: number;
  /** True where the stream's own callback takes the records, so that nothing has to be kept for a loop. */
  readonly taken: boolean;
  /** Tells an error to the stream's `onError`; false where there is none. */
  tell(error: SpotwireError): boolean;
  /** Calls a callback of the user; what it throws stays with the user. */
  call(callback: () => void): void;
  leave(follower: Follower): void;
}

/** A subscription with the side that its stream sees. */
export interface HostedSubscription {
  readonly subscription: Subscription;
  readonly follower: Follower;
  /** The stream is over; true when a loop throws the error. */
  end(error: SpotwireError | undefined): boolean;
}

const errorOfRejection = ({ ticker, code, message, detail, suggestion }: TickerRejection) =>
  new SpotwireError(message, `${ticker}: ${detail ?? message}${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`, {
    code,
    status: Math.floor(code / 100),
    data: { tickers: [ticker], ...(suggestion !== undefined && { suggestion }) },
  });

/** Makes a subscription; `onRecord` is called with each of its records. */
export function createSubscription(
  wish: SubscriptionRequest,
  host: SubscriptionHost,
  onRecord: ((message: PushMessage) => void) | undefined,
): HostedSubscription {
  const unanswered = new Set(wish.tickers);
  const followed = new Set(wish.tickers);
  const result = { accepted: [] as string[], rejected: [] as TickerRejection[], quiet: [] as QuietTicker[] };
  const buffer = createBuffer<PushMessage>(host.bufferMaxRecords);
  let buffering = onRecord === undefined && !host.taken;
  let iterated = false;
  let overflowed = false;
  let settle: { resolve(result: SubscribeResult): void; reject(error: SpotwireError): void } | undefined;
  const ready = new Promise<SubscribeResult>((resolve, reject) => {
    settle = { resolve, reject };
  });

  /** `told`: the user learns of it elsewhere, so that a `ready` nobody looks at is no unhandled rejection. */
  function fail(error: SpotwireError, told: boolean): void {
    if (told) ready.catch(() => {});
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
      host.tell(new SpotwireError("buffer_overflow", `More than ${host.bufferMaxRecords} records wait; the oldest are dropped.`));
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
      const told = host.tell(error);
      followed.delete(topic.ticker);
      if (followed.size > 0) return answered(topic);
      // Nothing is left that could ever bring a record.
      host.leave(follower);
      buffer.end(error);
      fail(error, told);
    },
  };

  function unsubscribe(): void {
    host.leave(follower);
    finish(undefined);
  }

  const subscription: Subscription = {
    stream: wish.stream,
    tickers: wish.tickers,
    ready,
    get dropped() {
      return buffer.dropped;
    },
    unsubscribe,
    [Symbol.asyncIterator]() {
      if (iterated) throw new SpotwireError("invalid_argument", "A subscription has one loop; make another subscription.");
      iterated = true;
      buffering = true;
      // What goes wrong from here on is thrown in the loop.
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
  function end(error: SpotwireError | undefined): boolean {
    finish(error);
    return iterated;
  }

  return { subscription, follower, end };
}
