import type { StreamName } from "#lib/contract/primitives";
import type { ErrorMessage, PushMessage, ServerMessage, Welcome } from "#lib/contract/stream";
import { createAudience } from "./audience";
import type { ClientClock } from "./clock";
import { runConnection } from "./connection";
import { asSpotwireError, SpotwireError } from "./errors";
import { type Credentials, prepareHandshake } from "./handshake";
import { checkNumber, checkTickers } from "./options";
import { type Attempt, delayBefore, finalError } from "./reconnect";
import { createRecordHandler } from "./records";
import { createRequests } from "./requests";
import { ABNORMAL_CLOSE, type Dialer } from "./socket";
import { findDialer } from "./socket-ws";
import { closeOf, type StateChange, type Stream, type StreamOptions, type StreamState } from "./stream";
import { createSubscription, type Selection, type Subscription } from "./subscription";
import { createTopics, type Follower, type SubscriptionRequest } from "./topics";

const BUFFER_DEFAULT_RECORDS = 10_000;
const UNAUTHORIZED = 401;
const STREAM_NAMES: readonly StreamName[] = ["quote", "snapshot", "kline"];

/** What a stream is made from. */
interface StreamContext extends Credentials {
  /** URL of the WebSocket. */
  readonly url: string;
  readonly clock: ClientClock;
  readonly random: () => number;
  readonly klines: Stream["klines"];
  /** False for a client that has only tickets for streams. */
  readonly canRead: boolean;
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

/** Makes a stream that is not connected yet. */
export function createStream(context: StreamContext, options: StreamOptions): Stream {
  const { clock, random, url } = context;
  const bufferMaxRecords = checkNumber("bufferMaxRecords", options.bufferMaxRecords ?? BUFFER_DEFAULT_RECORDS, 1);
  const audience = createAudience(options);
  const { report, call, tell, listen } = audience;
  const topics = createTopics();
  const requests = createRequests(topics, clock);
  const ended = new AbortController();
  const read = context.canRead && options.recover !== false ? context.klines : undefined;
  const onRecord = createRecordHandler({ topics, audience, onRecord: options.onRecord, read, clock, signal: ended.signal });
  const followers = new Set<Follower>();
  let state: StreamState = "idle";
  let running = false;
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
    const thrownInLoop = [...followers].map((follower) => follower.end(error)).includes(true);
    followers.clear();
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

  /** Connects and reconnects until nothing is followed or the stream has ended. */
  async function run(): Promise<void> {
    let failures = 0;
    let error: SpotwireError | undefined;
    while (topics.wanted) {
      change({ state: "connecting", attempt: failures + 1, error });
      // A callback may have closed the stream.
      if (ended.signal.aborted) return;
      const attempt = await connect();
      if (ended.signal.aborted) return;
      if (attempt.isGood) failures = 0;
      const final = finalError(attempt);
      const retryInMs = topics.wanted ? delayBefore(attempt, failures, random) : undefined;
      const { code, reason, livedMs } = attempt;
      if (livedMs !== undefined) tell(({ onClose }) => onClose?.(closeOf(code, reason, attempt.error)));
      if (final !== undefined) return finish(final);
      error = attempt.error;
      if (error !== undefined) report(error);
      change(retryInMs === undefined ? { state: "idle", error } : { state: "waiting", retryInMs, error });
      if (retryInMs === undefined) break;
      failures += 1;
      await clock.wait(retryInMs, ended.signal);
      if (ended.signal.aborted) return;
    }
    running = false;
    // A callback may have subscribed.
    if (topics.wanted) ensureConnected();
    else if (state !== "idle") change({ state: "idle" });
  }

  function ensureConnected(): void {
    requests.flush();
    if (running) return;
    running = true;
    void run();
  }

  const host = {
    bufferMaxRecords,
    taken: options.onRecord !== undefined,
    report,
    call,
    leave(follower: Follower) {
      followers.delete(follower);
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
      // A follower only receives records of its own stream.
      const onOwnRecord = onRecordOfSubscription as ((message: PushMessage) => void) | undefined;
      const { subscription, follower } = createSubscription(request, host, onOwnRecord);
      topics.follow(request, follower);
      followers.add(follower);
      ensureConnected();
      return subscription as Subscription<never>;
    },
    close: () => finish(undefined),
  };
}
