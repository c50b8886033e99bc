import type { MarketEvent } from "#server/events/event";
import { CLOSED_KEPT_COUNT, CLOSED_SUFFIX, type Row, toRow } from "./wire";

interface Closed {
  readonly time: number;
  readonly row: Row;
}

interface Topic {
  newest: Row | undefined;
  closed: readonly Closed[];
  newestChanged: boolean;
  closedChanged: boolean;
}

/** The newest records of a venue for Redis, and which of them are not written there yet. */
interface LatestState {
  add(event: MarketEvent): void;
  /** Field, value, field, value: what changed since it was taken last; everything with `all`. */
  take(all: boolean): string[];
}

/** Makes an empty state. */
export function createLatestState(): LatestState {
  const topics = new Map<string, Topic>();
  const changed = new Set<string>();

  return {
    add(event) {
      let topic = topics.get(event.topic);
      if (topic === undefined) {
        topic = { newest: undefined, closed: [], newestChanged: false, closedChanged: false };
        topics.set(event.topic, topic);
      }
      changed.add(event.topic);
      if (event.type === "kline" && event.closed) {
        const { corrected, removed, ...plain } = event;
        const entry = { time: event.record.time, row: toRow(plain) };
        // A correction can be older than all that is kept.
        if (removed) topic.closed = topic.closed.filter((one) => one.time !== entry.time);
        else if (corrected) topic.closed = topic.closed.map((one) => (one.time === entry.time ? entry : one));
        else topic.closed = [...topic.closed.slice(1 - CLOSED_KEPT_COUNT), entry];
        topic.closedChanged = true;
      } else {
        topic.newest = toRow(event);
        topic.newestChanged = true;
      }
    },
    take(all) {
      const fields: string[] = [];
      for (const name of all ? topics.keys() : changed) {
        const topic = topics.get(name);
        if (topic?.newest !== undefined && (all || topic.newestChanged)) fields.push(name, JSON.stringify(topic.newest));
        if (topic !== undefined && topic.closed.length > 0 && (all || topic.closedChanged))
          fields.push(name + CLOSED_SUFFIX, JSON.stringify(topic.closed.map(({ row }) => row)));
        if (topic !== undefined) topic.newestChanged = topic.closedChanged = false;
      }
      changed.clear();
      return fields;
    },
  };
}
