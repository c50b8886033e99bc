import { TICKERS_PER_REQUEST_MAX_COUNT } from "#lib/contract/limits";
import type { StreamName, Timeframe } from "#lib/contract/primitives";

/** Records that can be followed: the snapshots of a ticker, or its klines of a timeframe. */
export type Topic = `${Extract<StreamName, "snapshot">} ${string}` | `${Extract<StreamName, "kline">} ${string} ${Timeframe}`;

/** The parts of a topic. */
type TopicParts =
  | { readonly stream: "snapshot"; readonly ticker: string }
  | { readonly stream: "kline"; readonly ticker: string; readonly timeframe: Timeframe };

/** The topic with these parts. */
export function topicOf(parts: TopicParts): Topic {
  return parts.stream === "snapshot" ? `snapshot ${parts.ticker}` : `kline ${parts.ticker} ${parts.timeframe}`;
}

/** The parts of a topic. */
export function partsOf(topic: Topic): TopicParts {
  const [stream, ticker = "", timeframe] = topic.split(" ");
  return stream === "kline" ? { stream, ticker, timeframe: timeframe as Timeframe } : { stream: "snapshot", ticker };
}

/** Members whose wants are kept: more pages than a screen can show. */
const MEMBERS_MAX_COUNT = 30;
/** A member that did not repeat its wants for so many beats is gone, for example because its tab crashed. */
const MISSED_MAX_COUNT = 3;

/** What the members want together. */
export interface Union {
  /** Followed over the stream. */
  readonly followed: readonly Topic[];
  /** Tickers of the snapshots that exceed what the stream may follow; with the others, no more than one call may ask for. */
  readonly polled: readonly string[];
}

/** What each member wants. */
interface Wants {
  /**
   * Replaces what a member wants; with no topics, the member leaves.
   * @returns what it did not want before, and whether it was not known before
   */
  set(member: string, topics: readonly Topic[]): { readonly fresh: readonly Topic[]; readonly joined: boolean };
  /** Removes the members that have not repeated their wants for too many beats. */
  beat(): void;
  /** What all want, with at most `max` topics followed: charts first, then the snapshots of each member in turn. */
  union(max: number): Union;
}

/** Nobody wants anything yet. */
export function createWants(topicsMaxCount: number): Wants {
  const members = new Map<string, { readonly topics: readonly Topic[]; missed: number }>();
  /** How many topics a member may have. The stream follows at most half of them, and the page polls the rest. */
  const perMember = 2 * topicsMaxCount;
  return {
    set(member, topics) {
      const before = members.get(member);
      if (topics.length === 0) members.delete(member);
      else if (before !== undefined || members.size < MEMBERS_MAX_COUNT)
        members.set(member, { topics: topics.slice(0, perMember), missed: 0 });
      const now = members.get(member);
      const fresh = now?.topics.filter((topic) => !before?.topics.includes(topic)) ?? [];
      return { fresh, joined: before === undefined && now !== undefined };
    },
    beat() {
      for (const [name, member] of members) {
        member.missed += 1;
        if (member.missed > MISSED_MAX_COUNT) members.delete(name);
      }
    },
    union(max) {
      const lists = [...members.values()].map(({ topics }) => topics);
      const inTurn = Array.from({ length: perMember }, (_, index) => lists.flatMap((topics) => topics[index] ?? [])).flat();
      const [klines, snapshots] = (["kline", "snapshot"] as const).map((stream) => [
        ...new Set(inTurn.filter((topic) => partsOf(topic).stream === stream)),
      ]) as [Topic[], Topic[]];
      const followed = [...klines, ...snapshots].slice(0, max);
      const left = snapshots
        .filter((topic) => !followed.includes(topic))
        .slice(0, TICKERS_PER_REQUEST_MAX_COUNT - followed.length);
      return { followed, polled: left.map((topic) => partsOf(topic).ticker) };
    },
  };
}
