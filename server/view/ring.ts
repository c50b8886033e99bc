import type { Clock } from "#lib/clock";
import { STREAM_RESUME_MAX_AGE_S, STREAM_RESUME_MAX_RECORDS } from "#lib/contract/limits";
import type { Listener, MarketEvent } from "#server/events/event";
import { arrivalOf, pack, packedLength, unpack } from "./packed-events";

/** The recent events of a venue, from which a client that was briefly disconnected catches up. */
export interface Ring {
  readonly apply: Listener;
  /** Begins an epoch, unless it is the present one: everything before it is forgotten. */
  begin(epoch: string): void;
  /** Notes that a topic has reached a sequence by events that are not known here; does nothing where it has. */
  reach(epoch: string, topic: string, seq: number): void;
  /** The epoch of the newest event; before the first event, the one it was made with. */
  epoch(): string;
  /** Sequence of the last event of a topic; 0 before the first. */
  seq(topic: string): number;
  /**
   * The events of a topic after `seq`, in order; empty when nothing was missed. Undefined when unknown: another epoch, too
   * long ago, or a sequence that was never reached.
   */
  since(topic: string, epoch: string, seq: number): readonly MarketEvent[] | undefined;
}

/** Places that a topic starts with; they double as events come. */
const FIRST_CAPACITY = 16;

/**
 * Events of a topic in a circle: `count` of them, from the place `start` on. They are kept as numbers: as objects they would
 * take several times the memory, and collecting them would cost more than everything else that is done for a tick.
 */
interface Recent {
  /** One of the events, for what all of them have in common. */
  readonly sample: MarketEvent;
  /** Numbers of an event. */
  readonly width: number;
  capacity: number;
  numbers: Float64Array;
  start: number;
  count: number;
  seq: number;
}

function newRecent(sample: MarketEvent): Recent {
  const width = packedLength(sample.type);
  const numbers = new Float64Array(FIRST_CAPACITY * width);
  return { sample, width, capacity: FIRST_CAPACITY, numbers, start: 0, count: 0, seq: 0 };
}

/** Where the numbers of the n-th event from the oldest are. */
function offsetOf({ start, capacity, width }: Recent, n: number): number {
  return (start + n < capacity ? start + n : start + n - capacity) * width;
}

const at = (recent: Recent, n: number) => unpack(recent.sample, recent.numbers, offsetOf(recent, n));

function dropOldest(recent: Recent): void {
  recent.start = recent.start + 1 < recent.capacity ? recent.start + 1 : 0;
  recent.count -= 1;
}

function dropOlder(recent: Recent, nowMs: number): void {
  const oldestMs = nowMs - STREAM_RESUME_MAX_AGE_S * 1000;
  while (recent.count > 0 && arrivalOf(recent.numbers, offsetOf(recent, 0)) < oldestMs) dropOldest(recent);
}

function grow(recent: Recent): void {
  const { numbers, start, width } = recent;
  recent.capacity = Math.min(2 * recent.capacity, STREAM_RESUME_MAX_RECORDS);
  recent.numbers = new Float64Array(recent.capacity * width);
  recent.numbers.set(numbers.subarray(start * width));
  recent.numbers.set(numbers.subarray(0, start * width), numbers.length - start * width);
  recent.start = 0;
}

function add(recent: Recent, event: MarketEvent, nowMs: number): void {
  // Not with every event: it would read the oldest one from memory that is in no cache.
  if (recent.count === recent.capacity) dropOlder(recent, nowMs);
  if (recent.count === STREAM_RESUME_MAX_RECORDS) dropOldest(recent);
  else if (recent.count === recent.capacity) grow(recent);
  pack(event, nowMs, recent.numbers, offsetOf(recent, recent.count));
  recent.count += 1;
  recent.seq = event.seq;
}

/** The events after `seq`; undefined when one of them is missing. */
function eventsAfter(recent: Recent, seq: number): readonly MarketEvent[] | undefined {
  // Usually each event is one step of the sequence, so its place can be computed.
  let n = Math.max(0, recent.count - (recent.seq - seq));
  while (n < recent.count && at(recent, n).seq <= seq) n += 1;
  const events = Array.from({ length: recent.count - n }, (_, index) => at(recent, n + index));
  const [first] = events;
  return first !== undefined && first.seq - (first.merged ?? 0) <= seq + 1 ? events : undefined;
}

/**
 * Keeps at most the last 1,000 events of each topic, none older than five minutes; sequences are kept as long as the epoch
 * lasts. The first event of another epoch clears everything.
 * @param firstEpoch the epoch before the first event
 */
export function createRing(clock: Clock, firstEpoch: string): Ring {
  const topics = new Map<string, Recent>();
  /** Of topics without a known event. */
  const reached = new Map<string, number>();
  let epoch = firstEpoch;

  const seqOf = (topic: string) => topics.get(topic)?.seq ?? reached.get(topic) ?? 0;

  function begin(other: string): void {
    if (other === epoch) return;
    topics.clear();
    reached.clear();
    epoch = other;
  }

  return {
    apply(events) {
      const nowMs = clock.now();
      for (const event of events) {
        begin(event.epoch);
        let recent = topics.get(event.topic);
        if (recent === undefined) {
          recent = newRecent(event);
          topics.set(event.topic, recent);
        }
        add(recent, event, nowMs);
      }
    },
    begin,
    reach(reachedEpoch, topic, seq) {
      begin(reachedEpoch);
      if (seq <= seqOf(topic)) return;
      // What is kept does not reach up to there, so that nothing can be continued from it.
      topics.delete(topic);
      reached.set(topic, seq);
    },
    epoch: () => epoch,
    seq: seqOf,
    since(topic, asked, seq) {
      const last = seqOf(topic);
      if (asked !== epoch || seq > last) return undefined;
      if (seq === last) return [];
      const recent = topics.get(topic);
      if (recent === undefined) return undefined;
      dropOlder(recent, clock.now());
      return eventsAfter(recent, seq);
    },
  };
}
