import { STREAM_TICKERS_PER_MESSAGE_MAX_COUNT } from "#lib/contract/limits";
import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type { AckOf, PushMessage, Resume, SubscribeParams, TickerRejection, UnsubscribeParams } from "#lib/contract/stream";
import { SpotwireError } from "./errors";
import type { Position } from "./sequence";

/** Maximum number of topics that one stream follows; far more than any plan allows on a connection. */
const TOPICS_MAX_COUNT = 10_000;

/** The topics of a subscription. */
export interface SubscriptionRequest {
  readonly stream: StreamName;
  readonly tickers: readonly string[];
  readonly timeframe: Timeframe | undefined;
  /** Whether to receive the current record directly after the ack. */
  readonly snapshot: boolean;
}

/** The interface of a subscription that its topics use. */
export interface Follower {
  onRecord(message: PushMessage): void;
  /** The service accepted the topic, for the first time or again. */
  onAccepted(topic: Topic, ack: AckOf<"subscribe">["data"]): void;
  /** The service rejected the topic. */
  onRejected(topic: Topic, rejection: TickerRejection): void;
  /** The stream ends; true when a loop throws the error. */
  end(error: SpotwireError | undefined): boolean;
}

/** Which klines of a topic were delivered as closed, and what waits while others are read. */
export interface KlineProgress {
  /** Every kline that opened before this was delivered as closed (Unix seconds); undefined before the first record. */
  closedUntil: number | undefined;
  /** Records that wait for a recovery; undefined without one. */
  held: PushMessage[] | undefined;
  /** True while klines may have been missed, and none has come that shows it. */
  doubtful: boolean;
}

/** One (stream, ticker, timeframe) and its last sequence. */
export interface Topic {
  readonly stream: StreamName;
  readonly ticker: string;
  readonly timeframe: Timeframe | undefined;
  readonly followers: Set<Follower>;
  snapshot: boolean;
  /** It was requested on this connection. */
  asked: boolean;
  /** It was accepted on this connection. Earlier records belong to a subscription that has ended. */
  live: boolean;
  last: Position | undefined;
  /** Of klines: what was delivered. */
  progress: KlineProgress;
  /** The latest message about it; answers to earlier messages are outdated. */
  request: TopicRequest | undefined;
}

/** A message to send, and the topics of its ack. */
export type TopicRequest =
  | { readonly method: "subscribe"; readonly params: SubscribeParams; readonly topics: readonly Topic[] }
  | { readonly method: "unsubscribe"; readonly params: UnsubscribeParams; readonly topics: readonly Topic[] };

const newProgress = (): KlineProgress => ({ closedUntil: undefined, held: undefined, doubtful: false });

function createTopic(stream: StreamName, ticker: string, timeframe: Timeframe | undefined): Topic {
  const followers = new Set<Follower>();
  return {
    stream,
    ticker,
    timeframe,
    followers,
    snapshot: false,
    asked: false,
    live: false,
    last: undefined,
    progress: newProgress(),
    request: undefined,
  };
}

const keyOf = (stream: StreamName, ticker: string, timeframe: Timeframe | undefined) => `${stream} ${timeframe ?? ""} ${ticker}`;

/** The key of the topic a record belongs to. */
export function topicKeyOf(message: PushMessage): string {
  return keyOf(message.type, message.ticker, message.type === "kline" ? message.timeframe : undefined);
}

/**
 * The resume position of a topic. None for a live topic that a later subscription requests again, because the subscription
 * needs the current record, which a resume would not send.
 */
const resumePosition = ({ live, last }: Topic) => (live ? undefined : last);

const sameSelection = (a: Topic, b: Topic) => a.stream === b.stream && a.timeframe === b.timeframe;

/** Whether two topics can share a message: all fields of the message except the ticker must be equal. */
const sameSubscribe = (a: Topic, b: Topic) =>
  sameSelection(a, b) && a.snapshot === b.snapshot && resumePosition(a)?.epoch === resumePosition(b)?.epoch;

function selectionOf(topics: readonly Topic[], { stream, timeframe }: Topic): UnsubscribeParams {
  return { stream, tickers: topics.map(({ ticker }) => ticker), ...(timeframe !== undefined && { timeframe }) };
}

function resumeOf(topics: readonly Topic[]): Resume | undefined {
  const seq: Record<string, number> = {};
  let epoch: string | undefined;
  for (const topic of topics) {
    const position = resumePosition(topic);
    if (position === undefined) return undefined;
    epoch = position.epoch;
    seq[topic.ticker] = position.seq;
  }
  return epoch === undefined ? undefined : { epoch, seq };
}

