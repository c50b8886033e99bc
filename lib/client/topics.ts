import { STREAM_TICKERS_PER_MESSAGE_MAX_COUNT } from "#lib/contract/limits";
import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type { AckOf, PushMessage, Resume, SubscribeParams, TickerRejection, UnsubscribeParams } from "#lib/contract/stream";
import { SpotwireError } from "./errors";
import type { Position } from "./sequence";

/** Topics one stream follows at most; far above what any plan allows on a connection. */
const TOPICS_MAX_COUNT = 10_000;

/** What a subscription wants. */
export interface SubscriptionRequest {
  readonly stream: StreamName;
  readonly tickers: readonly string[];
  readonly timeframe: Timeframe | undefined;
  /** Whether the current record is wanted straight after the ack. */
  readonly snapshot: boolean;
}

/** A subscription as its topics see it. */
export interface Follower {
  onRecord(message: PushMessage): void;
  /** The service follows the topic for us, now or again. */
  onAccepted(topic: Topic, ack: AckOf<"subscribe">["data"]): void;
  /** The service does not. */
  onRejected(topic: Topic, rejection: TickerRejection): void;
}

/** One (stream, ticker, timeframe) and where its sequence stands. */
export interface Topic {
  readonly stream: StreamName;
  readonly ticker: string;
  readonly timeframe: Timeframe | undefined;
  readonly followers: Set<Follower>;
  snapshot: boolean;
  /** This connection was asked for it. */
  asked: boolean;
  /** This connection said yes: only now are its records of this subscription, not of one that was given up. */
  live: boolean;
  last: Position | undefined;
  /** The latest message about it: an answer to an earlier one says nothing about now. */
  request: TopicRequest | undefined;
}

/** A message to send, and the topics its ack speaks of. */
export type TopicRequest =
  | { readonly method: "subscribe"; readonly params: SubscribeParams; readonly topics: readonly Topic[] }
  | { readonly method: "unsubscribe"; readonly params: UnsubscribeParams; readonly topics: readonly Topic[] };

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
    request: undefined,
  };
}

const keyOf = (stream: StreamName, ticker: string, timeframe: Timeframe | undefined) => `${stream} ${timeframe ?? ""} ${ticker}`;

/** The key of the topic a record belongs to. */
export function topicKeyOf(message: PushMessage): string {
  return keyOf(message.type, message.ticker, message.type === "kline" ? message.timeframe : undefined);
}

/**
 * Where the service is asked to go on. A live topic is asked for again by one who came later: he wants the current record,
 * and a resume would bring none.
 */
const resumePosition = ({ live, last }: Topic) => (live ? undefined : last);

const sameSelection = (a: Topic, b: Topic) => a.stream === b.stream && a.timeframe === b.timeframe;

/** Topics of one message agree in all that the message says once for all its tickers. */
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

/** All that is followed: what is wanted, and what the connection was asked for. The difference is what has to be sent. */
export interface Topics {
  /** True while somebody follows something. */
  readonly wanted: boolean;
  /** @throws SpotwireError invalid_argument when there would be too many */
  follow(request: SubscriptionRequest, follower: Follower): Topic[];
  unfollow(follower: Follower): void;
  find(key: string): Topic | undefined;
  /** True while there is something to send. */
  pending(): boolean;
  /** The next message that brings the connection closer to what is wanted; its topics count as asked from here on. */
  next(): TopicRequest | undefined;
  /** Sends the request again, as far as it is still wanted: it was not answered, or came too fast. */
  askAgain(request: TopicRequest): void;
  /** Follows a topic no longer: the service refused it, or has let go of it and nobody came back to it. */
  remove(topic: Topic): void;
  /** The connection is gone, and with it all that it was asked for. */
  disconnected(): void;
}

/** Makes an empty book of topics. */
export function createTopics(): Topics {
  const topics = new Map<string, Topic>();

  /** The topics that fit in one message with the first that is `due`. */
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
      return tickers.map((ticker) => {
        const key = keyOf(stream, ticker, timeframe);
        const topic = topics.get(key) ?? createTopic(stream, ticker, timeframe);
        topic.followers.add(follower);
        topic.snapshot ||= snapshot;
        topic.asked = false;
        topics.set(key, topic);
        return topic;
      });
    },
    unfollow(follower) {
      for (const topic of [...topics.values()]) {
        if (!topic.followers.delete(follower) || topic.followers.size > 0) continue;
        // What is still on its way belongs to nobody; who comes back later begins anew.
        topic.live = false;
        topic.last = undefined;
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
