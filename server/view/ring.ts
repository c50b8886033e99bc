import type { Clock } from "#lib/clock";
import { STREAM_RESUME_MAX_AGE_S, STREAM_RESUME_MAX_RECORDS } from "#lib/contract/limits";
import type { Listener } from "#server/bus/bus";
import type { MarketEvent } from "#server/engine/event";

/** The recent events of a venue, from which a reader that was away for a moment is made whole again. */
export interface Ring {
  readonly apply: Listener;
  /** Sequence of the last event of a topic; 0 before the first. */
  seq(topic: string): number;
  /**
   * The events of a topic after `seq`, in order; empty when nothing was missed. Undefined when that is not known any more:
   * another epoch, too long ago, or a sequence that was never reached.
   */
  since(topic: string, epoch: string, seq: number): readonly MarketEvent[] | undefined;
}

/** Events of one topic with the instants (Unix ms) they came at; those before `head` are gone. */
interface Recent {
  events: (MarketEvent | undefined)[];
  times: number[];
  head: number;
  seq: number;
}

/**
 * Keeps of each topic at most the last 1,000 events, none older than five minutes; the sequence is kept for ever.
 * @param epoch of the engine whose events come
 */
export function createRing(epoch: string, clock: Clock): Ring {
  const topics = new Map<string, Recent>();

  function trim(recent: Recent, nowMs: number): void {
    const oldestMs = nowMs - STREAM_RESUME_MAX_AGE_S * 1000;
    while (
      recent.events.length - recent.head > STREAM_RESUME_MAX_RECORDS ||
      (recent.times[recent.head] ?? Number.POSITIVE_INFINITY) < oldestMs
    ) {
      recent.events[recent.head] = undefined;
      recent.head += 1;
    }
    // Moving what is left costs as much as was dropped, so each event is moved once at most.
    if (recent.head * 2 < recent.events.length) return;
    recent.events = recent.events.slice(recent.head);
    recent.times = recent.times.slice(recent.head);
    recent.head = 0;
  }

  return {
    apply(events) {
      const nowMs = clock.now();
      for (const event of events) {
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
    seq: (topic) => topics.get(topic)?.seq ?? 0,
    since(topic, asked, seq) {
      const recent = topics.get(topic);
      const last = recent?.seq ?? 0;
      if (asked !== epoch || seq > last) return undefined;
      if (recent === undefined || seq === last) return [];
      trim(recent, clock.now());
      const count = last - seq;
      if (count > recent.events.length - recent.head) return undefined;
      return recent.events.slice(-count) as MarketEvent[];
    },
  };
}