/** All followed topics: the wanted ones and those requested on the connection. The difference must be sent. */
export interface Topics {
  /** True while at least one topic is followed. */
  readonly wanted: boolean;
  /** @throws SpotwireError invalid_argument for too many topics */
  follow(request: SubscriptionRequest, follower: Follower): void;
  unfollow(follower: Follower): void;
  find(key: string): Topic | undefined;
  /** True while there is something to send. */
  pending(): boolean;
  /** The next message that is needed; its topics count as requested from now on. */
  next(): TopicRequest | undefined;
  /** Sends the topics of a request that are still wanted again, after a timeout or the rate limit. */
  askAgain(request: TopicRequest): void;
  /** Removes a topic: the service rejected it, or no longer follows it and it has no new subscription. */
  remove(topic: Topic): void;
  /** Resets all requests after the end of the connection. */
  disconnected(): void;
}

/** Makes an empty set of topics. */
export function createTopics(): Topics {
  const topics = new Map<string, Topic>();

  /** The topics that fit in one message with the first of `due`. */
  function batch(due: (topic: Topic) => boolean, same: (a: Topic, b: Topic) => boolean): Topic[] {
    const found: Topic[] = [];
    for (const topic of topics.values()) {
      if (found.length === STREAM_TICKERS_PER_MESSAGE_MAX_COUNT) break;
      if (due(topic) && same(found[0] ?? topic, topic)) found.push(topic);
    }
    return found;
  }

  function remove(topic: Topic): void {
    const key = keyOf(topic.stream, topic.ticker, topic.timeframe);
    if (topics.get(key) === topic) topics.delete(key);
  }

  const isLeaving = ({ followers, asked }: Topic) => followers.size === 0 && asked;
  const isWanted = ({ followers, asked }: Topic) => followers.size > 0 && !asked;

  function nextUnsubscribe(): TopicRequest | undefined {
    const leaving = batch(isLeaving, sameSelection);
    const [first] = leaving;
    if (first === undefined) return undefined;
    const request: TopicRequest = { method: "unsubscribe", params: selectionOf(leaving, first), topics: leaving };
    for (const topic of leaving) Object.assign(topic, { asked: false, request });
    return request;
  }

  function nextSubscribe(): TopicRequest | undefined {
    const wanted = batch(isWanted, sameSubscribe);
    const [first] = wanted;
    if (first === undefined) return undefined;
    const resume = resumeOf(wanted);
    const params = { ...selectionOf(wanted, first), snapshot: first.snapshot, ...(resume !== undefined && { resume }) };
    const request: TopicRequest = { method: "subscribe", params, topics: wanted };
    for (const topic of wanted) Object.assign(topic, { asked: true, request });
    return request;
  }

  return {
    get wanted() {
      return [...topics.values()].some(({ followers }) => followers.size > 0);
    },
    follow({ stream, tickers, timeframe, snapshot }, follower) {
      const keys = tickers.map((ticker) => keyOf(stream, ticker, timeframe));
      if (topics.size + keys.filter((key) => !topics.has(key)).length > TOPICS_MAX_COUNT)
        throw new SpotwireError("invalid_argument", `One stream follows at most ${TOPICS_MAX_COUNT} topics.`);
      for (const ticker of tickers) {
        const key = keyOf(stream, ticker, timeframe);
        const topic = topics.get(key) ?? createTopic(stream, ticker, timeframe);
        topic.followers.add(follower);
        topic.snapshot ||= snapshot;
        topic.asked = false;
        topics.set(key, topic);
      }
    },
    unfollow(follower) {
      for (const topic of [...topics.values()]) {
        if (!topic.followers.delete(follower) || topic.followers.size > 0) continue;
        // Records still in transit belong to no subscription; a later subscription starts fresh.
        topic.live = false;
        topic.last = undefined;
        topic.progress = newProgress();
        if (!topic.asked) remove(topic);
      }
    },
    find: (key) => topics.get(key),
    pending: () => [...topics.values()].some((topic) => isLeaving(topic) || isWanted(topic)),
    next: () => nextUnsubscribe() ?? nextSubscribe(),
    askAgain({ method, topics: again }) {
      for (const topic of again) topic.asked = method === "unsubscribe" && topic.followers.size === 0;
    },
    remove,
    disconnected() {
      for (const topic of [...topics.values()]) {
        topic.asked = false;
        topic.live = false;
        if (topic.followers.size === 0) remove(topic);
      }
    },
  };
}
