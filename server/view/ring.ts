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

/** Places that a topic starts with; they double as events come. */
const FIRST_CAPACITY = 16;

/** Events of a topic with their arrival times (Unix ms), in a circle: `count` of them, from `start` on. */
interface Recent {
  events: (MarketEvent | undefined)[];
  times: number[];
  start: number;
  count: number;
  seq: number;
}

function newRecent(): Recent {
  return { events: new Array(FIRST_CAPACITY), times: new Array(FIRST_CAPACITY), start: 0, count: 0, seq: 0 };
}

/** Index of the n-th event from the oldest, in a circle of so many places. */
const place = (start: number, n: number, capacity: number) => (start + n < capacity ? start + n : start + n - capacity);

const at = ({ events, start }: Recent, n: number) => events[place(start, n, events.length)];

function dropOldest(recent: Recent): void {
  recent.events[recent.start] = undefined;
  recent.start = place(recent.start, 1, recent.events.length);
  recent.count -= 1;
}

function grow(recent: Recent): void {
  const { events, times, start } = recent;
  const added = new Array(Math.min(events.length, STREAM_RESUME_MAX_RECORDS - events.length));
  recent.events = [...events.slice(start), ...events.slice(0, start), ...added];
  recent.times = [...times.slice(start), ...times.slice(0, start), ...added];
  recent.start = 0;
}

function add(recent: Recent, event: MarketEvent, nowMs: number): void {
  if (recent.count === STREAM_RESUME_MAX_RECORDS) dropOldest(recent);
  else if (recent.count === recent.events.length) grow(recent);
  const index = place(recent.start, recent.count, recent.events.length);
  recent.events[index] = event;
  recent.times[index] = nowMs;
  recent.count += 1;
  recent.seq = event.seq;
}

function dropOlder(recent: Recent, oldestMs: number): void {
  while (recent.count > 0 && (recent.times[recent.start] ?? 0) < oldestMs) dropOldest(recent);
}

/** The place of the first event after `seq`, counted from the oldest; undefined when one of the events after it is missing. */
function placeAfter(recent: Recent, seq: number): number | undefined {
  // Usually each event is one step of the sequence, so its place can be computed.
  let n = Math.max(0, recent.count - (recent.seq - seq));
  while (n < recent.count && (at(recent, n)?.seq ?? 0) <= seq) n += 1;
  const first = n < recent.count ? at(recent, n) : undefined;
  return first !== undefined && first.seq - (first.merged ?? 0) <= seq + 1 ? n : undefined;
}

/**
 * Keeps at most the last 1,000 events of each topic, none older than five minutes; sequences are kept as long as the epoch
 * lasts. The first event of another epoch clears everything.
 * @param firstEpoch the epoch before the first event
 */
export function createRing(clock: Clock, firstEpoch: string): Ring {
  const topics = new Map<string, Recent>();
  let epoch = firstEpoch;

  return {
    apply(events) {
      const nowMs = clock.now();
      const oldestMs = nowMs - STREAM_RESUME_MAX_AGE_S * 1000;
      for (const event of events) {
        if (event.epoch !== epoch) {
          topics.clear();
          epoch = event.epoch;
        }
        let recent = topics.get(event.topic);
        if (recent === undefined) {
          recent = newRecent();
          topics.set(event.topic, recent);
        }
        dropOlder(recent, oldestMs);
        add(recent, event, nowMs);
      }
    },
    epoch: () => epoch,
    seq: (topic) => topics.get(topic)?.seq ?? 0,
    since(topic, asked, seq) {
      const recent = topics.get(topic);
      const last = recent?.seq ?? 0;
      if (asked !== epoch || seq > last) return undefined;
      if (recent === undefined || seq === last) return [];
      dropOlder(recent, clock.now() - STREAM_RESUME_MAX_AGE_S * 1000);
      const first = placeAfter(recent, seq);
      if (first === undefined) return undefined;
      return Array.from({ length: recent.count - first }, (_, n) => at(recent, first + n) as MarketEvent);
    },
  };
}
