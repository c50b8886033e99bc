import type { MarketEvent } from "#server/events/event";
import type { Projection } from "#server/view/projection";
import type { Header } from "./wire";

/** Events that were appended together. */
export interface Entry {
  readonly header: Header;
  readonly events: readonly MarketEvent[];
}

/** A newest record, or one of the last closed klines. */
export interface NewestEvent {
  readonly event: MarketEvent;
  /** False where earlier records of its topic may be left out without a count. */
  readonly complete: boolean;
}

/** The newest records, up to and including an entry. */
export interface Newest {
  /** Of that entry. */
  readonly header: Header;
  /** Each topic's records in the order of its sequence. */
  readonly events: readonly NewestEvent[];
}

/** The newest records of a leader that keeps no more: of klines it is not known how many are left out. */
export function newestOf(header: Header, events: readonly MarketEvent[]): Newest {
  return { header, events: events.map((event) => ({ event, complete: event.type !== "kline" })) };
}

/** How far a projection has followed a log. It outlives the connection of a follower. */
export interface Cursor {
  readonly projection: Projection;
  /** Where an adapter continues to read, in its own words; empty at the beginning. */
  position: string;
  /** Of the last entry that was applied. */
  header(): Header | undefined;
  /** Where an entry belongs: it is the next one, it is known already, or others before it are missing. */
  placeOf(header: Header): "next" | "known" | "gap";
  /** Fills an empty projection without notice to its followers. @param past recent events, for clients that resume */
  fill(newest: Newest, past: readonly (readonly MarketEvent[])[]): void;
  /** Closes a gap: the newest records replace those that are missing. */
  bridge(newest: Newest): void;
  /** Applies the events that are new, and goes on to this entry. */
  take(entry: Entry): void;
}

/** Makes a cursor at the beginning of a log. */
export function createCursor(projection: Projection): Cursor {
  const { view, recent } = projection;
  let last: Header | undefined;

  const isNew = ({ epoch, topic, seq }: MarketEvent) => epoch !== recent.epoch() || seq > recent.seq(topic);

  function placeOf({ token, n }: Header): ReturnType<Cursor["placeOf"]> {
    if (last !== undefined && (token < last.token || (token === last.token && n <= last.n))) return "known";
    const due = last === undefined || token > last.token ? 1 : last.n + 1;
    return n === due ? "next" : "gap";
  }

  function goTo(header: Header): void {
    last = header;
    recent.begin(header.epoch);
  }

  return {
    projection,
    position: "",
    header: () => last,
    placeOf,
    fill({ header, events }, past) {
      for (const batch of past) recent.apply(batch.filter(isNew));
      view.apply(events.map(({ event }) => event));
      for (const { event } of events) recent.reach(event.epoch, event.topic, event.seq);
      goTo(header);
    },
    bridge({ header, events }) {
      if (placeOf(header) === "known") return;
      const sameEpoch = header.epoch === recent.epoch();
      const missed = new Map<string, NewestEvent>();
      for (const one of events) if (isNew(one.event)) missed.set(`${one.event.topic} ${one.event.seq}`, one);
      const reached = new Map<string, number>();
      projection.apply(
        [...missed.values()].map(({ event, complete }) => {
          if (!sameEpoch) return { ...event, restored: true };
          const before = reached.get(event.topic) ?? recent.seq(event.topic);
          reached.set(event.topic, event.seq);
          const merged = event.seq - before - 1;
          return merged > 0 && (complete || before > recent.seq(event.topic)) ? { ...event, merged } : event;
        }),
      );
      goTo(header);
    },
    take({ header, events }) {
      const place = placeOf(header);
      projection.apply(place === "next" ? events : events.filter(isNew));
      if (place !== "known") goTo(header);
      // What the leader says changes without events too.
      else if (last?.token === header.token && last.n === header.n) last = header;
    },
  };
}
