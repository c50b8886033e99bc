import type { Ack, ErrorMessage, TickerRejection, Welcome } from "#lib/contract/stream";
import type { ClientClock } from "./clock";
import type { Topic, TopicRequest, Topics } from "./topics";

/** Share of the allowed rate that is used, because messages that are sent evenly can arrive in a burst. */
const RATE_SHARE = 0.8;
/** An unacknowledged subscribe is sent again after this time. */
const ACK_TIMEOUT_MS = 10_000;
/** Wait after a message that was rejected by the rate limit, if the service gives no time. */
const SLOW_DOWN_MS = 1_000;

/** Sends the requests of the topics over the current connection, within the rate limit of the service. */
interface Requests {
  /** Starts sending over a new connection. */
  open(welcome: Welcome, send: (message: object) => void, signal: AbortSignal): void;
  close(): void;
  /** Schedules a send; requests made in the same turn are sent together. */
  flush(): void;
  onAck(ack: Ack): void;
  /** True when the error was passed to the subscriptions that it rejects. */
  onError(error: ErrorMessage): boolean;
}

interface Line {
  readonly send: (message: object) => void;
  readonly signal: AbortSignal;
  readonly perMs: number;
  readonly burst: number;
  tokens: number;
  tokensAtMs: number;
}

/** Makes the request sender of a stream. */
export function createRequests(topics: Topics, clock: ClientClock): Requests {
  const unanswered = new Map<number, TopicRequest>();
  let line: Line | undefined;
  let lastId = 0;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let flushing = false;

  /** Milliseconds until a message may be sent; reserves the send when it is 0. */
  function take(from: Line): number {
    const nowMs = clock.now();
    from.tokens = Math.min(from.burst, from.tokens + (nowMs - from.tokensAtMs) * from.perMs);
    from.tokensAtMs = nowMs;
    const waitMs = Math.max(heldUntilMs - nowMs, (1 - from.tokens) / from.perMs);
    if (waitMs > 0) return waitMs;
    from.tokens -= 1;
    return 0;
  }

  function sendNext(over: Line): void {
    const request = topics.next();
    if (request === undefined) return;
    lastId += 1;
    const id = lastId;
    unanswered.set(id, request);
    over.send({ id, method: request.method, params: request.params });
    void clock.wait(ACK_TIMEOUT_MS, over.signal).then(() => {
      if (over.signal.aborted || !unanswered.delete(id)) return;
      topics.askAgain(request);
      flush();
    });
  }

  async function run(over: Line): Promise<void> {
    flushing = true;
    // Waits until all subscriptions of the same turn are known.
    await Promise.resolve();
    while (line === over && topics.pending()) {
      const waitMs = take(over);
      if (waitMs > 0) await clock.wait(waitMs, over.signal);
      else sendNext(over);
    }
    flushing = false;
  }

  function flush(): void {
    if (line !== undefined && !flushing) void run(line);
  }

  /** Forgets topics that the service no longer follows; topics with new subscriptions stay. */
  function release(request: TopicRequest): void {
    for (const topic of request.topics) if (topic.followers.size === 0 && !topic.asked) topics.remove(topic);
  }

  function refuse(request: TopicRequest, rejectionOf: (topic: Topic) => TickerRejection | undefined): void {
    for (const topic of request.topics) {
      const rejection = rejectionOf(topic);
      if (rejection === undefined || topic.request !== request) continue;
      topics.remove(topic);
      for (const follower of [...topic.followers]) follower.onRejected(topic, rejection);
    }
  }

  return {
    open({ limits }, send, signal) {
      const perMs = (limits.messages_per_second * RATE_SHARE) / 1000;
      const burst = Math.max(1, Math.floor(limits.messages_burst * RATE_SHARE));
      line = { send, signal, perMs, burst, tokens: burst, tokensAtMs: clock.now() };
      heldUntilMs = Number.NEGATIVE_INFINITY;
      flush();
    },
    close() {
      line = undefined;
      unanswered.clear();
      topics.disconnected();
    },
    flush,
    onAck(ack) {
      const request = unanswered.get(Number(ack.id));
      unanswered.delete(Number(ack.id));
      if (request?.method === "unsubscribe") release(request);
      if (request?.method !== "subscribe" || ack.method !== "subscribe") return;
      const refusals = new Map(ack.data.rejected.map((rejection) => [rejection.ticker, rejection]));
      refuse(request, ({ ticker }) => refusals.get(ticker));
      for (const topic of request.topics) {
        if (refusals.has(topic.ticker) || topic.request !== request) continue;
        topic.live = topic.followers.size > 0;
        for (const follower of [...topic.followers]) follower.onAccepted(topic, ack.data);
      }
    },
    onError({ id, code, message, data }) {
      const tooFast = message === "rate_limited" || data.retry_after !== undefined;
      if (tooFast) heldUntilMs = clock.now() + (data.retry_after === undefined ? SLOW_DOWN_MS : data.retry_after * 1000);
      // The service does not read a message past its rate limit, so its id may be unknown. It can be any unanswered message.
      const meant = id === null ? (tooFast ? [...unanswered.keys()] : []) : [Number(id)];
      let refused = false;
      for (const key of meant) {
        const request = unanswered.get(key);
        unanswered.delete(key);
        if (request === undefined) continue;
        if (tooFast) topics.askAgain(request);
        else if (request.method === "unsubscribe") release(request);
        else {
          refuse(request, ({ ticker }) => ({ ticker, code, message, detail: data.detail }));
          refused = true;
        }
      }
      flush();
      return refused;
    },
  };
}
