import { conflate, type Queued } from "#server/events/conflate";
import type { MarketEvent } from "#server/events/event";

/** Maximum number of events that wait to be sent. Past this, the oldest are conflated. */
export const WAITING_MAX_EVENTS = 100_000;
/** Events conflated per step: a longer step would block the node that produces the events. */
const CONFLATE_STEP_EVENTS = 5_000;

/** An event that waits. */
interface WaitingEvent extends Queued {
  readonly event: MarketEvent;
  /** Counts the events ever added, from 1. */
  readonly position: number;
  /** Klines were closed up to here when it was added, Unix ms. */
  readonly reachedMs: number;
}

/** The events that wait for Redis, oldest first. Bounded in number, and in the work that one call does. */
interface Backlog {
  size(): number;
  /** Adds events in order. @param reachedMs klines are closed up to here, Unix ms */
  add(events: readonly MarketEvent[], reachedMs: number): void;
  /** Removes and returns the oldest events, at most `max`. */
  take(max: number): readonly WaitingEvent[];
  /** Position of the newest event; 0 before the first. */
  position(): number;
}

function withMerged(item: WaitingEvent, event: MarketEvent, merged: number): WaitingEvent {
  return { ...item, event: { ...event, merged }, merged };
}

/** Separates the events that a newer one of their topic may still replace: an open record with nothing of its topic after it. */
function separate(events: readonly WaitingEvent[]): { replaceable: WaitingEvent[]; final: WaitingEvent[] } {
  const replaceable: WaitingEvent[] = [];
  const final: WaitingEvent[] = [];
  const followed = new Set<string>();
  for (const item of events.toReversed()) {
    const { event, baseline } = item;
    const stays = baseline || (event.type === "kline" && event.closed) || followed.has(event.topic);
    (stays ? final : replaceable).push(item);
    followed.add(event.topic);
  }
  return { replaceable: replaceable.reverse(), final: final.reverse() };
}

interface BacklogLimits {
  maxEvents?: number;
  stepEvents?: number;
}

/** Makes an empty backlog. */
export function createBacklog({
  maxEvents = WAITING_MAX_EVENTS,
  stepEvents = CONFLATE_STEP_EVENTS,
}: BacklogLimits = {}): Backlog {
  /** The oldest events, conflated: those that stay (closed klines above all), and the newest record of each topic. */
  const final: WaitingEvent[] = [];
  let replaceable: WaitingEvent[] = [];
  /** The newer ones, as they came: a short outage costs no node a record. */
  let waiting: WaitingEvent[] = [];
  let position = 0;

  const size = () => final.length + replaceable.length + waiting.length;

  /** Conflates another step of the oldest events. */
  function conflateOldest(): void {
    const oldest = replaceable.concat(waiting.splice(0, stepEvents));
    const separated = separate(conflate(oldest, withMerged));
    replaceable = separated.replaceable;
    final.push(...separated.final);
    // Nothing replaces a closed kline. Past half of the bound the oldest go: the store has them.
    final.splice(0, Math.max(0, final.length - maxEvents / 2));
  }

  return {
    size,
    add(events, reachedMs) {
      for (const event of events) {
        position += 1;
        waiting.push({ event, merged: event.merged ?? 0, baseline: event.restored ?? false, position, reachedMs });
        if (size() > maxEvents) conflateOldest();
      }
    },
    take(max) {
      if (final.length + replaceable.length > 0) {
        const conflated = final.splice(0).concat(replaceable);
        waiting = conflated.sort((one, other) => one.position - other.position).concat(waiting);
        replaceable = [];
      }
      return waiting.splice(0, max);
    },
    position: () => position,
  };
}
