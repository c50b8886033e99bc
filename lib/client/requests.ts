import type { Ack, ErrorMessage, TickerRejection, Welcome } from "#lib/contract/stream";
import type { ClientClock } from "./clock";
import type { Topic, TopicRequest, Topics } from "./topics";

/** Part of the allowed rate that is used: what is sent evenly may still arrive in a bunch. */
const RATE_SHARE = 0.8;
/** A subscribe that nobody answered is sent again after this. */
const ACK_TIMEOUT_MS = 10_000;
/** Wait after a message that was refused for its pace, where the service names none. */
const SLOW_DOWN_MS = 1_000;

/** Sends what the topics need over the present connection, never faster than the service takes it. */
interface Requests {
  /** The connection is ready for messages. */
  open(welcome: Welcome, send: (text: string) => void, signal: AbortSignal): void;
  close(): void;
  /** Something is to be sent; what is asked for in one go travels together. */
  flush(): void;
  onAck(ack: Ack): void;
  /** True when the error was told to the subscriptions it refuses. */
  onError(error: ErrorMessage): boolean;
}

interface Line {
  readonly send: (text: string) => void;
  readonly signal: AbortSignal;
  readonly perMs: number;
  readonly burst: number;
  tokens: number;
  tokensAtMs: number;
}

/** What the service says of a message as a whole, said of one of its tickers. */
function rejectionOf({ ticker }: Topic, { code, message, data }: ErrorMessage): TickerRejection {
  return { ticker, code, message, detail: data.detail };
}

/** Makes the sender of a stream's messages. */
export function createRequests(topics: Topics, clock: ClientClock): Requests {
  const unanswered = new Map<number, TopicRequest>();
  let line: Line | undefined;
  let lastId = 0;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let flushing = false;

  /** Milliseconds until one message may be sent; takes it when that is now. */
  function take(from: Line): number {
    const nowMs = clock.now();
    from.tokens = Math.min(from.burst, from.tokens + (nowMs - from.tokensAtMs) * from.perMs);
    from.tokensAtMs = nowMs;
    const waitMs = Math.max(heldUntilMs - nowMs, (1 - from.tokens) / from.perMs);
    if (waitMs > 0) return waitMs;
    from.tokens -= 1;
    return 0;
  }

  function sendNext(over: Line): boolean {
    const request = topics.next();
    if (request === undefined) return false;
    lastId += 1;
    const id = lastId;
    unanswered.set(id, request);
    over.send(JSON.stringify({ id, method: request.method, params: request.params }));
    void clock.wait(ACK_TIMEOUT_MS, over.signal).then(() => {
      if (over.signal.aborted || !unanswered.delete(id)) return;
      topics.askAgain(request);
      flush();
    });
    return true;
  }

  async function run(over: Line): Promise<void> {
    flushing = true;
    // Subscriptions made in one go are known only after it.
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

  /** The service has let go of these; those that somebody came back to stay. */
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

  function slowDown(retryAfterS: number | undefined): void {
    heldUntilMs = clock.now() + (retryAfterS === undefined ? SLOW_DOWN_MS : retryAfterS * 1000);
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
    onError(error) {
      const { id, message, data } = error;
      const tooFast = message === "rate_limited" || data.retry_after !== undefined;
      if (tooFast) slowDown(data.retry_after);
      // A message that came too fast was not read, so its id may be unknown: whatever is unanswered may have been it.
      const meant = id === null ? (tooFast ? [...unanswered.keys()] : []) : [Number(id)];
      let refused = false;
      for (const key of meant) {
        const request = unanswered.get(key);
        unanswered.delete(key);
        if (request === undefined) continue;
        if (tooFast) topics.askAgain(request);
        else if (request.method === "unsubscribe") release(request);
        else {
          refuse(request, (topic) => rejectionOf(topic, error));
          refused = true;
        }
      }
      flush();
      return refused;
    },
  };
}
