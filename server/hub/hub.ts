import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type { StreamEncoding } from "#lib/contract/stream";
import type { Listener } from "#server/events/event";
import { topicName } from "#server/events/topic";
import type { Outbox } from "./outbox";
import { type Shared, updateOf } from "./outgoing";

/** One thing that can be subscribed to. */
export interface Topic {
  readonly name: string;
  readonly stream: StreamName;
  readonly ticker: string;
  readonly timeframe: Timeframe | undefined;
}

/** The subscriptions of one venue: which outboxes follow which topics. */
export interface Hub {
  /**
   * The projection calls this with all events. Each record becomes a message once in each encoding that a subscriber takes, however many
   * subscribers it has.
   */
  readonly apply: Listener;
  /** The topic of this name, while it has subscribers. */
  find(name: string): Topic | undefined;
  /** Subscribes an outbox and returns the topic object that all subscribers share, to save memory. */
  subscribe(topic: Topic, outbox: Outbox): Topic;
  unsubscribe(topic: Topic, outbox: Outbox): void;
  /** Tickers with at least one subscriber. */
  tickers(): Iterable<string>;
  /** Sends a message once to each subscriber of any topic of the ticker. */
  notify(ticker: string, message: Shared): void;
}

interface Followed {
  readonly topic: Topic;
  readonly outboxes: Map<StreamEncoding, Set<Outbox>>;
}

/** The topic of a stream; equal topics have equal names. */
export function topicOf(stream: StreamName, ticker: string, timeframe?: Timeframe): Topic {
  return { name: topicName(stream, ticker, timeframe), stream, ticker, timeframe };
}

/** Creates the hub of one venue. */
export function createHub(): Hub {
  const followed = new Map<string, Followed>();
  const byTicker = new Map<string, Set<Followed>>();

  function open(topic: Topic): Followed {
    const entry: Followed = { topic, outboxes: new Map() };
    followed.set(topic.name, entry);
    const siblings = byTicker.get(topic.ticker);
    if (siblings === undefined) byTicker.set(topic.ticker, new Set([entry]));
    else siblings.add(entry);
    return entry;
  }

  function close(entry: Followed): void {
    const { name, ticker } = entry.topic;
    followed.delete(name);
    const siblings = byTicker.get(ticker);
    siblings?.delete(entry);
    if (siblings?.size === 0) byTicker.delete(ticker);
  }

  return {
    apply(events) {
      for (const event of events) {
        const entry = followed.get(event.topic);
        if (entry === undefined) continue;
        for (const [encoding, outboxes] of entry.outboxes) {
          const message = updateOf(event, encoding);
          for (const outbox of outboxes) outbox.push(message);
        }
      }
    },
    find: (name) => followed.get(name)?.topic,
    subscribe(topic, outbox) {
      const entry = followed.get(topic.name) ?? open(topic);
      const { encoding } = outbox;
      const others = entry.outboxes.get(encoding);
      if (others === undefined) entry.outboxes.set(encoding, new Set([outbox]));
      else others.add(outbox);
      return entry.topic;
    },
    unsubscribe(topic, outbox) {
      const entry = followed.get(topic.name);
      if (entry === undefined) return;
      const others = entry.outboxes.get(outbox.encoding);
      others?.delete(outbox);
      if (others?.size === 0) entry.outboxes.delete(outbox.encoding);
      if (entry.outboxes.size === 0) close(entry);
    },
    tickers: () => byTicker.keys(),
    notify(ticker, message) {
      const outboxesOfTicker = new Set<Outbox>();
      for (const { outboxes } of byTicker.get(ticker) ?? [])
        for (const ofEncoding of outboxes.values()) for (const outbox of ofEncoding) outboxesOfTicker.add(outbox);
      for (const outbox of outboxesOfTicker) outbox.push(message(outbox.encoding));
    },
  };
}
