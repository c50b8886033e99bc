import type { StreamName } from "#lib/contract/primitives";
import type { ErrorMessage, KlineMessage, PushMessage, ServerMessage, Welcome } from "#lib/contract/stream";
import { type Audience, createAudience } from "./audience";
import type { ClientClock } from "./clock";
import { runConnection } from "./connection";
import { asSpotwireError, SpotwireError } from "./errors";
import { findDialer } from "./find-dialer";
import { type Credentials, prepareHandshake } from "./handshake";
import { checkNumber, checkTickers } from "./options";
import { type Attempt, keepConnected } from "./reconnect";
import { hold, mayHaveMissed, noteDelivered, type ReadKlines, recover } from "./recovery";
import { createRequests } from "./requests";
import { type Gap, gapOf, judge } from "./sequence";
import { ABNORMAL_CLOSE, type Dialer } from "./socket";
import { closeOf, type StateChange, type Stream, type StreamOptions, type StreamState } from "./stream";
import { createSubscription, type HostedSubscription, type Selection, type Subscription } from "./subscription";
import { createTopics, type Follower, type SubscriptionRequest, type Topic, type Topics, topicKeyOf } from "./topics";

const BUFFER_DEFAULT_RECORDS = 10_000;
const UNAUTHORIZED = 401;
const STREAM_NAMES: readonly StreamName[] = ["quote", "snapshot", "kline"];

/** What a stream is made from. */
interface StreamContext extends Credentials {
  /** URL of the WebSocket. */
  readonly url: string;
  readonly clock: ClientClock;
  readonly random: () => number;
  /** Reads klines for who has only the stream. */
  readonly klines: Stream["klines"];
  /** Reads klines over REST; undefined where the client cannot. */
  readonly readKlines: ReadKlines | undefined;
  /** Undefined selects the best dialer for the runtime. */
  readonly dialer: Dialer | undefined;
}

function errorOfMessage({ code, message, data }: ErrorMessage): SpotwireError {
  const facts = { code, status: Math.floor(code / 100), requestId: data.request_id, retryAfterS: data.retry_after, data };
  return new SpotwireError(message, data.detail, facts);
}

/** @throws SpotwireError invalid_argument for a selection that no service accepts */
function requestOf({ stream, tickers, timeframe, snapshot = true }: Selection): SubscriptionRequest {
  if (!STREAM_NAMES.includes(stream))
    throw new SpotwireError("invalid_argument", `stream must be one of ${STREAM_NAMES.join(", ")}, not ${stream}.`);
  if ((stream === "kline") !== (timeframe !== undefined))
    throw new SpotwireError("invalid_argument", "timeframe is required for kline and invalid for other streams.");
  return { stream, tickers: checkTickers(tickers), timeframe, snapshot };
}

interface RecordContext extends Pick<Audience, "report" | "call" | "tell"> {
  readonly topics: Topics;
  readonly options: StreamOptions;
  /** Undefined where missed klines are not read. */
  readonly read: ReadKlines | undefined;
  readonly clock: ClientClock;
  readonly signal: AbortSignal;
}

/**
 * Makes the handler of market records: it detects gaps, drops duplicates, reads klines that closed while the stream was away, and
 * calls the followers of the record's topic.
 */
function createRecordHandler({ topics, options, report, call, tell, read, clock, signal }: RecordContext) {
  function deliver(topic: Topic, message: PushMessage): void {
    if (message.type === "kline") noteDelivered(topic.progress, message);
    for (const follower of [...topic.followers]) follower.onRecord(message);
    call(() => options.onRecord?.(message));
  }

  const reportGap = (gap: Gap) => tell(({ onGap }) => onGap?.(gap));

  function failed({ last }: Topic, first: KlineMessage, error: SpotwireError): void {
    report(error);
    reportGap({ ...gapOf(last ?? first, first), expected: null });
  }

  /** True while the record waits for klines before it. */
  function recovers(topic: Topic, message: KlineMessage, missed: boolean): boolean {
    if (read === undefined || !missed) return false;
    void recover({ read, clock, signal, deliver, failed, release: onRecord }, topic, message);
    return true;
  }

  function onRecord(message: PushMessage): void {
    if (typeof message.epoch !== "string" || !Number.isSafeInteger(message.seq))
      throw new SpotwireError("bad_answer", "A record has no epoch or sequence.");
    const topic = topics.find(topicKeyOf(message));
    if (topic === undefined || !topic.live) return;
    const { last, progress } = topic;
    if (progress.held !== undefined) {
      hold(progress.held, message);
      return;
    }
    const verdict = judge(last, message);
    if (verdict === "stale") return;
    topic.last = { epoch: message.epoch, seq: message.seq };
    const isBroken = last !== undefined && (verdict === "gap" || last.epoch !== message.epoch);
    const isState = message.type === "kline" && (message.event === "snapshot" || message.event === "update");
    if (last !== undefined && isState && (isBroken || progress.doubtful)) {
      progress.doubtful = false;
      const missed = mayHaveMissed(progress, message);
      if (recovers(topic, message, missed)) return;
      if (missed || (verdict === "gap" && read === undefined)) reportGap(gapOf(last, message));
    } else if (isBroken) {
      // A correction does not show which klines closed before it: the next state does.
      progress.doubtful = true;
      if (verdict === "gap") reportGap(gapOf(last, message));
    }
    deliver(topic, message);
  }
  return onRecord;
}

