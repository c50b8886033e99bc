import type { MarketEvent } from "./event";

/** Takes the events of one publication, in order; must not throw and must not wait. */
export type Listener = (events: readonly MarketEvent[]) => void;

/**
 * Carries the events of one venue from its engine to whoever follows it.
 *
 * An adapter keeps the order of publication for every listener, gives each event to each listener once, and never
 * holds up the publisher for a listener's sake. It does not replay: who comes late fills itself from the store.
 */
export interface Bus {
  publish(events: readonly MarketEvent[]): void;
  /** Follows from now on; the returned function ends it. */
  subscribe(listener: Listener): () => void;
}
