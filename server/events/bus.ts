import type { MarketEvent } from "./event";

/** Receives the events of one publication, in order; must not throw or block. */
export type Listener = (events: readonly MarketEvent[]) => void;

/**
 * Carries the events of a venue from its engine to its subscribers.
 *
 * An adapter keeps the order of publication for every listener, delivers each event to each listener once, and never
 * delays the publisher because of a listener. It does not replay: a late subscriber loads earlier state from the store.
 */
export interface Bus {
  publish(events: readonly MarketEvent[]): void;
  /** Delivers events from now on; returns the function that unsubscribes. */
  subscribe(listener: Listener): () => void;
}
