import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type { Listener } from "#server/events/bus";
import { topicName } from "#server/events/topic";
import type { Outbox } from "./outbox";
import { type Outgoing, updateOf } from "./outgoing";

/** One thing that can be subscribed to. */
export interface Topic {
  readonly name: string;
  readonly stream: StreamName;
  readonly ticker: string;
  readonly timeframe: Timeframe | undefined;
}

/** Who follows what in one venue. */
export interface Hub {
  /** The bus calls it with every event: a record is made into a message once, whatever the number of its subscribers. */
  readonly apply: Listener;
  /** The topic of this name, while anybody follows it. */
  find(name: string): Topic | undefined;
  /** Gives the one topic of this name that all its followers share, so that many connections need not hold many. */
  subscribe(topic: Topic, outbox: Outbox): Topic;
  unsubscribe(topic: Topic, outbox: Outbox): void;
  /** Tickers with at least one subscriber. */
  tickers(): Iterable<string>;
  /** Sends a message once to everyone who follows the ticker in any way. */
  tell(ticker: string, message: Outgoing): void;
}

interface Followed {
  readonly topic: Topic;
  readonly outboxes: Set<Outbox>;
}

/** The topic of a stream; the same topic has the same name wherever it is made. */
export function topicOf(stream: StreamName, ticker: string, timeframe?: Timeframe): Topic {
  return { name: topicName(stream, ticker, timeframe), stream, ticker, timeframe };
}

/** Makes the hub of one venue, with nobody in it. */
export function createHub(): Hub {
  const followed = new Map<string, Followed>();
  const byTicker = new Map<string, Set<Followed>>();

  function open(topic: Topic): Followed {
    const entry = { topic, outboxes: new Set<Outbox>() };
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
        const message = updateOf(event);
        for (const outbox of entry.outboxes) outbox.push(message);
      }
    },
    find: (name) => followed.get(name)?.topic,
    subscribe(topic, outbox) {
      const entry = followed.get(topic.name) ?? open(topic);
      entry.outboxes.add(outbox);
      return entry.topic;
    },
    unsubscribe(topic, outbox) {
      const entry = followed.get(topic.name);
      entry?.outboxes.delete(outbox);
      if (entry?.outboxes.size === 0) close(entry);
    },
    tickers: () => byTicker.keys(),
    tell(ticker, message) {
      const told = new Set<Outbox>();
      for (const { outboxes } of byTicker.get(ticker) ?? []) for (const outbox of outboxes) told.add(outbox);
      for (const outbox of told) outbox.push(message);
    },
  };
}