/** Makes a stream that is not connected yet. */
export function createStream(context: StreamContext, options: StreamOptions): Stream {
  const { clock, random, url } = context;
  const bufferMaxRecords = checkNumber("bufferMaxRecords", options.bufferMaxRecords ?? BUFFER_DEFAULT_RECORDS, 1);
  const { report, call, tell, listen } = createAudience(options);
  const topics = createTopics();
  const requests = createRequests(topics, clock);
  const ended = new AbortController();
  const read = options.recover === false ? undefined : context.readKlines;
  const onRecord = createRecordHandler({ topics, options, report, call, tell, read, clock, signal: ended.signal });
  const subscriptions = new Map<Follower, HostedSubscription>();
  let state: StreamState = "idle";
  let connecting = false;
  let connectionId: string | undefined;
  let settle: { resolve(): void; reject(error: SpotwireError): void } | undefined;
  const closed = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });

  function change(next: StateChange): void {
    // A callback may close the stream while it handles another event.
    if (state === "closed") return;
    state = next.state;
    tell(({ onStateChange }) => onStateChange?.(next));
  }

  function finish(error: SpotwireError | undefined): void {
    if (ended.signal.aborted) return;
    ended.abort();
    requests.close();
    const thrownInLoop = [...subscriptions.values()].map((hosted) => hosted.end(error)).includes(true);
    subscriptions.clear();
    const reported = error !== undefined && report(error);
    change({ state: "closed", error });
    if (reported || thrownInLoop) closed.catch(() => {});
    if (error === undefined) settle?.resolve();
    else settle?.reject(error);
  }

  /** Runs one connection, from its credentials to its end. */
  async function connect(): Promise<Attempt> {
    const over = new AbortController();
    const leave = () => over.abort();
    const known: { -readonly [Name in keyof Attempt]?: Attempt[Name] } = {};

    function onWelcome(welcome: Welcome, send: (message: object) => void): void {
      // Everything was unsubscribed while connecting; the server would close a connection without subscriptions as abuse.
      if (!topics.wanted) {
        leave();
        return;
      }
      connectionId = welcome.connection_id;
      change({ state: "open" });
      tell(({ onOpen }) => onOpen?.(welcome));
      requests.open(welcome, send, over.signal);
    }

    function onMessage(message: ServerMessage): void {
      if (message.type === "quote" || message.type === "snapshot" || message.type === "kline") {
        known.isGood = true;
        onRecord(message);
      } else if (message.type === "ack") requests.onAck(message);
      else if (message.type === "market_status") tell(({ onStatus }) => onStatus?.(message.data));
      else if (message.type === "heartbeat") tell(({ onHeartbeat }) => onHeartbeat?.(message));
      else if (message.type === "server_shutdown") known.reconnectAfterMs = message.reconnect_after_ms;
      else if (message.type === "error") {
        const error = errorOfMessage(message);
        // The reason for the close that follows is reported when the connection ends.
        if (message.data.close_code !== undefined) known.error = error;
        else if (!requests.onError(message)) report(error);
      }
    }

    ended.signal.addEventListener("abort", leave, { once: true });
    try {
      const dialer = context.dialer ?? (await findDialer());
      known.ticket = "missing";
      const handshake = await prepareHandshake(context, dialer, clock, ended.signal);
      const ending = await runConnection({
        dialer,
        url,
        handshake,
        clock,
        messagePack: context.messagePack,
        signal: over.signal,
        onWelcome,
        onMessage,
        onUnreadable: (error) => void report(error),
      });
      const refused = handshake.headers.authorization === undefined && ending.error?.status === UNAUTHORIZED;
      return { ...known, ...ending, error: ending.error ?? known.error, ticket: refused ? "refused" : undefined };
    } catch (thrown) {
      known.error = asSpotwireError(thrown, "The stream could not be opened");
      return { ...known, code: ABNORMAL_CLOSE, reason: "", livedMs: undefined };
    } finally {
      over.abort();
      ended.signal.removeEventListener("abort", leave);
      requests.close();
    }
  }

  function onEnded(attempt: Attempt, retryInMs: number | undefined, final: SpotwireError | undefined): void {
    const { code, reason, error, livedMs } = attempt;
    if (livedMs !== undefined) tell(({ onClose }) => onClose?.(closeOf(code, reason, error)));
    if (final !== undefined) {
      finish(final);
      return;
    }
    if (error !== undefined) report(error);
    change(retryInMs === undefined ? { state: "idle", error } : { state: "waiting", retryInMs, error });
  }

  function ensureConnected(): void {
    requests.flush();
    if (connecting) return;
    connecting = true;
    const onConnecting = (attempt: number, error?: SpotwireError) => change({ state: "connecting", attempt, error });
    const loop = { clock, random, signal: ended.signal, connect, wanted: () => topics.wanted, onConnecting, onEnded };
    void keepConnected(loop).then(() => {
      connecting = false;
      if (ended.signal.aborted) return;
      if (topics.wanted) ensureConnected();
      else if (state !== "idle") change({ state: "idle" });
    });
  }

  const host = {
    bufferMaxRecords,
    taken: options.onRecord !== undefined,
    report,
    call,
    leave(follower: Follower) {
      subscriptions.delete(follower);
      topics.unfollow(follower);
      requests.flush();
    },
  };

  return {
    get state() {
      return state;
    },
    get connectionId() {
      return connectionId;
    },
    closed,
    klines: context.klines,
    listen,
    subscribe(selection, onRecordOfSubscription) {
      if (ended.signal.aborted) throw new SpotwireError("stream_closed", "The stream is closed; create another one.");
      const request = requestOf(selection);
      const hosted = createSubscription(request, host, onRecordOfSubscription as ((message: PushMessage) => void) | undefined);
      topics.follow(request, hosted.follower);
      subscriptions.set(hosted.follower, hosted);
      ensureConnected();
      // A follower only receives records of its own stream.
      return hosted.subscription as Subscription<never>;
    },
    close: () => finish(undefined),
  };
}
