import type { Clock } from "#lib/clock";
import { STREAM_RESUME_MAX_AGE_S, STREAM_RESUME_MAX_RECORDS } from "#lib/contract/limits";
import type { Listener } from "#server/events/bus";
import type { MarketEvent } from "#server/events/event";

/** The recent events of a venue, from which a client that was briefly disconnected catches up. */
export interface Ring {
  readonly apply: Listener;
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

/** Events of a topic with their arrival times (Unix ms); those before `head` are gone. */
interface Recent {
  events: (MarketEvent | undefined)[];
  times: number[];
  head: number;
  seq: number;
}

/**
 * Keeps at most the last 1,000 events of each topic, none older than five minutes; sequences are kept as long as the epoch
 * lasts. The first event of another epoch clears everything.
 * @param firstEpoch the epoch before the first event
 */
export function createRing(clock: Clock, firstEpoch: string): Ring {
  const topics = new Map<string, Recent>();
  let epoch = firstEpoch;

  function trim(recent: Recent, nowMs: number): void {
    const oldestMs = nowMs - STREAM_RESUME_MAX_AGE_S * 1000;
    while (
      recent.events.length - recent.head > STREAM_RESUME_MAX_RECORDS ||
      (recent.times[recent.head] ?? Number.POSITIVE_INFINITY) < oldestMs
    ) {
      recent.events[recent.head] = undefined;
      recent.head += 1;
    }
    // The remaining events are moved only when at least as many were dropped, so each event moves at most once on average.
    if (recent.head * 2 < recent.events.length) return;
    recent.events = recent.events.slice(recent.head);
    recent.times = recent.times.slice(recent.head);
    recent.head = 0;
  }

  /** Index of the first event after `seq`; undefined when one of the events after it is missing. */
  function indexAfter({ events, head, seq: last }: Recent, seq: number): number | undefined {
    // Usually each event is one step of the sequence, so its index can be computed.
    let index = Math.max(head, events.length - (last - seq));
    while (index < events.length && (events[index]?.seq ?? 0) <= seq) index += 1;
    const first = events[index];
    return first !== undefined && first.seq - (first.merged ?? 0) <= seq + 1 ? index : undefined;
  }

  return {
    apply(events) {
      const nowMs = clock.now();
      for (const event of events) {
        if (event.epoch !== epoch) {
          topics.clear();
          epoch = event.epoch;
        }
        let recent = topics.get(event.topic);
        if (recent === undefined) {
          recent = { events: [], times: [], head: 0, seq: 0 };
          topics.set(event.topic, recent);
        }
        recent.events.push(event);
        recent.times.push(nowMs);
        recent.seq = event.seq;
        trim(recent, nowMs);
      }
    },
    epoch: () => epoch,
    seq: (topic) => topics.get(topic)?.seq ?? 0,
    since(topic, asked, seq) {
      const recent = topics.get(topic);
      const last = recent?.seq ?? 0;
      if (asked !== epoch || seq > last) return undefined;
      if (recent === undefined || seq === last) return [];
      trim(recent, clock.now());
      const index = indexAfter(recent, seq);
      return index === undefined ? undefined : (recent.events.slice(index) as MarketEvent[]);
    },
  };
}
